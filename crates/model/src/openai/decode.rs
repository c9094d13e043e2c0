//! Chunks of a chat completion as deltas.

use outfitter_core::{ModelDelta, ModelError, StopReason, TokenUsage, ToolCallDelta};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::details::ReasoningDetails;
use super::request::{CALL_EXTRA, EXTRA, REASONING_DETAILS};
use crate::decoding::{not_a, reported, unreadable, unsaid, words_in};
use crate::http::{error_words, is_error};
use crate::json::{Raw, arguments, count, id, index, text};
use crate::reply::{Decoder, Deltas, Flow};
use crate::sse::SseEvent;

/// What is read here.
const WHAT: &str = "a chat completion";

/// Every field is taken as it was written, because no two servers agree on all of the types.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    error: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
    #[serde(borrow, default)]
    x_groq: Raw<'a>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    index: Raw<'a>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    /// In a reply that is not streamed.
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
    #[serde(borrow, default)]
    error: Raw<'a>,
}

#[derive(Deserialize, Default)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Raw<'a>,
    #[serde(borrow, default)]
    reasoning_content: Raw<'a>,
    #[serde(borrow, default)]
    reasoning: Raw<'a>,
    #[serde(borrow, default)]
    reasoning_details: Raw<'a>,
    #[serde(borrow, default)]
    refusal: Raw<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
    /// What there was before `tool_calls`.
    #[serde(borrow, default)]
    function_call: Option<Function<'a>>,
    #[serde(borrow, default)]
    extra_content: Raw<'a>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    index: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
    #[serde(borrow, default)]
    extra_content: Raw<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
}

/// The state between chunks.
#[derive(Default)]
pub(crate) struct OpenAiDecoder {
    stop: Option<StopReason>,
    settled: bool,
    called: bool,
    details: ReasoningDetails,
    kept: u64,
}

/// How the calls of a message are numbered.
#[derive(Clone, Copy)]
enum Numbering {
    /// As the wire says.
    Wire,
    /// By their place, where the whole list is there.
    Place,
}

impl Decoder for OpenAiDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Deltas) -> Result<Flow, ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Flow::Ended);
        }
        if event.name == "error" {
            return Err(reported(words_in(data).unwrap_or_else(|| data.to_owned())));
        }
        self.chunk(data, Numbering::Wire, out)?;
        Ok(self.flow())
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<Flow, ModelError> {
        self.chunk(body, Numbering::Place, out)?;
        Ok(self.flow())
    }

    fn kept(&self) -> u64 {
        self.kept
    }

    fn finish(&mut self, out: &mut Deltas) {
        if let Some(details) = self.details.take() {
            out.push_back(ModelDelta::Provider(json!({REASONING_DETAILS: details})));
        }
        let stop = self.stop.take().unwrap_or_else(|| unsaid(self.called));
        out.push_back(ModelDelta::Stopped(stop));
    }
}

impl OpenAiDecoder {
    fn flow(&self) -> Flow {
        if self.settled {
            Flow::Settled
        } else {
            Flow::More
        }
    }

    /// A value for the provider, whose size is counted.
    fn keep(&mut self, raw: Raw<'_>) -> Option<Value> {
        let value = value(raw)?;
        // Some servers send an empty list or object with every piece.
        let empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        if !empty {
            self.kept += raw.map_or(0, |raw| raw.get().len() as u64);
        }
        Some(value)
    }

    fn chunk(
        &mut self,
        data: &str,
        numbering: Numbering,
        out: &mut Deltas,
    ) -> Result<(), ModelError> {
        let chunk: Chunk<'_> = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            // A list is how one wire sends an error.
            Err(error) => {
                return Err(words_in(data).map_or_else(|| unreadable(WHAT, &error), reported));
            }
        };
        failure(chunk.error)?;
        for usage in [chunk.usage, chunk.x_groq].into_iter().flatten() {
            push_usage(usage.get(), out);
        }
        let Some(choices) = chunk.choices else {
            // A chunk of usage alone may have none; anything else without choices is no reply.
            return match chunk.usage {
                Some(_) => Ok(()),
                None => Err(not_a(WHAT, data)),
            };
        };
        for choice in choices {
            // We ask for one choice; another one would be mixed into it.
            if index(choice.index).unwrap_or(0) == 0 {
                self.choice(choice, numbering, out)?;
            }
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        numbering: Numbering,
        out: &mut Deltas,
    ) -> Result<(), ModelError> {
        failure(choice.error)?;
        if let Some(usage) = choice.usage {
            push_usage(usage.get(), out);
        }
        let before = out.len();
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(&delta, numbering, out);
        }
        match text(choice.finish_reason) {
            Some(reason) => {
                self.stop = Some(stop(reason)?);
                self.settled = true;
            }
            // Some servers repeat a reason in every chunk and go on.
            None if out.len() > before => self.settled = false,
            None => {}
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, numbering: Numbering, out: &mut Deltas) {
        // Gateways send the same reasoning under both names.
        if let Some(reasoning) = text(delta.reasoning_content).or_else(|| text(delta.reasoning)) {
            out.push_back(ModelDelta::Reasoning(reasoning));
        }
        if let Some(details) = self.keep(delta.reasoning_details) {
            self.details.push(details);
        }
        if let Some(words) = text(delta.content) {
            out.push_back(ModelDelta::Text(words));
        } else if let Some(Value::Array(parts)) = value(delta.content) {
            parts.iter().for_each(|part| push_part(part, out));
        }
        if let Some(refusal) = text(delta.refusal) {
            out.push_back(ModelDelta::Refusal(refusal));
        }
        if let Some(extra) = self.keep(delta.extra_content) {
            out.push_back(ModelDelta::Provider(json!({EXTRA: extra})));
        }
        for (place, call) in delta.tool_calls.iter().flatten().enumerate() {
            let index = match numbering {
                Numbering::Wire => index(call.index),
                Numbering::Place => Some(place as u64),
            };
            self.call(index, id(call.id), call.function.as_ref(), out);
            if let Some(extra) = self.keep(call.extra_content) {
                out.push_back(ModelDelta::Provider(json!({CALL_EXTRA: extra})));
            }
        }
        if let Some(function) = &delta.function_call {
            self.call(Some(0), None, Some(function), out);
        }
    }

    fn call(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
        function: Option<&Function<'_>>,
        out: &mut Deltas,
    ) {
        self.called = true;
        out.push_back(ModelDelta::ToolCall(ToolCallDelta {
            index,
            id,
            name: function.and_then(|function| text(function.name)),
            arguments: arguments(function.and_then(|function| function.arguments)),
        }));
    }
}

/// Content as a list of parts, where one wire puts what the model thinks.
fn push_part(part: &Value, out: &mut Deltas) {
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    };
    if let Some(thought) = part.get("thinking").map(words).filter(|t| !t.is_empty()) {
        out.push_back(ModelDelta::Reasoning(thought));
    }
    if let Some(text) = part.get("text").map(words).filter(|t| !t.is_empty()) {
        out.push_back(ModelDelta::Text(text));
    }
}

fn value(raw: Raw<'_>) -> Option<Value> {
    serde_json::from_str(raw?.get()).ok()
}

/// Counts, from where servers put them. Zeros say nothing: some send them before the real ones.
fn push_usage(raw: &str, out: &mut Deltas) {
    let Ok(value) = serde_json::from_str::<Value>(raw) else {
        return;
    };
    let usage = match value.get("usage") {
        Some(nested) => nested,
        None => &value,
    };
    let at = |pointer: &str| count(usage.pointer(pointer));
    let tokens = TokenUsage {
        input_tokens: at("/prompt_tokens"),
        output_tokens: at("/completion_tokens"),
        cache_read_tokens: at("/prompt_tokens_details/cached_tokens")
            .max(at("/prompt_cache_hit_tokens")),
        cache_write_tokens: at("/prompt_tokens_details/cache_write_tokens"),
        reasoning_tokens: at("/completion_tokens_details/reasoning_tokens"),
        ..TokenUsage::default()
    };
    if tokens.input_tokens > 0 || tokens.output_tokens > 0 {
        out.push_back(ModelDelta::Usage(tokens));
    }
}

fn stop(reason: String) -> Result<StopReason, ModelError> {
    Ok(match reason.as_str() {
        "stop" | "end_turn" | "eos" | "stop_sequence" => StopReason::End,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "content_filter" | "refusal" | "safety" => StopReason::Refused,
        "error" | "network_error" | "insufficient_system_resource" => {
            return Err(reported(format!("it stopped with {reason:?}")));
        }
        _ => StopReason::Other(reason),
    })
}

fn failure(error: Raw<'_>) -> Result<(), ModelError> {
    let Some(error) = value(error).filter(is_error) else {
        return Ok(());
    };
    let said = error_words(&json!({"error": error}));
    Err(reported(
        said.unwrap_or_else(|| "no reason given".to_owned()),
    ))
}

#[cfg(test)]
mod tests;
