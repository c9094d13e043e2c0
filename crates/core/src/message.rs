//! Messages: ordered parts, stored as they came.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, MessageId, ToolOutput};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The application.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

impl MessageRole {
    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Where the bytes of a part are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum PartSource {
    /// Here, in base64 (RFC 4648, with padding).
    Base64 {
        /// The encoded bytes.
        data: String,
    },
    /// In an artifact of the session.
    Artifact {
        /// Its id.
        id: crate::ArtifactId,
    },
    /// At a URL.
    Url {
        /// The URL.
        url: String,
    },
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the session.
    pub id: CallId,
    /// The name as the model wrote it, which may be no tool's.
    pub name: String,
    /// The text of the arguments as the model wrote it.
    pub arguments: Arc<str>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought.
    Reasoning {
        /// The text.
        text: String,
        /// The provider's signature over it, sent back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// The model said no.
    Refusal {
        /// The text.
        text: String,
    },
    /// A call.
    ToolCall(ToolCall),
    /// A picture.
    Image {
        /// Its media type.
        mime: String,
        /// Where its bytes are.
        source: PartSource,
    },
    /// A file: sound, a document, what is at a URL. No model reads it, so whoever gives one says in
    /// text what it is.
    File {
        /// Its media type; empty where it is not known.
        mime: String,
        /// What it is called.
        name: String,
        /// Where its bytes are.
        source: PartSource,
    },
    /// What only its provider understands; sent back to it unchanged, to no other.
    Provider {
        /// Which wire it came by.
        provider: String,
        /// The value.
        #[serde(deserialize_with = "crate::any_value::value")]
        data: Value,
    },
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Who speaks.
    pub role: MessageRole,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// On a tool's message: the call and all of its output. The text of the parts is the
    /// projection, which is all that a model reads of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Arc<ToolOutput>>,
}

impl Message {
    /// A message of one text.
    #[must_use]
    pub fn text(id: MessageId, role: MessageRole, text: impl Into<String>) -> Self {
        Self {
            id,
            role,
            parts: vec![Part::Text { text: text.into() }],
            output: None,
        }
    }

    /// The flattened text: all text parts, in order, without separators.
    #[must_use]
    pub fn content(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text { text } | Part::Refusal { text } => text.as_str(),
                Part::Reasoning { .. }
                | Part::ToolCall(_)
                | Part::Image { .. }
                | Part::File { .. }
                | Part::Provider { .. } => "",
            })
            .collect()
    }

    /// The calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. }
            | Part::Reasoning { .. }
            | Part::Refusal { .. }
            | Part::Image { .. }
            | Part::File { .. }
            | Part::Provider { .. } => None,
        })
    }
}
