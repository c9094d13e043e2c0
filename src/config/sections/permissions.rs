//! `[permissions]`.

use outfitter_core::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::RoleWord;

/// Who may do what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// The role of the person at this machine.
    #[schemars(with = "RoleWord")]
    pub local_role: Role,
    /// The role of a caller over HTTP.
    #[schemars(with = "RoleWord")]
    pub http_role: Role,
    /// What happens to a call that a person would have to approve: `ask` asks them where they are
    /// there, and denies it elsewhere; `never` denies it everywhere.
    pub approval: Approval,
}

/// What happens to a call that a person would have to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// They are asked, where they are there.
    #[default]
    Ask,
    /// It is denied.
    Never,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            local_role: Role::Admin,
            http_role: Role::Guest,
            approval: Approval::Ask,
        }
    }
}
