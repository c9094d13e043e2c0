//! The schema of a tool as each provider takes it.
//!
//! Providers know different parts of JSON Schema, and one schema that a provider does not take
//! fails the whole request. What a provider takes is a row of one table ([`rules`]); [`shape`] is a
//! pure function of a schema and a row. It loosens: what fits the original fits what is made of it
//! (but a schema that names no type gets the one that its words are about), and the pipeline goes on
//! checking arguments against the original. A schema that
//! cannot be said at all becomes an open object; what was lost is in [`ShapedSchema::notes`] and,
//! where it helps, in a description that the model reads.
//!
//! [`ShapeCache`] keeps what was made of the tools of a view.

mod cache;
mod clean;
mod inner;
mod leaf;
mod merge;
mod names;
mod refs;
mod root;
mod rules;
mod walk;

use outfitter_core::ToolSchema;
use serde_json::Value;

pub(crate) use cache::{ShapeCache, ShapedTool, ShapedTools};
pub(crate) use names::{NameBack, wire_name};

use walk::Walk;

/// Whose part of JSON Schema it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaDialect {
    /// OpenAI's chat completions.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini behind its OpenAI-compatible endpoint.
    GeminiCompatible,
    /// Gemini's own endpoint, also in Vertex.
    GeminiNative,
    /// Ollama, by either of its endpoints.
    Ollama,
    /// Amazon's converse API.
    Bedrock,
    /// Any other server of the OpenAI-compatible wire: what nearly all of them take.
    Compatible,
}

impl SchemaDialect {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::GeminiCompatible,
        Self::GeminiNative,
        Self::Ollama,
        Self::Bedrock,
        Self::Compatible,
    ];

    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::GeminiCompatible => "gemini-compatible",
            Self::GeminiNative => "gemini-native",
            Self::Ollama => "ollama",
            Self::Bedrock => "bedrock",
            Self::Compatible => "compatible",
        }
    }
}

/// What a schema lost on its way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeNote {
    /// Where, as a JSON pointer into what was made of it; empty is the root.
    pub path: String,
    /// What, as a fragment.
    pub lost: String,
}

/// A schema as a provider takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapedSchema {
    /// The schema; none where the provider wants no schema for a tool without parameters.
    pub schema: Option<Value>,
    /// What it does not say any more, sorted by place.
    pub notes: Vec<ShapeNote>,
}

/// The parameters of a tool as a provider takes them. Equal schemas give equal results.
#[must_use]
pub fn shape(dialect: SchemaDialect, parameters: &Value) -> ShapedSchema {
    let mut walk = Walk::new(dialect.rules(), parameters);
    let schema = walk.root();
    let mut notes = walk.into_notes();
    notes.sort();
    notes.dedup();
    ShapedSchema { schema, notes }
}

/// The name of a tool as a provider takes it: a stable function of the name alone.
#[must_use]
pub fn shape_name(dialect: SchemaDialect, tool: &ToolSchema) -> String {
    wire_name(dialect, tool.name.as_str()).into_owned()
}

#[cfg(test)]
mod tests;
