//! `[tools]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tools there are, and how much of a result a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The tools that may be used: names, and globs with `*` and `?`. An empty list gives none.
    pub available: Vec<String>,
    /// How many tokens of one result a model reads. A longer one is kept whole as an artifact.
    #[schemars(range(min = 100, max = 10_000_000))]
    pub max_result_tokens: u32,
    /// How many seconds a call may take where its tool does not say.
    #[schemars(range(min = 1, max = 86_400))]
    pub default_timeout_seconds: u32,
    /// Other names that tools answer to when they are called. They are never listed.
    pub aliases: BTreeMap<String, String>,
    /// Arguments that are set here for every call: for each tool a table of parameters and their
    /// values. No model sees them, and one that gives them is refused.
    #[schemars(extend("writeOnly" = true))]
    pub presets: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            available: vec!["*".to_owned()],
            max_result_tokens: 12_000,
            default_timeout_seconds: 120,
            aliases: [("read", "file_read"), ("write", "file_write")]
                .map(|(alias, name)| (alias.to_owned(), name.to_owned()))
                .into(),
            presets: BTreeMap::new(),
        }
    }
}
