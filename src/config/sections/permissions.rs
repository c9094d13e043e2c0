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
    /// What may be called with which arguments, by whom. `deny` wins over `ask`, and `ask` over
    /// `allow`, whatever their order. A role that does not suffice is not lent by a rule.
    pub rules: Vec<RuleRow>,
}

/// A rule. What is left out is any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
pub struct RuleRow {
    /// The tools: a name, or a glob.
    pub tool: String,
    /// For commands, the words of a command with globs, and a last `*` for any more words; for
    /// files, a glob of the path; for other tools, `NAME=GLOB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The role, just this one.
    #[schemars(with = "Option<RoleWord>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// By what way the call came: `cli`, `http`, `mcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What holds.
    pub decision: Verdict,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must say yes first.
    Ask,
    /// It may not run.
    Deny,
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
            rules: Vec::new(),
        }
    }
}
