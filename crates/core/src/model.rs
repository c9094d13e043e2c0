//! One model request and the stream that answers it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Cancel, Message, ModelError, TokenUsage, ToolName};

/// A model, as it is known before it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The provider: `openai`, `anthropic`, `scripted`, …
    pub provider: String,
    /// The model's name there.
    pub name: String,
    /// Whether it can see pictures.
    pub vision: bool,
    /// How many tokens a request and its reply may have, where it is known.
    pub context_tokens: Option<u64>,
}

impl ModelInfo {
    /// `provider/name`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider, self.name)
    }
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// Its name.
    pub name: ToolName,
    /// What it does and when to use it.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments.
    pub parameters: Arc<Value>,
}

/// One request. Two requests of equal content are equal bytes on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The conversation, in order.
    pub messages: Vec<Arc<Message>>,
    /// The tools shown.
    pub tools: Arc<[ToolSchema]>,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    End,
    /// It wants calls made.
    ToolCalls,
    /// A length limit.
    Length,
    /// A filter of the provider, or the model refused.
    Refused,
    /// A reason that we do not know, as the provider wrote it.
    Other(String),
}

/// A piece of a call. The first piece of a call may lack anything but its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCallDelta {
    /// The place of the call in the reply, as the wire numbers it; wires that do not number calls
    /// give none, and the piece belongs to the call last begun.
    pub index: Option<u64>,
    /// The provider's id.
    pub id: Option<String>,
    /// The name, or a piece of it.
    pub name: Option<String>,
    /// A piece of the text of the arguments.
    pub arguments: String,
}

/// Facts of the response that came before its body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseFacts {
    /// The provider's id of the request, for its support.
    pub request_id: Option<String>,
    /// How many attempts were made before this one.
    pub retries: u32,
}

/// A piece of a reply, in the order of the wire.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelDelta {
    /// The response began. Nothing of it is shown yet: a role-only chunk is nothing either.
    Started(ResponseFacts),
    /// Text.
    Text(String),
    /// What the model thinks.
    Reasoning(String),
    /// The provider's signature over the reasoning before it.
    ReasoningSignature(String),
    /// The model says no.
    Refusal(String),
    /// A piece of a call.
    ToolCall(ToolCallDelta),
    /// What only its provider understands.
    Provider(Value),
    /// Tokens used so far; the last non-zero one counts.
    Usage(TokenUsage),
    /// The reply is over. A stream without this is truncated.
    Stopped(StopReason),
}

impl ModelDelta {
    /// Whether a reader has seen something of the reply, so that it cannot be tried again.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Refusal(text) => !text.is_empty(),
            Self::ToolCall(_) => true,
            Self::Started(_)
            | Self::ReasoningSignature(_)
            | Self::Provider(_)
            | Self::Usage(_)
            | Self::Stopped(_) => false,
        }
    }
}

/// A reply as it comes. It ends after [`ModelDelta::Stopped`] or the first error.
pub type ModelStream = BoxStream<'static, Result<ModelDelta, ModelError>>;

/// What answers model requests.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// The model.
    fn info(&self) -> &ModelInfo;

    /// Sends one request. Dropping the stream, or the token, ends the connection.
    ///
    /// # Errors
    /// [`ModelError`] when no reply began.
    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError>;

    /// The bytes that `request` is on the wire, for hashes and comparisons; none where the wire is
    /// not ours to know.
    fn wire_body(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        let _ = request;
        None
    }

    /// How long a whole request may take.
    fn deadline(&self) -> Option<Duration> {
        None
    }
}
