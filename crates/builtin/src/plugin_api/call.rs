//! The tool of an operation.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Code, Effect, Effects, Facts, Outcome, Reply, Role, Targets, Tool, ToolContext, ToolError,
    ToolSpec,
};
use outfitter_net::reqwest::{Method, Url};
use outfitter_net::{Client, NetError, Origin};
use serde_json::{Map, Value};

use super::hops::{Sent, send};
use super::known::KnownOperations;
use super::operation::Operation;
use super::settings::{ApiSettings, Given};
use super::{arguments, reply, request};
use crate::web::told;

/// What a call needs beside waiting for an answer.
const SLACK: Duration = Duration::from_secs(5);

/// Words that every operation is found by.
const KEYWORDS: [&str; 6] = ["api", "http", "rest", "接口", "调用", "请求"];

/// Calls one operation of an API.
pub(super) struct CallApi {
    spec: ToolSpec,
    operation: Operation,
    given: Arc<Given>,
    /// All operations of the same document.
    known: Arc<KnownOperations>,
    client: Client,
    timeout: Duration,
    /// Where the API is, as it may be shown.
    origin: Origin,
    /// What the path of every call begins with, as it may be shown: that of a document. In the
    /// operator's own URL there may be a secret.
    base_path: String,
}

impl CallApi {
    /// The tool of this operation.
    pub(super) fn new(
        operation: Operation,
        settings: &ApiSettings,
        given: Arc<Given>,
        known: Arc<KnownOperations>,
        client: Client,
    ) -> Self {
        let safe = reply::is_safe(&operation.method);
        let api = &settings.name;
        let description = format!(
            "{}\n(An operation of the API {api}.)",
            operation.description
        );
        let mut spec = ToolSpec::new(
            operation.tool.clone(),
            description.trim(),
            operation.schema.clone(),
        );
        spec.output_schema = Some(Arc::new(reply::schema()));
        spec.min_role = Role::Admin;
        spec.effects = match safe {
            true => Effects::of(&[Effect::Read, Effect::Network]),
            false => Effects::of(&[Effect::Read, Effect::WriteOutside, Effect::Network]),
        };
        spec.idempotent = safe;
        spec.timeout = Some(settings.timeout + SLACK);
        spec.keywords = KEYWORDS
            .into_iter()
            .chain([api.as_str()])
            .chain(operation.keywords.iter().map(String::as_str))
            .map(Into::into)
            .collect();
        Self {
            spec,
            timeout: settings.timeout,
            origin: Origin::of(&operation.base),
            base_path: match settings.url {
                Some(_) => String::new(),
                None => operation.base.path().trim_end_matches('/').to_owned(),
            },
            operation,
            given,
            known,
            client,
        }
    }

    async fn answered(
        &self,
        cx: &ToolContext,
        request: outfitter_net::reqwest::Request,
    ) -> Result<Outcome, ToolError> {
        let url = request.url().clone();
        let base = &self.operation.base;
        let other =
            |method: &Method, from: &Url, to: &Url| self.known.another(base, method, from, to);
        let sent = send(&self.client, request, &other).await;
        match sent.map_err(|error| self.unanswered(&error))? {
            Sent::Elsewhere(to) => Err(reply::elsewhere(&to).into()),
            // It was done, and where to look for what came of it is a call of its own.
            Sent::Another(another) if another.response.status().as_u16() == 303 => {
                let read = reply::read(cx, &self.operation.method, url, another.response).await;
                let outcome = read.map_err(|error| self.unanswered(&error))?;
                Ok(Outcome {
                    failed: None,
                    ..outcome
                })
            }
            Sent::Another(another) => Err(reply::another(&another.to, &another.tool).into()),
            Sent::Answered(response) => reply::read(cx, &self.operation.method, url, response)
                .await
                .map_err(|error| self.unanswered(&error)),
        }
    }

    fn unanswered(&self, error: &NetError) -> ToolError {
        let before = matches!(
            error,
            NetError::Lookup { .. } | NetError::Connect { .. } | NetError::Tls { .. }
        );
        let mut info = told(error).into_info();
        if !before && !self.spec.idempotent {
            info.retryable = false;
        }
        info.into()
    }

    fn late(&self) -> ToolError {
        let message = format!(
            "the API at {} took more than {} s",
            self.origin,
            self.timeout.as_secs()
        );
        let mut info = ToolError::new(Code::Timeout, message).into_info();
        info.retryable = self.spec.idempotent;
        if self.spec.idempotent {
            return info.into();
        }
        info.with_hint("it may have been done all the same; look before you repeat it")
            .into()
    }
}

fn object(args: &Value) -> Result<&Map<String, Value>, ToolError> {
    let object = args.as_object();
    object.ok_or_else(|| ToolError::invalid("", "arguments are an object"))
}

#[async_trait]
impl Tool for CallApi {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        // A yes to one resource is none to another, so the path is filled.
        let path = request::filled(&self.operation, object(args)?)?.unwrap_or_default();
        let (method, origin, base) = (&self.operation.method, &self.origin, &self.base_path);
        let facts = Facts::of(&self.spec).about(format!("{method} {origin}{base}{path}"));
        // A file that is sent is read first: rules on the argument mean the file that it names.
        match arguments::files(&self.operation, object(args)?) {
            files if files.is_empty() => Ok(facts),
            files => Ok(facts.on(Targets::Reads(files))),
        }
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args = object(&args)?;
        let answered = async {
            let request = request::make(cx, &self.operation, &self.given, args).await?;
            match tokio::time::timeout(self.timeout, self.answered(cx, request)).await {
                Ok(outcome) => outcome.map(Reply::from),
                Err(_) => Err(self.late()),
            }
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(ToolError::new(Code::Cancelled, "the call was stopped"))
            }
            answered = answered => answered,
        }
    }
}
