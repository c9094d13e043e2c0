//! `[tools]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tools there are, and how much of a result a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The tools that may be used: names, and globs with `*` and `?`. An empty list gives none.
    #[schemars(extend("uniqueItems" = true))]
    pub available: Vec<String>,
    /// How many tokens of one result a model reads. A longer one is kept whole as an artifact.
    #[schemars(range(min = 100, max = 10_000_000))]
    pub max_result_tokens: u32,
    /// How many seconds a call may take where its tool does not say.
    #[schemars(range(min = 1, max = 86_400))]
    pub default_timeout_seconds: u32,
    /// Who chooses the tools that fit a conversation, where more than `suggestion_threshold` are
    /// listed: `off` nobody, all are shown; `lexical` the words of the last prompts; `model` the
    /// model, asked once for each prompt. The others stay callable once `tool_search` finds them.
    pub suggestion: Suggestion,
    /// How many listed tools are all shown, and how many are chosen at most where there are more.
    #[schemars(range(min = 1, max = 1_000))]
    pub suggestion_threshold: u32,
    /// The listed tools that are shown only once they are asked for: names, and globs with `*` and
    /// `?`. Until then a model is told their names and a line of each.
    #[schemars(extend("uniqueItems" = true))]
    pub defer: Vec<String>,
    /// Other names that tools answer to when they are called. They are never listed.
    pub aliases: BTreeMap<String, String>,
    /// Arguments that are set here for every call: for each tool a table of parameters and their
    /// values. No model sees them, and one that gives them is refused.
    #[schemars(extend("writeOnly" = true))]
    pub presets: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

/// Who chooses the tools that fit a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Suggestion {
    /// Nobody.
    #[default]
    Off,
    /// The words.
    Lexical,
    /// The model.
    Model,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            available: vec!["*".to_owned()],
            max_result_tokens: 12_000,
            default_timeout_seconds: 120,
            suggestion: Suggestion::Off,
            suggestion_threshold: 15,
            defer: Vec::new(),
            aliases: [("read", "file_read"), ("write", "file_write")]
                .map(|(alias, name)| (alias.to_owned(), name.to_owned()))
                .into(),
            presets: BTreeMap::new(),
        }
    }
}
