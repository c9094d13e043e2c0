//! `[agent]`.

use outfitter_core::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::ModeWord;

/// The loop around the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// What the model is told before anything else. Without it, a short text of ours.
    pub system_prompt: Option<String>,
    /// How much of what is granted may be used: `agent` everything, `plan` only the tools that
    /// read, `chat` none. A run that asks for more gets this.
    #[schemars(with = "ModeWord")]
    pub mode: Mode,
    /// How many model calls one turn may take.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_turns: u32,
    /// How many calls of one reply run at once.
    #[schemars(range(min = 1, max = 256))]
    pub max_tool_concurrency: u32,
    /// How many tokens one turn may use, in and out. Without it there is no limit.
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub max_total_tokens: Option<u64>,
    /// The workflow of `[[workflows]]` that a turn follows: `off` none; `lexical` the one whose name
    /// and description fit the words of the prompt, if one does; `model` the one that the model
    /// chooses, asked once for each prompt; or the name of one. A run that asks for another gets it.
    pub workflow: String,
    /// Whether the model is asked what might be done next, once a turn has its answer: at most five
    /// actions. It takes one more model call.
    pub suggested_actions: bool,
    /// How often the model may make one call that fails the same way, in a turn. Then the turn ends.
    #[schemars(range(min = 1, max = 1000))]
    pub identical_failure_limit: u32,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            system_prompt: None,
            mode: Mode::Agent,
            workflow: "off".to_owned(),
            suggested_actions: false,
            max_turns: 40,
            max_tool_concurrency: 10,
            max_total_tokens: None,
            identical_failure_limit: 3,
        }
    }
}
