//! What a tool says of itself.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effects, Role, ToolName, ToolSchema};

/// When the schema of a tool goes into a model request.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// Into every request.
    Always,
    /// Into every request unless suggestion trims it.
    #[default]
    Listed,
    /// Its name and one line in a reminder; the schema once it is asked for.
    Deferred,
    /// Never shown and never found, but it answers when it is called.
    Hidden,
}

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: ToolName,
    /// What it does, when to use it, and when not.
    pub description: Arc<str>,
    /// The JSON Schema (2020-12) of its arguments: an object.
    pub input_schema: Arc<Value>,
    /// The JSON Schema of its result.
    pub output_schema: Option<Arc<Value>>,
    /// When it is shown.
    pub exposure: Exposure,
    /// The least role that may call it.
    pub min_role: Role,
    /// The most a call can do.
    pub effects: Effects,
    /// Whether a call may simply be made again.
    pub idempotent: bool,
    /// How long a call may take; none takes the configured default.
    pub timeout: Option<Duration>,
    /// Words it is found by, beside those of its description.
    pub keywords: Vec<Arc<str>>,
}

impl ToolSpec {
    /// A tool that reads: role guest, listed, no keywords. Change what is otherwise.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<Arc<str>>, input_schema: Value) -> Self {
        Self {
            name,
            description: description.into(),
            input_schema: Arc::new(input_schema),
            output_schema: None,
            exposure: Exposure::Listed,
            min_role: Role::Guest,
            effects: Effects::READ,
            idempotent: false,
            timeout: None,
            keywords: Vec::new(),
        }
    }

    /// The tool as a model sees it.
    #[must_use]
    pub fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.input_schema.clone(),
        }
    }
}
