//! `[files]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tools that read and write files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Files {
    /// How many bytes of a file one call reads.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_read_bytes: u32,
    /// How many megabytes (1024 kilobytes of 1024 bytes) file tools may fill: under `serve` all
    /// that is in a session's workspace counts, elsewhere what they have added in this process.
    /// More is refused before anything is written. What commands have written counts under `serve`,
    /// but no command is held to it. Without it there is no limit.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub quota_mb: Option<u32>,
    /// Whether an admin's file tools reach beyond the workspace.
    pub admin_open: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            max_read_bytes: 262_144,
            quota_mb: None,
            admin_open: false,
        }
    }
}
