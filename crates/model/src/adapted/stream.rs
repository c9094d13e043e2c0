//! The library's stream, held to what a reply is.

use futures_util::{StreamExt, stream};
use genai::chat::{ChatStream, ChatStreamEvent, StopReason as Reason, StreamEnd, ToolCall, Usage};
use outfitter_core::{
    CallId, Cancel, ModelDelta, ModelError, ModelStream, ResponseFacts, StopReason, SystemClock,
    TokenUsage, ToolCallDelta,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::VecDeque;

use super::request::{CALL_SIGNATURES, SIGNATURE};
use super::{Adapter, failure};
use crate::decoding::size;
use crate::http::PhaseTimeouts;
use crate::limits::MAX_SAID_BYTES;
use crate::patience::said;

/// The state of one reply.
pub(super) struct Guarded {
    adapter: Adapter,
    timeouts: PhaseTimeouts,
    secret: Option<SecretString>,
    ready: VecDeque<ModelDelta>,
    /// The call that comes in pieces: its id, its place, and how much of its arguments was given.
    open: Option<(String, u64, usize)>,
    calls: u64,
    said: u64,
    over: bool,
}

impl Guarded {
    pub(super) fn new(
        adapter: Adapter,
        timeouts: PhaseTimeouts,
        secret: Option<SecretString>,
    ) -> Self {
        Self {
            adapter,
            timeouts,
            secret,
            ready: VecDeque::new(),
            open: None,
            calls: 0,
            said: 0,
            over: false,
        }
    }

    /// The deltas of a stream, up to its end or its first error.
    pub(super) fn over(self, inner: ChatStream, cancel: Cancel) -> ModelStream {
        let state = (self, inner, cancel);
        let deltas = stream::unfold(state, |(mut guard, mut inner, cancel)| async move {
            let item = guard.next(&mut inner, &cancel).await?;
            Some((item, (guard, inner, cancel)))
        });
        Box::pin(deltas.fuse())
    }

    async fn next(
        &mut self,
        inner: &mut ChatStream,
        cancel: &Cancel,
    ) -> Option<Result<ModelDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                self.said += said(&delta);
                if self.said > MAX_SAID_BYTES {
                    self.ready.clear();
                    self.over = true;
                    return Some(Err(ModelError::TooLarge {
                        limit: MAX_SAID_BYTES,
                    }));
                }
                return Some(Ok(delta));
            }
            if self.over {
                return None;
            }
            let event = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                event = inner.next() => match event {
                    Some(Ok(event)) => Ok(event),
                    Some(Err(error)) => {
                        Err(failure::of(&error, self.timeouts, self.secret.as_ref()))
                    }
                    // It ended without its end event.
                    None => Err(ModelError::Truncated),
                },
            };
            match event.and_then(|event| self.take(event)) {
                Ok(()) => {}
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
    }

    fn take(&mut self, event: ChatStreamEvent) -> Result<(), ModelError> {
        match event {
            ChatStreamEvent::Start => {
                self.ready
                    .push_back(ModelDelta::Started(ResponseFacts::default()));
            }
            ChatStreamEvent::Chunk(chunk) => self.ready.push_back(ModelDelta::Text(chunk.content)),
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.ready.push_back(ModelDelta::Reasoning(chunk.content));
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => self.signature(chunk.content),
            ChatStreamEvent::ToolCallChunk(chunk) => self.call(chunk.tool_call),
            ChatStreamEvent::Heartbeat => {}
            ChatStreamEvent::End(end) => return self.end(&end),
        }
        Ok(())
    }

    fn signature(&mut self, signature: String) {
        self.said += size(&signature);
        self.ready.push_back(match self.adapter {
            Adapter::Bedrock => ModelDelta::ReasoningSignature(signature),
            Adapter::Gemini | Adapter::Ollama | Adapter::Vertex => {
                ModelDelta::Provider(json!({SIGNATURE: signature}))
            }
        });
    }

    fn call(&mut self, call: ToolCall) {
        let (arguments, growing) = match call.fn_arguments {
            // Arguments that come in pieces are given as all there is so far.
            Value::String(text) => (text, true),
            Value::Null => (String::new(), false),
            value => (value.to_string(), false),
        };
        let goes_on = self
            .open
            .as_ref()
            .filter(|(id, _, given)| growing && *id == call.call_id && *given <= arguments.len());
        if let Some(&(_, index, given)) = goes_on {
            let piece = arguments.get(given..).unwrap_or_default().to_owned();
            self.open = Some((call.call_id, index, arguments.len()));
            self.ready.push_back(ModelDelta::ToolCall(ToolCallDelta {
                index: Some(index),
                arguments: piece,
                ..ToolCallDelta::default()
            }));
            return;
        }
        let index = self.calls;
        self.calls += 1;
        self.open = growing.then(|| (call.call_id.clone(), index, arguments.len()));
        self.ready.push_back(ModelDelta::ToolCall(ToolCallDelta {
            index: Some(index),
            id: Some(self.own_id(call.call_id)),
            name: Some(call.fn_name),
            arguments,
        }));
        if let Some(signatures) = call.thought_signatures {
            self.said += signatures.iter().map(|one| size(one)).sum::<u64>();
            self.ready
                .push_back(ModelDelta::Provider(json!({CALL_SIGNATURES: signatures})));
        }
    }

    /// The provider's id; one of ours where the library made it up, because its own begin again
    /// with every turn.
    fn own_id(&self, id: String) -> String {
        let made_up = match self.adapter {
            Adapter::Gemini | Adapter::Vertex => id.starts_with("call#"),
            Adapter::Ollama => true,
            Adapter::Bedrock => false,
        };
        if made_up || id.is_empty() {
            return CallId::mint(&SystemClock).as_str().to_owned();
        }
        id
    }

    fn end(&mut self, end: &StreamEnd) -> Result<(), ModelError> {
        // The library says that a stream ended also when its connection only broke off.
        let Some(reason) = &end.captured_stop_reason else {
            return Err(ModelError::Truncated);
        };
        if let Some(usage) = &end.captured_usage {
            let usage = tokens(usage);
            if usage.input_tokens > 0 || usage.output_tokens > 0 {
                self.ready.push_back(ModelDelta::Usage(usage));
            }
        }
        self.ready.push_back(ModelDelta::Stopped(match reason {
            Reason::Completed(_) | Reason::StopSequence(_) if self.calls > 0 => {
                StopReason::ToolCalls
            }
            Reason::Completed(_) | Reason::StopSequence(_) => StopReason::End,
            Reason::ToolCall(_) => StopReason::ToolCalls,
            Reason::MaxTokens(_) => StopReason::Length,
            Reason::ContentFilter(_) => StopReason::Refused,
            Reason::Other(said) => StopReason::Other(said.clone()),
        }));
        self.over = true;
        Ok(())
    }
}

fn tokens(usage: &Usage) -> TokenUsage {
    let count = |count: Option<i32>| {
        count
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0)
    };
    let prompt = usage.prompt_tokens_details.as_ref();
    TokenUsage {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
        cache_read_tokens: count(prompt.and_then(|details| details.cached_tokens)),
        cache_write_tokens: count(prompt.and_then(|details| details.cache_creation_tokens)),
        reasoning_tokens: count(
            usage
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens),
        ),
        ..TokenUsage::default()
    }
}
