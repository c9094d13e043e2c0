//! The conversation as it stands: what a snapshot is made of, and what still waits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use outfitter_core::{CallId, EventBody, Interrupt, Message, MessageRole};
use serde_json::Value;

use super::arguments::shown_text;
use super::message::{AguiCall, AguiFunction, AguiMessage, CALL_TYPE};
use super::result;

/// Messages that are kept for a snapshot, and bytes of their texts.
const MESSAGES: usize = 2_000;
const BYTES: usize = 8 * 1024 * 1024;

/// Bytes of one snapshot; clients refuse an event above 10 MiB.
const SNAPSHOT_BYTES: usize = 4 * 1024 * 1024;

/// The conversation of a session. The messages of the person, the model and the tools are in it;
/// the application's own are for the model only.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    items: VecDeque<Item>,
    bytes: usize,
    dropped: u64,
    /// Arguments as they were told, of the calls of the kept messages.
    shown: HashMap<CallId, Value>,
    /// Calls without a result, with their names.
    open: HashMap<CallId, String>,
    waiting: Vec<Arc<Interrupt>>,
}

#[derive(Debug, Clone)]
enum Item {
    Message(Arc<Message>),
    /// A call that no message asks for.
    Direct(CallId, String),
}

/// A snapshot, and how many messages it does not have.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) messages: Vec<AguiMessage>,
    pub(super) omitted: u64,
}

impl Transcript {
    /// Nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what happened next in the session. Apply the stored events in the order of the log.
    pub fn apply(&mut self, body: &EventBody) {
        match body {
            EventBody::Message(message) => self.message(message),
            EventBody::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
            } => self.call(tool_call_id, tool_name, arguments),
            EventBody::Interrupt(interrupt) => {
                let interrupt: Arc<Interrupt> = Arc::from(interrupt.clone());
                self.waiting.push(interrupt);
            }
            EventBody::Answered { interrupt } => {
                self.waiting.retain(|waiting| waiting.id != *interrupt);
            }
            EventBody::RunStarted(_)
            | EventBody::Delta { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::Warning { .. }
            | EventBody::Usage(_)
            | EventBody::RunFinished { .. } => {}
        }
    }

    /// What waits for an answer, in the order it was asked.
    #[must_use]
    pub fn waiting(&self) -> &[Arc<Interrupt>] {
        &self.waiting
    }

    /// Calls that were told of and have no result, with their names.
    pub(super) fn open_calls(&self) -> &HashMap<CallId, String> {
        &self.open
    }

    /// The message that asks for a call.
    pub(super) fn parent(&self, call: &CallId) -> Option<&Message> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Message(message) => message
                .tool_calls()
                .any(|wanted| wanted.id == *call)
                .then_some(&**message),
            Item::Direct(..) => None,
        })
    }

    fn message(&mut self, message: &Arc<Message>) {
        match message.role {
            MessageRole::System => return,
            MessageRole::Tool => {
                let Some(output) = &message.output else {
                    return;
                };
                self.open.remove(&output.tool_call_id);
                self.waiting
                    .retain(|waiting| waiting.call != output.tool_call_id);
            }
            MessageRole::Assistant | MessageRole::User => {}
        }
        self.keep(Item::Message(message.clone()));
    }

    fn call(&mut self, call: &CallId, name: &str, arguments: &Value) {
        let known = self.open.insert(call.clone(), name.to_owned()).is_some();
        if !known && self.parent(call).is_none() {
            self.keep(Item::Direct(call.clone(), name.to_owned()));
        }
        self.shown.insert(call.clone(), arguments.clone());
    }

    fn keep(&mut self, item: Item) {
        self.bytes += item.bytes();
        self.items.push_back(item);
        while self.items.len() > MESSAGES || self.bytes > BYTES && self.items.len() > 1 {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        self.bytes -= item.bytes();
        self.dropped += 1;
        match item {
            Item::Message(message) => {
                for call in message.tool_calls() {
                    self.shown.remove(&call.id);
                }
            }
            Item::Direct(call, _) => {
                self.shown.remove(&call);
            }
        }
    }

    /// The conversation, or the end of it where all is too much for one event. It never begins with
    /// the result of a call that it does not have.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut messages = VecDeque::new();
        let mut bytes = 0;
        for item in self.items.iter().rev() {
            let message = self.told(item);
            bytes += serde_json::to_vec(&message).map_or(0, |json| json.len());
            if bytes > SNAPSHOT_BYTES && !messages.is_empty() {
                break;
            }
            messages.push_front(message);
        }
        if messages.len() < self.items.len() || self.dropped > 0 {
            while matches!(messages.front(), Some(AguiMessage::Tool { .. })) && messages.len() > 1 {
                messages.pop_front();
            }
        }
        Snapshot {
            omitted: self.dropped + (self.items.len() - messages.len()) as u64,
            messages: messages.into(),
        }
    }

    fn told(&self, item: &Item) -> AguiMessage {
        let message = match item {
            Item::Message(message) => message,
            Item::Direct(call, name) => {
                let arguments = self.shown.get(call).map(shown_text).unwrap_or_default();
                return AguiMessage::Assistant {
                    id: call.to_string(),
                    content: None,
                    tool_calls: vec![called(call, name, arguments)],
                };
            }
        };
        let (id, content) = (message.id.to_string(), message.content());
        match (message.role, &message.output) {
            (MessageRole::Tool, Some(output)) => {
                let (content, metadata) = result::told(output, content);
                AguiMessage::Tool {
                    id,
                    tool_call_id: output.tool_call_id.to_string(),
                    content,
                    metadata,
                }
            }
            (MessageRole::Assistant, _) => AguiMessage::Assistant {
                id,
                content: Some(content),
                tool_calls: message
                    .tool_calls()
                    // One that was not told yet will be.
                    .filter_map(|call| {
                        let arguments = shown_text(self.shown.get(&call.id)?);
                        Some(called(&call.id, &call.name, arguments))
                    })
                    .collect(),
            },
            (MessageRole::User | MessageRole::System | MessageRole::Tool, _) => {
                AguiMessage::User { id, content }
            }
        }
    }
}

fn called(id: &CallId, name: &str, arguments: String) -> AguiCall {
    AguiCall {
        id: id.to_string(),
        r#type: CALL_TYPE,
        function: AguiFunction {
            name: name.to_owned(),
            arguments,
        },
    }
}

impl Item {
    fn bytes(&self) -> usize {
        match self {
            Self::Message(message) => {
                message.content().len()
                    + message
                        .tool_calls()
                        .map(|call| call.arguments.len() + call.name.len())
                        .sum::<usize>()
            }
            Self::Direct(_, name) => name.len(),
        }
    }
}
