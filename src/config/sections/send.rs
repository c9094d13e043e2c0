//! `[send]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How messages go out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Send {
    /// The model that polishes the texts of messages, as `PROVIDER/NAME`. Of the provider of
    /// `[model]` it is called as that one is, with its URL and its key. Without it, texts go as
    /// they are.
    #[schemars(regex(pattern = r"^[^/]+/.+$"))]
    pub polish_model: Option<String>,
}
