//! `[[workflows]]`.

use outfitter_agent::{MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS, MAX_STEP_CHARS, MAX_STEPS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps with a name, that a turn may follow: `[agent] workflow` says which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
pub struct WorkflowRow {
    /// Its name, of A-Z a-z 0-9 _ -. No two have the same.
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    pub name: String,
    /// What it is for: by this and its name it is chosen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = MAX_DESCRIPTION_CHARS))]
    pub description: String,
    /// What is done, in order.
    #[schemars(length(min = 1, max = MAX_STEPS), inner(length(min = 1, max = MAX_STEP_CHARS)))]
    pub steps: Vec<String>,
}
