//! Events of a message as deltas.

use std::collections::BTreeMap;

use outfitter_core::{ModelDelta, ModelError, StopReason, TokenUsage, ToolCallDelta};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::request::CITATIONS;
use crate::decoding::{not_a, size, unreadable, unsaid};
use crate::json::{Raw, arguments, count, index, text};
use crate::reply::{Decoder, Deltas, Flow};
use crate::sse::SseEvent;

/// What is read here.
const WHAT: &str = "a message";

/// An event. Its type is taken from here, because not every server sends `event` lines.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    index: Raw<'a>,
    #[serde(borrow, default)]
    message: Raw<'a>,
    #[serde(borrow, default)]
    content_block: Raw<'a>,
    #[serde(borrow, default)]
    delta: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
    #[serde(borrow, default)]
    error: Raw<'a>,
}

/// A message that is not streamed, and the one inside `message_start`.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<&'a serde_json::value::RawValue>>,
    #[serde(borrow, default)]
    stop_reason: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    input: Raw<'a>,
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    thinking: Raw<'a>,
    #[serde(borrow, default)]
    signature: Raw<'a>,
    #[serde(borrow, default)]
    citations: Raw<'a>,
}

#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    thinking: Raw<'a>,
    #[serde(borrow, default)]
    signature: Raw<'a>,
    #[serde(borrow, default)]
    partial_json: Raw<'a>,
    #[serde(borrow, default)]
    citation: Raw<'a>,
    #[serde(borrow, default)]
    stop_reason: Raw<'a>,
}

/// A block that has begun.
enum Open {
    Text {
        citations: Vec<Value>,
    },
    Thinking {
        signature: String,
    },
    /// `given` is the input that stood in the start; what comes in pieces replaces it.
    Tool {
        given: Option<String>,
    },
    /// A block that only the provider understands, and the text of its input.
    Other {
        block: Map<String, Value>,
        input: String,
    },
}

/// The state between events.
#[derive(Default)]
pub(crate) struct AnthropicDecoder {
    open: BTreeMap<u64, Open>,
    /// The block begun last, for pieces without an index.
    last: u64,
    usage: TokenUsage,
    uncached: u64,
    stop: Option<StopReason>,
    called: bool,
    /// How much came that no reader sees.
    kept: u64,
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Deltas) -> Result<Flow, ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Flow::Ended);
        }
        let frame: Frame<'_> =
            serde_json::from_str(data).map_err(|error| unreadable(WHAT, &error))?;
        let kind = text(frame.kind).unwrap_or_else(|| event.name.clone());
        match kind.as_str() {
            "message_start" => {
                if let Some(message) = frame.message {
                    let message: Message<'_> = serde_json::from_str(message.get())
                        .map_err(|error| unreadable(WHAT, &error))?;
                    self.usage(message.usage, out);
                }
            }
            "content_block_start" => {
                let at = index(frame.index).unwrap_or(self.last + 1);
                self.start(at, frame.content_block, out)?;
            }
            "content_block_delta" => {
                let at = index(frame.index).unwrap_or(self.last);
                self.delta(at, frame.delta, out)?;
            }
            "content_block_stop" => self.close(index(frame.index).unwrap_or(self.last), out),
            "message_delta" => {
                self.usage(frame.usage, out);
                if let Some(delta) = frame.delta {
                    let delta: BlockDelta<'_> = serde_json::from_str(delta.get())
                        .map_err(|error| unreadable(WHAT, &error))?;
                    self.stopped(delta.stop_reason);
                }
            }
            "message_stop" => return Ok(Flow::Ended),
            "error" => return Err(not_a(WHAT, data)),
            _ if frame.error.is_some() => return Err(not_a(WHAT, data)),
            // `ping`, and what may be added: the API says to go on.
            _ => {}
        }
        Ok(self.flow())
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<Flow, ModelError> {
        let message: Message<'_> =
            serde_json::from_str(body).map_err(|error| unreadable(WHAT, &error))?;
        let Some(blocks) = message.content else {
            return Err(not_a(WHAT, body));
        };
        for (at, block) in blocks.into_iter().enumerate() {
            self.start(at as u64, Some(block), out)?;
            self.close(at as u64, out);
        }
        self.usage(message.usage, out);
        self.stopped(message.stop_reason);
        Ok(self.flow())
    }

    fn kept(&self) -> u64 {
        self.kept
    }

    fn finish(&mut self, out: &mut Deltas) {
        for at in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(at, out);
        }
        let stop = self.stop.take().unwrap_or_else(|| unsaid(self.called));
        out.push_back(ModelDelta::Stopped(stop));
    }
}

impl AnthropicDecoder {
    fn flow(&self) -> Flow {
        match self.stop {
            Some(_) => Flow::Settled,
            None => Flow::More,
        }
    }

    fn start(&mut self, at: u64, block: Raw<'_>, out: &mut Deltas) -> Result<(), ModelError> {
        // A block whose end never came ends with the next one in its place.
        self.close(at, out);
        self.last = at;
        let raw = block.map_or("{}", |block| block.get());
        let block: Block<'_> =
            serde_json::from_str(raw).map_err(|error| unreadable(WHAT, &error))?;
        let open = match text(block.kind).as_deref() {
            Some("text") => {
                out.extend(text(block.text).map(ModelDelta::Text));
                let citations = block.citations.map(|raw| serde_json::from_str(raw.get()));
                let citations: Vec<Value> = citations.and_then(Result::ok).unwrap_or_default();
                if !citations.is_empty() {
                    self.kept += block.citations.map_or(0, |raw| size(raw.get()));
                }
                Open::Text { citations }
            }
            Some("thinking") => {
                out.extend(text(block.thinking).map(ModelDelta::Reasoning));
                let signature = text(block.signature).unwrap_or_default();
                self.kept += size(&signature);
                Open::Thinking { signature }
            }
            Some("tool_use") => {
                self.called = true;
                out.push_back(ModelDelta::ToolCall(ToolCallDelta {
                    index: Some(at),
                    id: text(block.id),
                    name: text(block.name),
                    arguments: String::new(),
                }));
                Open::Tool {
                    given: block.input.map(|input| arguments(Some(input))),
                }
            }
            other => {
                if other.is_some() {
                    self.kept += size(raw);
                }
                Open::Other {
                    block: serde_json::from_str(raw).unwrap_or_default(),
                    input: String::new(),
                }
            }
        };
        self.open.insert(at, open);
        Ok(())
    }

    fn delta(&mut self, at: u64, delta: Raw<'_>, out: &mut Deltas) -> Result<(), ModelError> {
        let raw = delta.map_or("{}", |delta| delta.get());
        let delta: BlockDelta<'_> =
            serde_json::from_str(raw).map_err(|error| unreadable(WHAT, &error))?;
        let kind = text(delta.kind).unwrap_or_default();
        match (kind.as_str(), self.open.get_mut(&at)) {
            // Text says what it is by itself; a server may forget to begin its block.
            ("text_delta", _) => out.extend(text(delta.text).map(ModelDelta::Text)),
            ("thinking_delta", _) => out.extend(text(delta.thinking).map(ModelDelta::Reasoning)),
            ("signature_delta", Some(Open::Thinking { signature })) => {
                let piece = text(delta.signature).unwrap_or_default();
                self.kept += size(&piece);
                signature.push_str(&piece);
            }
            ("signature_delta", _) => {
                let signature = text(delta.signature);
                self.kept += signature.as_deref().map_or(0, size);
                out.extend(signature.map(ModelDelta::ReasoningSignature));
            }
            ("input_json_delta", Some(Open::Other { input, .. })) => {
                let piece = text(delta.partial_json).unwrap_or_default();
                self.kept += size(&piece);
                input.push_str(&piece);
            }
            ("input_json_delta", open) => {
                let Some(piece) = text(delta.partial_json) else {
                    return Ok(());
                };
                if let Some(Open::Tool { given }) = open {
                    *given = None;
                }
                self.called = true;
                out.push_back(ModelDelta::ToolCall(ToolCallDelta {
                    index: Some(at),
                    arguments: piece,
                    ..ToolCallDelta::default()
                }));
            }
            ("citations_delta", Some(Open::Text { citations })) => {
                let citation = delta.citation.map(|raw| serde_json::from_str(raw.get()));
                self.kept += delta.citation.map_or(0, |raw| size(raw.get()));
                citations.extend(citation.and_then(Result::ok));
            }
            // Deltas may be added to the API.
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, at: u64, out: &mut Deltas) {
        match self.open.remove(&at) {
            Some(Open::Text { citations }) if !citations.is_empty() => {
                out.push_back(ModelDelta::Provider(json!({CITATIONS: citations})));
            }
            Some(Open::Thinking { signature }) if !signature.is_empty() => {
                out.push_back(ModelDelta::ReasoningSignature(signature));
            }
            Some(Open::Tool { given: Some(given) }) => {
                out.push_back(ModelDelta::ToolCall(ToolCallDelta {
                    index: Some(at),
                    arguments: given,
                    ..ToolCallDelta::default()
                }));
            }
            Some(Open::Other { mut block, input }) => {
                if !input.is_empty() {
                    let value = serde_json::from_str(&input).unwrap_or(Value::String(input));
                    block.insert("input".to_owned(), value);
                }
                if block.contains_key("type") {
                    out.push_back(ModelDelta::Provider(Value::Object(block)));
                }
            }
            Some(Open::Text { .. } | Open::Thinking { .. } | Open::Tool { given: None }) | None => {
            }
        }
    }

    /// Counts come in two events, and later ones repeat or correct earlier ones. The input of the
    /// wire leaves out what the cache had a part in; ours has it all.
    fn usage(&mut self, usage: Raw<'_>, out: &mut Deltas) {
        let Some(usage) = usage.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok())
        else {
            return;
        };
        let update = |slot: &mut u64, key: &str| match count(usage.get(key)) {
            0 => {}
            new => *slot = new,
        };
        update(&mut self.uncached, "input_tokens");
        update(&mut self.usage.cache_read_tokens, "cache_read_input_tokens");
        update(
            &mut self.usage.cache_write_tokens,
            "cache_creation_input_tokens",
        );
        update(&mut self.usage.output_tokens, "output_tokens");
        self.usage.input_tokens =
            self.uncached + self.usage.cache_read_tokens + self.usage.cache_write_tokens;
        if self.usage != TokenUsage::default() {
            out.push_back(ModelDelta::Usage(self.usage));
        }
    }

    fn stopped(&mut self, reason: Raw<'_>) {
        let Some(reason) = text(reason) else {
            return;
        };
        self.stop = Some(match reason.as_str() {
            "end_turn" | "stop_sequence" => StopReason::End,
            "tool_use" => StopReason::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "refusal" => StopReason::Refused,
            _ => StopReason::Other(reason),
        });
    }
}

#[cfg(test)]
mod tests;
