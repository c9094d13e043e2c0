//! `[contacts]` and `[search]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who there is to speak to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contacts {
    /// The program of `[commands]` whose command `contacts` knows them.
    pub source: Option<String>,
}

/// How much a search finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// How many people `search_users` finds at most.
    #[schemars(range(min = 1, max = 1000))]
    pub max_results: u32,
}

impl Default for Search {
    fn default() -> Self {
        Self { max_results: 20 }
    }
}
