//! Messages in a snapshot. They have the ids and the contents that the stream gave them, so that a
//! client that saw the stream sees nothing change.

use schemars::JsonSchema;
use serde::Serialize;

use super::result::{CallMetadata, Outfitter};

/// The one type of call.
pub const CALL_TYPE: &str = "function";

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(
    tag = "role",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum AguiMessage {
    /// Of the person.
    User {
        /// Its id.
        id: String,
        /// What is said.
        content: String,
    },
    /// Of the model.
    Assistant {
        /// Its id.
        id: String,
        /// What is said; left out where a call was made without a model.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The calls, in order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(length(min = 1))]
        tool_calls: Vec<AguiCall>,
    },
    /// The result of a call.
    Tool {
        /// Its id.
        id: String,
        /// The call.
        tool_call_id: String,
        /// All that a model reads of the result.
        content: String,
        /// What clients show and models do not read.
        metadata: Box<Outfitter<CallMetadata>>,
    },
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AguiCall {
    /// Its id.
    pub id: String,
    /// Always `function`.
    pub r#type: &'static str,
    /// What is called.
    pub function: AguiFunction,
}

/// What is called, with what.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AguiFunction {
    /// The tool, as it was called.
    pub name: String,
    /// The arguments, as JSON in a text.
    pub arguments: String,
}
