//! Tools for models that have none: the reply is held to a schema, and read as a call or a text.
//!
//! The tools stand in the system prompt. The provider is asked, by `response_format`, to let the
//! model write nothing but `{"name", "arguments"}` or `{"answer"}`. Calls and results of the
//! conversation are written the same way, so that the model sees its own form.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use outfitter_core::{Message, MessageRole, ModelError, ModelRequest, ModelStream, Part, ToolCall};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::json_reply::Reading;
use crate::conversation::{answered, ordered};
use crate::json::{Sorted, object_arguments};
use crate::shaping::{SchemaDialect, ShapeCache, ShapedTool, ShapedTools};

/// What a model is told of its form. The tools follow.
const HOW: &str = "You reply with one JSON object and nothing else. To call a tool, reply \
    {\"name\": \"the tool\", \"arguments\": {…}}; its result comes in the next message. To answer, \
    reply {\"answer\": \"your text\"}. Call one tool at a time, and answer when you know enough. \
    These are the tools:";

/// The mode of one model.
pub(super) struct JsonMode {
    shapes: ShapeCache,
}

/// A request in the words of this mode.
pub(super) struct Asked {
    pub(super) request: ModelRequest,
    /// What the reply is held to; none where there are no tools.
    pub(super) schema: Option<Box<RawValue>>,
}

impl JsonMode {
    pub(super) fn new() -> Self {
        // What holds the reply is a grammar made of the schema, whoever the provider is.
        Self {
            shapes: ShapeCache::new(SchemaDialect::Compatible, reply_schema),
        }
    }

    pub(super) fn asked(&self, request: &ModelRequest) -> Result<Asked, ModelError> {
        let shaped = self.shapes.tools(&request.tools)?;
        let system = if shaped.tools.is_empty() {
            request.system.clone()
        } else {
            prompt(&request.system, &shaped)
        };
        Ok(Asked {
            request: ModelRequest {
                system,
                messages: conversation(&request.messages),
                tools: Arc::new([]),
            },
            schema: shaped.wire.clone(),
        })
    }
}

/// The schema of a reply. The name stands before the arguments, because a grammar keeps the order
/// and a model has to choose first.
fn reply_schema(tools: &[ShapedTool]) -> serde_json::Result<Box<RawValue>> {
    let mut forms: Vec<Value> = tools
        .iter()
        .map(|tool| {
            let open = || json!({"type": "object", "properties": {}});
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "enum": [tool.name]},
                    "arguments": tool.parameters.clone().unwrap_or_else(open),
                },
                "required": ["name", "arguments"],
                "additionalProperties": false,
            })
        })
        .collect();
    forms.push(json!({
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": false,
    }));
    to_raw_value(&json!({"anyOf": forms}))
}

fn prompt(system: &str, shaped: &ShapedTools) -> Arc<str> {
    let mut text = String::from(system);
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(HOW);
    for tool in &shaped.tools {
        text.push_str(&format!("\n- {}: {}", tool.name, tool.description));
        if let Some(parameters) = &tool.parameters {
            let schema = serde_json::to_string(&Sorted(parameters)).unwrap_or_default();
            text.push_str(&format!("\n  arguments: {schema}"));
        }
    }
    text.into()
}

/// A conversation without calls: each call is what the model would have written, followed by its
/// result as words of the other side.
fn conversation(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let ordered = ordered(messages);
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    let mut rest = ordered.into_iter().peekable();
    while let Some(message) = rest.next() {
        match message.role {
            MessageRole::User | MessageRole::System => out.push(Arc::new(message.clone())),
            MessageRole::Tool => out.push(result(message, None)),
            MessageRole::Assistant => {
                let mut results: Vec<&Message> = Vec::new();
                while let Some(next) = rest.next_if(|next| next.role == MessageRole::Tool) {
                    results.push(next);
                }
                assistant(message, results, &mut out);
            }
        }
    }
    out
}

fn assistant(message: &Message, mut results: Vec<&Message>, out: &mut Vec<Arc<Message>>) {
    let said = message.content();
    if !said.is_empty() || message.tool_calls().next().is_none() {
        out.push(written(message, json!({"answer": said}).to_string()));
    }
    for call in message.tool_calls() {
        out.push(written(message, call_text(call)));
        let at = results
            .iter()
            .position(|result| answered(result) == Some(&call.id));
        if let Some(at) = at {
            out.push(result(results.remove(at), Some(&call.name)));
        }
    }
    out.extend(results.into_iter().map(|left| result(left, None)));
}

fn written(message: &Message, text: String) -> Arc<Message> {
    Arc::new(Message {
        id: message.id.clone(),
        role: MessageRole::Assistant,
        parts: vec![Part::Text { text }],
        output: None,
    })
}

fn call_text(call: &ToolCall) -> String {
    let name = Value::from(call.name.as_str());
    let arguments = object_arguments(&call.arguments);
    format!("{{\"name\":{name},\"arguments\":{}}}", arguments.get())
}

fn result(message: &Message, name: Option<&str>) -> Arc<Message> {
    let head = match name {
        Some(name) => format!("The result of {name}:\n"),
        None => "The result:\n".to_owned(),
    };
    let mut parts = vec![Part::Text { text: head }];
    parts.extend(message.parts.iter().cloned());
    Arc::new(Message {
        id: message.id.clone(),
        role: MessageRole::User,
        parts,
        output: None,
    })
}

/// A reply with its calls as calls.
pub(super) fn reply(inner: ModelStream) -> ModelStream {
    let state = (inner, Reading::default(), Vec::new().into_iter());
    let deltas = stream::unfold(state, |(mut inner, mut reading, mut ready)| async move {
        loop {
            if let Some(delta) = ready.next() {
                return Some((Ok(delta), (inner, reading, ready)));
            }
            match inner.next().await? {
                Ok(delta) => {
                    let mut out = Vec::new();
                    reading.take(delta, &mut out);
                    ready = out.into_iter();
                }
                Err(error) => return Some((Err(error), (inner, reading, ready))),
            }
        }
    });
    Box::pin(deltas.fuse())
}
