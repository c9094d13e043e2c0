//! Messages and thoughts that are being written.

use std::collections::BTreeMap;

use outfitter_core::{DeltaKind, MessageId};

use super::arguments::pieces;
use super::event::AguiBody;

/// What is open, and what was sent of it.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: BTreeMap<MessageId, String>,
    thought: Option<String>,
    thoughts: u64,
}

/// How the end of a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The client has all of it.
    Whole,
    /// The client has something else: pieces in between were lost.
    Differs,
}

impl Texts {
    /// A piece that was written. Arguments are told with their call: only then is their name known.
    pub(super) fn delta(
        &mut self,
        message: &MessageId,
        kind: DeltaKind,
        text: &str,
        out: &mut Vec<AguiBody>,
    ) {
        match kind {
            DeltaKind::Text => {
                self.end_thought(out);
                if !self.texts.contains_key(message) {
                    out.push(start(message));
                }
                let sent = self.texts.entry(message.clone()).or_default();
                sent.push_str(text);
                contents(message, text, out);
            }
            DeltaKind::Reasoning => {
                let thought = self.thought.get_or_insert_with(|| {
                    self.thoughts += 1;
                    let id = format!("{message}:reasoning:{}", self.thoughts);
                    out.push(AguiBody::ReasoningStart {
                        message_id: id.clone(),
                    });
                    out.push(AguiBody::ReasoningMessageStart {
                        message_id: id.clone(),
                        role: "reasoning",
                    });
                    id
                });
                out.extend(pieces(text).map(|piece| AguiBody::ReasoningMessageContent {
                    message_id: thought.clone(),
                    delta: piece.to_owned(),
                }));
            }
            DeltaKind::ToolArguments => self.end_thought(out),
        }
    }

    /// A message is whole.
    pub(super) fn whole(
        &mut self,
        message: &MessageId,
        content: &str,
        out: &mut Vec<AguiBody>,
    ) -> Ended {
        self.end_thought(out);
        let sent = self.texts.remove(message);
        if sent.is_none() {
            out.push(start(message));
        }
        let rest = content.strip_prefix(sent.as_deref().unwrap_or_default());
        contents(message, rest.unwrap_or_default(), out);
        out.push(end(message));
        match rest {
            Some(_) => Ended::Whole,
            None => Ended::Differs,
        }
    }

    /// Ends whatever is open.
    pub(super) fn end_all(&mut self, out: &mut Vec<AguiBody>) {
        self.end_thought(out);
        let open = std::mem::take(&mut self.texts);
        out.extend(open.keys().map(end));
    }

    fn end_thought(&mut self, out: &mut Vec<AguiBody>) {
        if let Some(message_id) = self.thought.take() {
            out.push(AguiBody::ReasoningMessageEnd {
                message_id: message_id.clone(),
            });
            out.push(AguiBody::ReasoningEnd { message_id });
        }
    }
}

fn start(message: &MessageId) -> AguiBody {
    AguiBody::TextMessageStart {
        message_id: message.to_string(),
        role: "assistant",
    }
}

fn end(message: &MessageId) -> AguiBody {
    AguiBody::TextMessageEnd {
        message_id: message.to_string(),
    }
}

fn contents(message: &MessageId, text: &str, out: &mut Vec<AguiBody>) {
    out.extend(pieces(text).map(|piece| AguiBody::TextMessageContent {
        message_id: message.to_string(),
        delta: piece.to_owned(),
    }));
}
