//! A provider that follows a script instead of a model, for the tour, the documents and tests.
//!
//! Which turn of the script answers is a function of the request alone: the number of messages
//! from the assistant that it has. So a run that is continued goes on where it was, and the same
//! request is always answered the same.

mod script;

use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use outfitter_core::{
    Cancel, Message, MessageRole, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest,
    ModelStream, Part, Phase, ResponseFacts, TokenUsage, ToolCallDelta, UsageSource,
};
use tokio::time::sleep;

pub use script::Script;
use script::{Failure, FailureKind, ScriptedCall, Turn};

/// How many characters a piece of a scripted reply has.
const PIECE_CHARS: usize = 7;

/// How many characters of the last message an unmet expectation shows.
const SHOWN_CHARS: usize = 300;

/// Follows a script.
#[derive(Debug)]
pub struct ScriptedProvider {
    info: ModelInfo,
    script: Script,
}

impl ScriptedProvider {
    /// A provider `scripted` whose model is called `name`.
    #[must_use]
    pub fn new(script: Script, name: &str) -> Self {
        Self {
            info: ModelInfo {
                provider: "scripted".to_owned(),
                name: name.to_owned(),
                vision: false,
                context_tokens: None,
            },
            script,
        }
    }

    /// The same, and its model sees pictures.
    #[must_use]
    pub fn seeing(mut self) -> Self {
        self.info.vision = true;
        self
    }

    fn turn(&self, request: &ModelRequest) -> Result<(usize, &Turn), ModelError> {
        let spoken = |message: &&std::sync::Arc<Message>| message.role == MessageRole::Assistant;
        let at = request.messages.iter().filter(spoken).count();
        let turn = self
            .script
            .turns()
            .get(at)
            .ok_or_else(|| ModelError::Script {
                message: format!(
                    "it has {} turns and was asked for turn {}",
                    self.script.turns().len(),
                    at + 1
                ),
            })?;
        if let Some(expected) = &turn.expect {
            let last = request.messages.last().map(|message| message.content());
            let got = last.unwrap_or_default();
            if !got.contains(expected.as_str()) {
                return Err(ModelError::Script {
                    message: format!(
                        "turn {} expected {expected:?} in the last message and got {:?}",
                        at + 1,
                        head(&got)
                    ),
                });
            }
        }
        Ok((at, turn))
    }
}

#[async_trait]
impl ModelProvider for ScriptedProvider {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let (at, turn) = self.turn(&request)?;
        pause(turn.delay(), &cancel).await?;
        // A status comes instead of a reply, everything else in the middle of one.
        if let Some(error) = turn.error.as_ref().and_then(refusal) {
            return Err(error);
        }
        let mut items: Vec<Result<ModelDelta, ModelError>> =
            deltas(at, turn).into_iter().map(Ok).collect();
        match &turn.error {
            Some(failure) => items.push(Err(broken(failure))),
            None => {
                items.push(Ok(ModelDelta::Usage(estimate(&request, turn))));
                items.push(Ok(ModelDelta::Stopped(turn.stop())));
            }
        }
        let reply = stream::iter(items).scan(false, move |over, item| {
            let item = match item {
                _ if *over => None,
                _ if cancel.is_cancelled() => Some(Err(ModelError::Cancelled)),
                item => Some(item),
            };
            *over |= matches!(item, Some(Err(_)));
            std::future::ready(item)
        });
        // Like a real reply it does not come all at once: whoever else is ready has a turn.
        let paced = reply.then(|item| async move {
            tokio::task::yield_now().await;
            item
        });
        Ok(Box::pin(paced.fuse()))
    }
}

async fn pause(delay: Duration, cancel: &Cancel) -> Result<(), ModelError> {
    if delay.is_zero() && !cancel.is_cancelled() {
        return Ok(());
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        () = sleep(delay) => Ok(()),
    }
}

fn deltas(at: usize, turn: &Turn) -> Vec<ModelDelta> {
    let mut out = vec![ModelDelta::Started(ResponseFacts {
        request_id: Some(format!("script-{}", at + 1)),
        retries: 0,
    })];
    let texts = |text: &Option<String>| pieces(text.as_deref().unwrap_or_default());
    out.extend(
        texts(&turn.reasoning)
            .into_iter()
            .map(ModelDelta::Reasoning),
    );
    out.extend(texts(&turn.text).into_iter().map(ModelDelta::Text));
    for (place, call) in turn.tool_calls.iter().enumerate() {
        out.extend(call_deltas(at, place, call, turn.raw_arguments.as_deref()));
    }
    out
}

fn call_deltas(at: usize, place: usize, call: &ScriptedCall, raw: Option<&str>) -> Vec<ModelDelta> {
    let index = Some(place as u64);
    let id = match &call.id {
        Some(id) => id.clone(),
        None => format!("call_{}_{}", at + 1, place + 1),
    };
    let arguments = call.arguments(raw);
    let begin = ToolCallDelta {
        index,
        id: Some(id),
        name: Some(call.name.clone()),
        arguments: String::new(),
    };
    let rest = pieces(&arguments)
        .into_iter()
        .map(|arguments| ToolCallDelta {
            index,
            arguments,
            ..ToolCallDelta::default()
        });
    std::iter::once(begin)
        .chain(rest)
        .map(ModelDelta::ToolCall)
        .collect()
}

fn refusal(failure: &Failure) -> Option<ModelError> {
    let message = failure.message.clone();
    let status = match (failure.status, failure.kind) {
        (Some(status), _) => status,
        (None, Some(FailureKind::Connect)) => return Some(ModelError::Connect { message }),
        (None, Some(FailureKind::Timeout)) => {
            return Some(ModelError::Timeout {
                phase: Phase::FirstByte,
                after: Duration::ZERO,
            });
        }
        (
            None,
            Some(FailureKind::Provider | FailureKind::Protocol | FailureKind::Truncated) | None,
        ) => {
            return None;
        }
    };
    Some(ModelError::Status {
        status,
        message,
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
    })
}

fn broken(failure: &Failure) -> ModelError {
    let message = failure.message.clone();
    match failure.kind {
        Some(FailureKind::Truncated) => ModelError::Truncated,
        Some(FailureKind::Protocol) => ModelError::Protocol { message },
        Some(FailureKind::Provider | FailureKind::Connect | FailureKind::Timeout) | None => {
            ModelError::Provider { message }
        }
    }
}

/// Four bytes a token: near enough for a model that does not exist, and nothing is loaded for it.
fn estimate(request: &ModelRequest, turn: &Turn) -> TokenUsage {
    const BYTES_PER_TOKEN: usize = 4;
    let part = |part: &Part| match part {
        Part::Text { text } | Part::Reasoning { text, .. } | Part::Refusal { text } => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.len(),
        Part::Image { .. } | Part::File { .. } | Part::Provider { .. } => 0,
    };
    let history = request.messages.iter().flat_map(|message| &message.parts);
    let input = request.system.len() + history.map(part).sum::<usize>();
    let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
    TokenUsage {
        input_tokens: tokens(input),
        output_tokens: tokens(turn.bytes()),
        source: UsageSource::Estimated,
        ..TokenUsage::default()
    }
}

/// A text in pieces of whole characters.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let cut = rest
            .char_indices()
            .nth(PIECE_CHARS)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

fn head(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
