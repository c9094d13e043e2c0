//! A tool of a server.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jsonschema::Validator;
use outfitter_core::{
    Code, ErrorInfo, Facts, Outcome, Reply, Tool, ToolContext, ToolError, ToolName, ToolSpec,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::connection::{Connection, Request, Unanswered};
use super::content;
use super::keep;
use super::link::Link;
use super::listing::RemoteTool;
use super::wire::Fault;

/// How often the time without a sign of life may pass altogether.
const CALL_TIMEOUTS_IN_ALL: u32 = 10;

/// JSON-RPC: the parameters are wrong.
const INVALID_PARAMS: i64 = -32602;

/// The longest name a tool has here.
const MAX_NAME_BYTES: usize = 64;

/// A tool of a server.
pub(crate) struct McpTool {
    pub(crate) remote: RemoteTool,
    spec: ToolSpec,
    /// What its results are held to, in so far as it is told when they do not fit.
    output: Option<Validator>,
    /// Whether the server says something else of it now, or nothing.
    superseded: AtomicBool,
    link: Arc<Link>,
}

impl McpTool {
    /// The tool, and what is wrong with it although it can be used.
    pub(crate) fn new(remote: RemoteTool, link: Arc<Link>) -> (Self, Option<String>) {
        let server = &link.server;
        let mut spec = ToolSpec::new(
            plain_name(&remote.name),
            remote.description.as_str(),
            remote.input_schema.clone(),
        );
        spec.min_role = server.min_role;
        spec.effects = server.effects;
        spec.timeout = Some(server.call_timeout.saturating_mul(CALL_TIMEOUTS_IN_ALL));
        let (output, fault) = match &remote.output_schema {
            None => (None, None),
            Some(schema) => match jsonschema::options().offline().build(schema) {
                Ok(validator) => (Some(validator), None),
                Err(error) => (
                    None,
                    Some(format!("its output schema cannot be used: {error}")),
                ),
            },
        };
        spec.output_schema = output
            .is_some()
            .then(|| remote.output_schema.clone().map(Arc::new))
            .flatten();
        (
            Self {
                remote,
                spec,
                output,
                superseded: AtomicBool::new(false),
                link,
            },
            fault,
        )
    }

    /// The server says something else of it now, or nothing.
    pub(crate) fn supersede(&self) {
        self.superseded.store(true, Ordering::Relaxed);
    }

    fn is_superseded(&self) -> bool {
        self.superseded.load(Ordering::Relaxed)
    }

    /// The call was judged as one of a tool that is not there any more: its server offers another
    /// of that name, or none.
    fn is_another(&self) -> ToolError {
        let (server, tool) = (&self.link.server.name, &self.remote.name);
        ToolError::new(
            Code::Conflict,
            format!(
                "the MCP server {server} does not offer {tool} as it was known; nothing was called"
            ),
        )
        .with_hint("what it offers now is in the next request")
    }

    async fn wait(
        &self,
        cx: &ToolContext,
        mut request: Request,
        connection: &Connection,
    ) -> Result<Value, ToolError> {
        let patience = self.link.server.call_timeout;
        let mut progress = request.progress.take();
        let idle = tokio::time::sleep(patience);
        tokio::pin!(idle);
        loop {
            tokio::select! {
                biased;
                reply = request.reply() => {
                    // Progress that came with it was said before it.
                    while let Some(Ok(line)) = progress.as_mut().map(mpsc::Receiver::try_recv) {
                        cx.progress.info(&line);
                    }
                    return reply.map_err(|why| self.unanswered(why));
                }
                Some(line) = next(&mut progress) => {
                    cx.progress.info(&line);
                    idle.as_mut().reset(tokio::time::Instant::now() + patience);
                }
                // The server is told when the request is dropped.
                () = cx.cancel.cancelled() => {
                    return Err(ToolError::new(Code::Cancelled, "the call was stopped"));
                }
                () = &mut idle => {
                    drop(request);
                    connection.doubted.notify_one();
                    return Err(self.silent(patience));
                }
            }
        }
    }

    fn silent(&self, patience: Duration) -> ToolError {
        let server = &self.link.server.name;
        ToolError::new(
            Code::Timeout,
            format!(
                "the MCP server {server} gave no sign of life for {} s",
                patience.as_secs_f64()
            ),
        )
        .with_hint("it was told to stop; what it did until then stays done")
    }

    fn unanswered(&self, why: Unanswered) -> ToolError {
        let server = &self.link.server.name;
        match why {
            Unanswered::Fault(Fault::Rpc {
                code: INVALID_PARAMS,
                message,
            }) => ToolError::new(Code::InvalidArguments, message),
            Unanswered::Fault(Fault::Rpc { message, .. }) => ToolError::failed(message),
            Unanswered::Fault(Fault::TooLong { bytes }) => ToolError::new(
                Code::TooLarge,
                format!("the reply of the MCP server {server} is {bytes} bytes long"),
            )
            .with_hint("ask for less of it"),
            Unanswered::Fault(Fault::Garbled(why)) => self.unreadable("reply", &why),
            Unanswered::Ended(why) => {
                let mut info = ErrorInfo::new(
                    Code::Unavailable,
                    format!("the MCP server {server} ended before it answered: {why}"),
                );
                // It may have been done: whoever makes the call again has to look first.
                info.retryable = false;
                info.with_hint(
                    "it is started again; look whether the call was done before you repeat it",
                )
                .into()
            }
            Unanswered::Nonsense(why) => self.link.nonsense(&why),
            Unanswered::NotSent(why) => {
                ToolError::unavailable(format!("the MCP server {server} was not asked: {why}"))
            }
        }
    }

    fn unreadable(&self, what: &str, why: &dyn Display) -> ToolError {
        let server = &self.link.server.name;
        ToolError::new(
            Code::ProtocolError,
            format!("the {what} of the MCP server {server} cannot be read: {why}"),
        )
    }

    fn hold_to_schema(&self, outcome: &Outcome) {
        if let Some(validator) = &self.output
            && outcome.failed.is_none()
            && let Err(error) = validator.validate(&outcome.result)
        {
            let server = &self.link.server;
            tracing::warn!(
                server = %server.name,
                tool = server.without_secrets(&self.remote.name),
                "a result does not fit the tool's own output schema: {}",
                server.without_secrets(&error.to_string())
            );
        }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn home_name(&self) -> &str {
        &self.remote.name
    }

    fn facts(&self, _: &Value) -> Result<Facts, ToolError> {
        Ok(Facts::of(&self.spec).about(self.link.server.name.as_str()))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let _place = self.link.enter(&cx.cancel).await?;
        let connection = self.link.connection(&cx.cancel).await?;
        // Also where that was found by a call that this one waited for.
        if self.is_superseded() {
            return Err(self.is_another());
        }
        let params = Map::from_iter([
            ("name".to_owned(), Value::from(self.remote.name.as_str())),
            ("arguments".to_owned(), args),
        ]);
        let request = connection
            .call(params)
            .map_err(|why| self.unanswered(why))?;
        let result = self.wait(cx, request, &connection).await?;
        if result["resultType"] == "input_required" {
            return Err(ToolError::unavailable(
                "the tool wants to ask something, and there is no way to be asked here",
            ));
        }
        let kept = keep::keep(cx, &result).await;
        let outcome = content::outcome(result, &kept);
        let mut outcome = outcome.map_err(|why| self.unreadable("result", &why))?;
        if let Some(error) = &mut outcome.failed {
            error.message = self.link.server.without_secrets(&error.message);
        }
        self.hold_to_schema(&outcome);
        Ok(outcome.into())
    }
}

async fn next(progress: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    match progress {
        Some(progress) => progress.recv().await,
        None => None,
    }
}

/// A name for where only a plain one will do; what counts is the name at home.
fn plain_name(home: &str) -> ToolName {
    ToolName::new(home).unwrap_or_else(|_| {
        let plain: String = home
            .chars()
            .map(|character| {
                if character.is_ascii_alphanumeric() || character == '-' {
                    character
                } else {
                    '_'
                }
            })
            .take(MAX_NAME_BYTES)
            .collect();
        #[expect(
            clippy::expect_used,
            reason = "a name is not empty, and no other character is left"
        )]
        ToolName::new(plain).expect("only characters of a tool name, and not none")
    })
}
