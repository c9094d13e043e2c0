//! Tools in a list.

use outfitter_core as core;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::words::{Effects, Exposure, Role};

/// One tool that the caller may use.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(crate) struct Listing<'a> {
    /// Its name.
    name: &'a str,
    /// What offers it.
    source: &'a str,
    /// What it does, when to use it, and when not.
    description: &'a str,
    /// The JSON Schema (2020-12) of its arguments: an object.
    #[schemars(with = "serde_json::Map<String, Value>")]
    input_schema: &'a Value,
    /// The JSON Schema of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    /// When its schema goes into a model request.
    exposure: Exposure,
    /// The least role that may call it.
    min_role: Role,
    /// What a call can do at the most.
    effects: Effects,
    /// Whether the next model request would carry its schema.
    presented: bool,
}

impl<'a> From<&'a core::Listing> for Listing<'a> {
    fn from(tool: &'a core::Listing) -> Self {
        Self {
            name: tool.name.as_str(),
            source: tool.source.as_str(),
            description: &tool.description,
            input_schema: &tool.input_schema,
            output_schema: tool.output_schema.as_deref(),
            exposure: tool.exposure.into(),
            min_role: tool.min_role.into(),
            effects: Effects(tool.effects),
            presented: tool.presented,
        }
    }
}
