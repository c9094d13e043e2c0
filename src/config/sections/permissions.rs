//! `[permissions]`.

use std::collections::BTreeMap;

use outfitter_core::Role;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// For how many days a yes with `always` holds. Then the call asks again, and is denied where
    /// nobody is there. Less makes those of before end sooner.
    #[schemars(range(min = 1, max = 365))]
    pub always_days: u32,
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
    /// files, a glob of the path; for other tools, `NAME=GLOB`. Or a table of arguments by name,
    /// each a glob, a value, or a list of these.
    #[schemars(with = "RuleArguments")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<RuleArguments>,
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
    /// The agent that makes the call, a name or a glob. The one that answers people is `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What holds.
    pub decision: Verdict,
}

/// What a rule says of arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleArguments {
    /// All of it in one text.
    Text(String),
    /// Each by its name.
    Table(BTreeMap<String, Value>),
}

impl Serialize for RuleArguments {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RuleArguments {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            table => serde_json::from_value(table)
                .map(Self::Table)
                .map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for RuleArguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RuleArguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "object" }] })
    }
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
            always_days: 30,
            rules: Vec::new(),
        }
    }
}
