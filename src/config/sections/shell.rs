//! `[shell]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tools that run commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shell {
    /// Whether there are any.
    pub enabled: bool,
    /// How many seconds `run_command` gives a command that does not say; never more than
    /// `max_timeout_seconds`.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: u32,
    /// How many seconds any command may take, a background job too.
    #[schemars(range(min = 1, max = 86_400))]
    pub max_timeout_seconds: u32,
    /// How many characters of each output stream a result has. The whole goes to an artifact.
    #[schemars(range(min = 200, max = 10_000_000))]
    pub max_output_chars: u32,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout_seconds: 60,
            max_timeout_seconds: 1800,
            max_output_chars: 8000,
        }
    }
}
