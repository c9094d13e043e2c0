//! A model that is a function of the request, and tools of every kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use outfitter_agent::{Workflow, WorkflowChoice, Workflows};
use outfitter_core::*;
use serde_json::{Value, json};

/// The workflows of the served agent. None is chosen by itself.
pub(crate) fn workflows() -> Workflows {
    let release = Workflow {
        name: "release".to_owned(),
        description: "Publishes a new version.".to_owned(),
        steps: vec!["Write the changelog.".to_owned()],
    };
    Workflows::new(WorkflowChoice::Off, vec![release])
}

type Deltas = Vec<Result<ModelDelta, ModelError>>;

/// Whether the parrot was asked to choose something.
pub(crate) static CHOOSING: AtomicBool = AtomicBool::new(false);

/// Answers by what the last message says: `call NAME JSON` (one a line) makes calls, anything else
/// is answered with `you said: …` in two pieces. After results it says `done`.
pub(crate) struct Parrot(pub(crate) ModelInfo);

#[async_trait]
impl ModelProvider for Parrot {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        if request.system.starts_with("You choose") {
            // It never makes up its mind.
            CHOOSING.store(true, Ordering::SeqCst);
            return Ok(futures_util::stream::pending().boxed());
        }
        let last = request.messages.last();
        let said = last.map(|last| last.content()).unwrap_or_default();
        let deltas = match last.map(|last| last.role) {
            Some(MessageRole::User) if said == "break" => {
                vec![Ok(ModelDelta::Text("half of".to_owned()))]
            }
            Some(MessageRole::User) if said.starts_with("call ") => calls(&said),
            Some(MessageRole::User) => say(&["you said: ", &said]),
            _ => say(&["done"]),
        };
        if said == "break" {
            let pending = futures_util::stream::iter(deltas).chain(futures_util::stream::pending());
            return Ok(pending.boxed());
        }
        Ok(futures_util::stream::iter(deltas).boxed())
    }
}

fn say(pieces: &[&str]) -> Deltas {
    let mut deltas: Deltas = pieces
        .iter()
        .map(|piece| Ok(ModelDelta::Text((*piece).to_owned())))
        .collect();
    deltas.push(Ok(ModelDelta::Stopped(StopReason::End)));
    deltas
}

fn calls(said: &str) -> Deltas {
    let mut deltas: Deltas = said
        .lines()
        .filter_map(|line| line.strip_prefix("call "))
        .enumerate()
        .map(|(index, line)| {
            let (name, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
            Ok(ModelDelta::ToolCall(ToolCallDelta {
                index: Some(index as u64),
                id: None,
                name: Some(name.to_owned()),
                arguments: arguments.to_owned(),
            }))
        })
        .collect();
    deltas.push(Ok(ModelDelta::Stopped(StopReason::ToolCalls)));
    deltas
}

type Act =
    fn(ToolContext, Value) -> futures_util::future::BoxFuture<'static, Result<Reply, ToolError>>;

struct Does {
    spec: ToolSpec,
    act: Act,
}

#[async_trait]
impl Tool for Does {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        (self.act)(cx.clone(), args).await
    }

    async fn resume(
        &self,
        _: &ToolContext,
        _: Value,
        _: Value,
        answer: Answer,
    ) -> Result<Reply, ToolError> {
        Ok(Outcome::json(json!({ "answer": answer.value })).into())
    }
}

fn tool(name: &str, effects: Effects, min_role: Role, act: Act) -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let mut spec = ToolSpec::new(ToolName::new(name).unwrap(), "a tool of the tests", schema);
    spec.effects = effects;
    spec.min_role = min_role;
    Arc::new(Does { spec, act })
}

pub(crate) fn tools() -> Vec<Arc<dyn Tool>> {
    let (read, message) = (Effects::READ, Effects::of(&[Effect::Message]));
    vec![
        tool("echo", read, Role::Guest, |_, args| {
            Box::pin(async { Ok(Outcome::json(args).into()) })
        }),
        tool("fails", read, Role::Guest, |_, _| {
            Box::pin(async { Err(ToolError::failed("the work says no")) })
        }),
        tool("panics", read, Role::Guest, |_, _| {
            Box::pin(async { panic!("oh") })
        }),
        tool("prints", read, Role::Guest, |cx, _| {
            Box::pin(async move {
                cx.progress.emit(Stream::Stdout, b"one\n");
                cx.progress.emit(Stream::Stderr, b"two\n");
                Ok(Outcome::json(json!("printed")).into())
            })
        }),
        tool("floods", read, Role::Guest, |cx, _| {
            Box::pin(async move {
                for _ in 0..400 {
                    cx.progress.emit(Stream::Stdout, &[b'x'; 64 * 1024]);
                    tokio::task::yield_now().await;
                }
                Ok(Outcome::json(json!("flooded")).into())
            })
        }),
        tool("hangs", read, Role::Guest, |cx, _| {
            Box::pin(async move {
                cx.cancel.cancelled().await;
                Err(ToolError::new(Code::Cancelled, "the call was cancelled"))
            })
        }),
        tool("large", read, Role::Guest, |_, _| {
            Box::pin(async { Ok(Outcome::json(json!("word ".repeat(20_000))).into()) })
        }),
        tool("admins_only", read, Role::Admin, |_, args| {
            Box::pin(async { Ok(Outcome::json(args).into()) })
        }),
        tool("ask", message, Role::Guest, |_, args| {
            Box::pin(async move {
                let minutes = if args["n"] == 0 { 0 } else { 60 };
                Ok(Reply::Wait(Box::new(Ask {
                    kind: InterruptKind::Question {
                        question: "really?".to_owned(),
                        choices: Vec::new(),
                        sensitive: false,
                        questionnaire: None,
                    },
                    schema: Some(json!({ "enum": ["yes", "no"] })),
                    expires_in: Duration::from_secs(60 * minutes) + Duration::from_millis(200),
                    on_expiry: OnExpiry::Default {
                        answer: json!("no"),
                    },
                    state: args,
                })))
            })
        }),
        tool(
            "risky",
            Effects::of(&[Effect::Network]),
            Role::Guest,
            |_, args| Box::pin(async { Ok(Outcome::json(args).into()) }),
        ),
    ]
}
