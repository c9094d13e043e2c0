//! Replies as the two wires have them.

use serde_json::{Value, json};

use crate::fake::{Step, stream, stream_in};

/// A wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    OpenAi,
    Anthropic,
}

/// A call of a reply.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Its id; none where the provider sends none.
    pub(crate) id: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

/// A part of a reply.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Thought(&'a str),
    Call(Call<'a>),
}

/// How a reply ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    Calls,
    Length,
}

pub(crate) fn call<'a>(id: &'a str, name: &'a str, arguments: &'a str) -> Part<'a> {
    Part::Call(Call {
        id: Some(id),
        name,
        arguments,
    })
}

/// A reply in events.
pub(crate) struct Reply {
    wire: Wire,
    events: Vec<Value>,
}

impl Reply {
    /// A reply of these parts, its arguments in pieces of up to `size` bytes.
    pub(crate) fn in_pieces(wire: Wire, size: usize, parts: &[Part<'_>], stop: Stop) -> Self {
        let events = match wire {
            Wire::OpenAi => openai(size, parts, stop),
            Wire::Anthropic => anthropic(size, parts, stop),
        };
        Self { wire, events }
    }

    pub(crate) fn new(wire: Wire, parts: &[Part<'_>], stop: Stop) -> Self {
        Self::in_pieces(wire, 7, parts, stop)
    }

    /// Leaves the last events out: the reply breaks off.
    pub(crate) fn without_last(mut self, events: usize) -> Self {
        self.events.truncate(self.events.len() - events);
        self
    }

    /// The text of the stream.
    pub(crate) fn body(&self) -> String {
        let mut text = String::new();
        for event in &self.events {
            match self.wire {
                Wire::OpenAi => text.push_str(&format!("data: {event}\n\n")),
                Wire::Anthropic => {
                    let kind = event["type"].as_str().unwrap();
                    text.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
                }
            }
        }
        let over = self
            .events
            .last()
            .is_some_and(|last| !last["usage"].is_null());
        if self.wire == Wire::OpenAi && over {
            text.push_str("data: [DONE]\n\n");
        }
        text
    }

    /// All of it in one write.
    pub(crate) fn whole(&self) -> Vec<Step> {
        stream(&self.body())
    }

    /// Cut into writes of this many bytes, wherever that cuts.
    pub(crate) fn cut(&self, size: usize) -> Vec<Step> {
        stream_in(size, &self.body())
    }
}

/// A reply that is an answer.
pub(crate) fn answer(wire: Wire, text: &str) -> Vec<Step> {
    Reply::new(wire, &[Part::Text(text)], Stop::Done).whole()
}

/// A reply of calls.
pub(crate) fn calls(wire: Wire, parts: &[Part<'_>]) -> Vec<Step> {
    Reply::new(wire, parts, Stop::Calls).whole()
}

/// Text in pieces of whole characters, of about this many bytes.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for character in text.chars() {
        match pieces.last_mut().filter(|last| last.len() < size) {
            Some(last) => last.push(character),
            None => pieces.push(character.to_string()),
        }
    }
    pieces
}

fn openai(size: usize, parts: &[Part<'_>], stop: Stop) -> Vec<Value> {
    let event = |delta: Value| {
        json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
               "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    };
    let mut events = vec![event(json!({"role": "assistant", "content": ""}))];
    let mut index = 0;
    for part in parts {
        match part {
            Part::Text(text) => {
                let texts = pieces(text, size).into_iter();
                events.extend(texts.map(|text| event(json!({"content": text}))));
            }
            Part::Thought(text) => {
                let texts = pieces(text, size).into_iter();
                events.extend(texts.map(|text| event(json!({"reasoning_content": text}))));
            }
            Part::Call(call) => {
                let mut head = json!({"index": index, "type": "function",
                    "function": {"name": call.name, "arguments": ""}});
                if let Some(id) = call.id {
                    head["id"] = id.into();
                }
                events.push(event(json!({"tool_calls": [head]})));
                events.extend(pieces(call.arguments, size).into_iter().map(|piece| {
                    event(
                        json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                    )
                }));
                index += 1;
            }
        }
    }
    let reason = match stop {
        Stop::Done => "stop",
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
    };
    let mut last = event(json!({}));
    last["choices"][0]["finish_reason"] = reason.into();
    events.push(last);
    events.push(json!({"id": "c", "choices": [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}}));
    events
}

fn anthropic(size: usize, parts: &[Part<'_>], stop: Stop) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "type": "message",
        "role": "assistant", "model": "m", "content": [], "stop_reason": null,
        "usage": {"input_tokens": 11, "output_tokens": 1}}}),
    ];
    for (index, part) in parts.iter().enumerate() {
        let (block, deltas): (Value, Vec<Value>) = match part {
            Part::Text(text) => {
                let delta = |text| json!({"type": "text_delta", "text": text});
                let texts = pieces(text, size).into_iter();
                (
                    json!({"type": "text", "text": ""}),
                    texts.map(delta).collect(),
                )
            }
            Part::Thought(text) => {
                let delta = |text| json!({"type": "thinking_delta", "thinking": text});
                let texts = pieces(text, size).into_iter();
                let signature = json!({"type": "signature_delta", "signature": "sig"});
                (
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    texts.map(delta).chain([signature]).collect(),
                )
            }
            Part::Call(call) => {
                let delta = |text| json!({"type": "input_json_delta", "partial_json": text});
                let mut block = json!({"type": "tool_use", "name": call.name, "input": {}});
                if let Some(id) = call.id {
                    block["id"] = id.into();
                }
                let texts = pieces(call.arguments, size).into_iter();
                (block, texts.map(delta).collect())
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = match stop {
        Stop::Done => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
    };
    events.push(json!({"type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    events
}
