//! `[progress]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What running tools print, while they run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Progress {
    /// Whether it is shown.
    pub enabled: bool,
    /// How many milliseconds of it are merged into one event. 0 merges nothing.
    #[schemars(range(min = 0, max = 60_000))]
    pub flush_interval_ms: u32,
    /// How many bytes make an event before that time is over.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub flush_bytes: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            enabled: true,
            flush_interval_ms: 50,
            flush_bytes: 16_384,
        }
    }
}
