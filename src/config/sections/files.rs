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
    /// Whether an admin's file tools reach beyond the workspace.
    pub admin_open: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            max_read_bytes: 262_144,
            admin_open: false,
        }
    }
}
