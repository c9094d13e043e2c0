//! Events of a response as deltas.

use std::collections::HashMap;

use outfitter_core::{ModelDelta, ModelError, StopReason, TokenUsage, ToolCallDelta};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::request::comes_back;
use crate::decoding::{not_a, reported, size, unreadable, unsaid, words_in};
use crate::json::{Raw, arguments, count, id, index, text};
use crate::reply::{Decoder, Deltas, Flow};
use crate::sse::SseEvent;

/// What is read here.
const WHAT: &str = "a response";

/// An event. Its type is taken from here, because not every server sends `event` lines.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    output_index: Raw<'a>,
    #[serde(borrow, default)]
    summary_index: Raw<'a>,
    #[serde(borrow, default)]
    item: Raw<'a>,
    #[serde(borrow, default)]
    delta: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    refusal: Raw<'a>,
    #[serde(borrow, default)]
    response: Raw<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    status: Raw<'a>,
    #[serde(default)]
    incomplete_details: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(borrow, default)]
    error: Raw<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    call_id: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    summary: Option<Value>,
}

/// What was seen of one item, so that nothing is said twice.
#[derive(Default)]
struct Seen {
    begun: bool,
    arguments: bool,
    text: bool,
    refusal: bool,
    reasoning: bool,
    done: bool,
}

/// The state between events.
#[derive(Default)]
pub(crate) struct ResponsesDecoder {
    items: HashMap<u64, Seen>,
    /// The item begun last, for events without an index.
    last: u64,
    stop: Option<StopReason>,
    called: bool,
    kept: u64,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Deltas) -> Result<Flow, ModelError> {
        let data = event.data.trim();
        // Some gateways add the end mark of the other wire. It says nothing about this one.
        if data == "[DONE]" {
            return Ok(self.flow());
        }
        let frame: Frame<'_> =
            serde_json::from_str(data).map_err(|error| unreadable(WHAT, &error))?;
        let kind = text(frame.kind).unwrap_or_else(|| event.name.clone());
        let at = index(frame.output_index).unwrap_or(self.last);
        match kind.as_str() {
            "response.output_item.added" => {
                if let Some(item) = frame.item {
                    self.last = at;
                    self.added(at, &read(item)?, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = frame.item {
                    self.done(at, item, out)?;
                }
            }
            "response.output_text.delta" => {
                self.seen(at).text = true;
                out.extend(text(frame.delta).map(ModelDelta::Text));
            }
            "response.output_text.done" if !self.seen(at).text => {
                self.seen(at).text = true;
                out.extend(text(frame.text).map(ModelDelta::Text));
            }
            "response.refusal.delta" => {
                self.seen(at).refusal = true;
                out.extend(text(frame.delta).map(ModelDelta::Refusal));
            }
            "response.refusal.done" if !self.seen(at).refusal => {
                self.seen(at).refusal = true;
                out.extend(text(frame.refusal).map(ModelDelta::Refusal));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.seen(at).reasoning = true;
                out.extend(text(frame.delta).map(ModelDelta::Reasoning));
            }
            "response.reasoning_summary_part.added" => {
                let further = index(frame.summary_index).unwrap_or(0) > 0;
                if further && self.seen(at).reasoning {
                    out.push_back(ModelDelta::Reasoning("\n\n".to_owned()));
                }
            }
            "response.function_call_arguments.delta" => {
                self.called = true;
                self.seen(at).arguments = true;
                push_arguments(at, arguments(frame.delta), out);
            }
            "response.function_call_arguments.done" if !self.seen(at).arguments => {
                self.called = true;
                self.seen(at).arguments = true;
                push_arguments(at, arguments(frame.arguments), out);
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let raw = frame.response.map_or("{}", RawValue::get);
                self.response(raw, out)?;
                self.stop.get_or_insert_with(|| unsaid(self.called));
                return Ok(Flow::Ended);
            }
            "response.failed" | "response.cancelled" => {
                let raw = frame.response.map_or("{}", RawValue::get);
                let said = words_in(raw);
                return Err(reported(
                    said.unwrap_or_else(|| format!("{kind} without a reason")),
                ));
            }
            "error" => return Err(not_a(WHAT, data)),
            // An error that does not say what kind of event it is.
            "" => return Err(not_a(WHAT, data)),
            // Events may be added to the API.
            _ => {}
        }
        Ok(self.flow())
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<Flow, ModelError> {
        self.response(body, out)?;
        Ok(self.flow())
    }

    fn kept(&self) -> u64 {
        self.kept
    }

    fn finish(&mut self, out: &mut Deltas) {
        let stop = self.stop.take().unwrap_or_else(|| unsaid(self.called));
        out.push_back(ModelDelta::Stopped(stop));
    }
}

impl ResponsesDecoder {
    fn flow(&self) -> Flow {
        match self.stop {
            Some(_) => Flow::Settled,
            None => Flow::More,
        }
    }

    fn seen(&mut self, at: u64) -> &mut Seen {
        self.items.entry(at).or_default()
    }

    fn added(&mut self, at: u64, item: &Item<'_>, out: &mut Deltas) {
        if text(item.kind).as_deref() != Some("function_call") {
            return;
        }
        self.called = true;
        let seen = self.seen(at);
        if std::mem::replace(&mut seen.begun, true) {
            return;
        }
        let given = arguments(item.arguments);
        seen.arguments |= !given.is_empty();
        out.push_back(ModelDelta::ToolCall(ToolCallDelta {
            index: Some(at),
            id: id(item.call_id).or_else(|| id(item.id)),
            name: text(item.name),
            arguments: given,
        }));
    }

    /// An item as a whole: what of it did not come in pieces, and what comes back to the provider.
    fn done(&mut self, at: u64, raw: &RawValue, out: &mut Deltas) -> Result<(), ModelError> {
        if std::mem::replace(&mut self.seen(at).done, true) {
            return Ok(());
        }
        let item = read(raw)?;
        match text(item.kind).as_deref() {
            Some("function_call") => {
                let begun = self.seen(at).begun;
                self.added(at, &item, out);
                let seen = self.seen(at);
                if begun && !std::mem::replace(&mut seen.arguments, true) {
                    push_arguments(at, arguments(item.arguments), out);
                }
            }
            Some("message") => {
                let seen = self.seen(at);
                let (text, refusal) = (seen.text, seen.refusal);
                for part in item.content.iter().filter_map(Value::as_array).flatten() {
                    let words = |key| words(part, key);
                    if !text {
                        out.extend(words("text").map(ModelDelta::Text));
                    }
                    if !refusal {
                        out.extend(words("refusal").map(ModelDelta::Refusal));
                    }
                }
                let seen = self.seen(at);
                (seen.text, seen.refusal) = (true, true);
            }
            Some("reasoning") => {
                if !std::mem::replace(&mut self.seen(at).reasoning, true) {
                    let summary = item.summary.iter().filter_map(Value::as_array).flatten();
                    let summary: Vec<String> =
                        summary.filter_map(|part| words(part, "text")).collect();
                    if !summary.is_empty() {
                        out.push_back(ModelDelta::Reasoning(summary.join("\n\n")));
                    }
                }
                self.sealed(raw.get(), out);
            }
            _ => {}
        }
        Ok(())
    }

    /// A sealed thought, with no more than what the API takes back.
    fn sealed(&mut self, raw: &str, out: &mut Deltas) {
        let Ok(item) = serde_json::from_str::<Value>(raw) else {
            return;
        };
        if !comes_back(&item) {
            return;
        }
        let taken = ["content", "encrypted_content", "id", "summary", "type"];
        let fields = item.as_object().into_iter().flatten();
        let fields =
            fields.filter(|(key, value)| taken.contains(&key.as_str()) && !value.is_null());
        let item: Map<String, Value> = fields
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.kept += size(raw);
        out.push_back(ModelDelta::Provider(Value::Object(item)));
    }

    /// The whole response, at the end of a stream or instead of one.
    fn response(&mut self, raw: &str, out: &mut Deltas) -> Result<(), ModelError> {
        let response: Response<'_> =
            serde_json::from_str(raw).map_err(|error| unreadable(WHAT, &error))?;
        let status = text(response.status);
        if response.error.is_some_and(|error| error.get() != "null")
            || matches!(status.as_deref(), Some("failed" | "cancelled"))
            || response.output.is_none() && status.is_none() && words_in(raw).is_some()
        {
            return Err(not_a(WHAT, raw));
        }
        if response.output.is_none() && status.is_none() && response.usage.is_none() && raw != "{}"
        {
            return Err(not_a(WHAT, raw));
        }
        for (at, item) in response.output.into_iter().flatten().enumerate() {
            self.done(at as u64, item, out)?;
        }
        if let Some(usage) = &response.usage {
            push_usage(usage, out);
        }
        let reason = response
            .incomplete_details
            .as_ref()
            .and_then(|details| details.get("reason"))
            .and_then(Value::as_str);
        self.stop = match (status.as_deref(), reason) {
            (_, Some("max_output_tokens" | "max_tokens")) => Some(StopReason::Length),
            (_, Some("content_filter")) => Some(StopReason::Refused),
            (_, Some(other)) => Some(StopReason::Other(other.to_owned())),
            (Some("incomplete"), None) => Some(StopReason::Length),
            (Some("completed"), None) => Some(unsaid(self.called)),
            (Some(_) | None, None) => None,
        };
        Ok(())
    }
}

fn read(item: &RawValue) -> Result<Item<'_>, ModelError> {
    serde_json::from_str(item.get()).map_err(|error| unreadable(WHAT, &error))
}

fn words(part: &Value, key: &str) -> Option<String> {
    part.get(key)
        .and_then(Value::as_str)
        .filter(|words| !words.is_empty())
        .map(str::to_owned)
}

fn push_arguments(at: u64, arguments: String, out: &mut Deltas) {
    if !arguments.is_empty() {
        out.push_back(ModelDelta::ToolCall(ToolCallDelta {
            index: Some(at),
            arguments,
            ..ToolCallDelta::default()
        }));
    }
}

fn push_usage(usage: &Value, out: &mut Deltas) {
    let at = |pointer: &str| count(usage.pointer(pointer));
    let tokens = TokenUsage {
        input_tokens: at("/input_tokens"),
        output_tokens: at("/output_tokens"),
        cache_read_tokens: at("/input_tokens_details/cached_tokens"),
        reasoning_tokens: at("/output_tokens_details/reasoning_tokens"),
        ..TokenUsage::default()
    };
    if tokens.input_tokens > 0 || tokens.output_tokens > 0 {
        out.push_back(ModelDelta::Usage(tokens));
    }
}

#[cfg(test)]
mod tests;
