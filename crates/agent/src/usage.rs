//! Counting what a provider does not count, and hashing what is asked.

use std::sync::Arc;

use outfitter_core::{Hash, Message, ModelRequest, Part, TokenUsage, UsageSource};

/// Bytes of text in a token, roughly, for providers that report no usage.
const BYTES_PER_TOKEN: u64 = 4;

/// The size of a request, for when its provider does not say.
pub(crate) struct Estimate {
    input_bytes: u64,
}

impl Estimate {
    /// `conversation` is the size of what the fold says of it, so that this costs the same however
    /// long it is; `more` are the messages that the request adds at its tail.
    pub(crate) fn of(request: &ModelRequest, conversation: u64, more: &[Arc<Message>]) -> Self {
        let more: u64 = more.iter().map(|message| bytes(&message.parts)).sum();
        let tools: usize = request
            .tools
            .iter()
            .map(|tool| tool.description.len())
            .sum();
        Self {
            input_bytes: conversation + more + (tools + request.system.len()) as u64,
        }
    }

    /// Of a request that is looked at whole.
    pub(crate) fn of_whole(request: &ModelRequest) -> Self {
        Self::of(request, 0, &request.messages)
    }

    pub(crate) fn with_reply(&self, parts: &[Part]) -> TokenUsage {
        self.with_said(bytes(parts))
    }

    /// With a reply of so many bytes.
    pub(crate) fn with_said(&self, said: u64) -> TokenUsage {
        TokenUsage {
            input_tokens: self.input_bytes.div_ceil(BYTES_PER_TOKEN),
            output_tokens: said.div_ceil(BYTES_PER_TOKEN),
            source: UsageSource::Estimated,
            ..TokenUsage::default()
        }
    }
}

/// The text of a message in bytes.
pub(crate) fn bytes(parts: &[Part]) -> u64 {
    parts
        .iter()
        .map(|part| match part {
            Part::Text { text } | Part::Reasoning { text, .. } | Part::Refusal { text } => {
                text.len() as u64
            }
            Part::ToolCall(call) => (call.name.len() + call.arguments.len()) as u64,
            Part::Image { .. } | Part::File { .. } | Part::Provider { .. } => 0,
        })
        .sum()
}

/// A request, as it is hashed: equal requests have equal hashes, whoever makes them.
pub(crate) struct Shown<'a> {
    pub(crate) system: &'a str,
    pub(crate) view: Hash,
    /// What stands behind the conversation.
    pub(crate) tail: &'a str,
    pub(crate) conversation: Hash,
}

impl Shown<'_> {
    pub(crate) fn hash(&self) -> Hash {
        let (system, tail) = (Hash::of(self.system), Hash::of(self.tail));
        Hash::of(format!(
            "{system}\n{}\n{tail}\n{}",
            self.view, self.conversation
        ))
    }
}
