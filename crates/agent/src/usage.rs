//! Counting what a provider does not count, and hashing what is asked.

use outfitter_core::{Hash, ModelRequest, Part, TokenUsage, UsageSource};

/// Bytes of text in a token, roughly, for providers that report no usage.
const BYTES_PER_TOKEN: u64 = 4;

/// The size of a request, for when its provider does not say.
pub(crate) struct Estimate {
    input_bytes: u64,
}

impl Estimate {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let messages: u64 = request
            .messages
            .iter()
            .map(|message| bytes(&message.parts))
            .sum();
        let tools: usize = request
            .tools
            .iter()
            .map(|tool| tool.description.len())
            .sum();
        Self {
            input_bytes: messages + (tools + request.system.len()) as u64,
        }
    }

    pub(crate) fn with_reply(self, parts: &[Part]) -> TokenUsage {
        TokenUsage {
            input_tokens: self.input_bytes.div_ceil(BYTES_PER_TOKEN),
            output_tokens: bytes(parts).div_ceil(BYTES_PER_TOKEN),
            source: UsageSource::Estimated,
            ..TokenUsage::default()
        }
    }
}

fn bytes(parts: &[Part]) -> u64 {
    parts
        .iter()
        .map(|part| match part {
            Part::Text { text } | Part::Reasoning { text, .. } | Part::Refusal { text } => {
                text.len() as u64
            }
            Part::ToolCall(call) => (call.name.len() + call.arguments.len()) as u64,
            Part::Image { .. } | Part::Provider { .. } => 0,
        })
        .sum()
}

/// A request, as it is hashed: equal requests have equal hashes, whoever makes them.
pub(crate) struct Shown<'a> {
    pub(crate) system: &'a str,
    pub(crate) view: Hash,
    pub(crate) reminder: &'a str,
    pub(crate) conversation: Hash,
}

impl Shown<'_> {
    pub(crate) fn hash(&self) -> Hash {
        let (system, reminder) = (Hash::of(self.system), Hash::of(self.reminder));
        Hash::of(format!(
            "{system}\n{}\n{reminder}\n{}",
            self.view, self.conversation
        ))
    }
}
