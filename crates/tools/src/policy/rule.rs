//! One rule.

use std::collections::BTreeMap;

use outfitter_core::{Pattern, Principal, Role, ToolName, Verdict};
use serde_json::Value;

/// A rule as its operator writes it. What is left out is any.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The tools: a name or a glob.
    pub tool: String,
    /// Their arguments.
    pub args: Option<RuleArgs>,
    /// The tenant.
    pub tenant: Option<String>,
    /// The role, just this one.
    pub role: Option<Role>,
    /// The channel.
    pub channel: Option<String>,
    /// The agents whose calls are meant: a name or a glob.
    pub agent: Option<String>,
    /// What holds.
    pub decision: Verdict,
}

/// Arguments, as a rule means them.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleArgs {
    /// For commands: words, with globs, that the program and what follows it are held to; a last
    /// `*` stands for any more words. For files: a glob of the path. For other tools: `NAME=GLOB`
    /// or `/POINTER=GLOB`.
    Text(String),
    /// Each argument by its name or pointer, all of which must be so: a glob for a text (words for
    /// the command line of a call, a glob of the path for a path), any other value for itself, and
    /// a list for one of its items. What a call leaves out has the default of its schema.
    Table(BTreeMap<String, Value>),
}

impl From<&str> for RuleArgs {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A rule that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {index}: {why}")]
pub struct BadRule {
    /// Its place; the first has 0.
    pub index: usize,
    /// Why, one fragment.
    pub why: &'static str,
}

impl Rule {
    /// Says what is wrong with it.
    ///
    /// # Errors
    /// Why it means nothing, one fragment.
    pub fn check(&self) -> Result<(), &'static str> {
        let blank =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
        if self.tool.trim().is_empty() {
            return Err("it names no tool");
        }
        if let Some(args) = &self.args {
            args.check()?;
        }
        if blank(&self.tenant) || blank(&self.channel) || blank(&self.agent) {
            return Err("a tenant, channel or agent is empty; leave it out for any");
        }
        Ok(())
    }

    /// Whether it is for calls of this tool by `who`, whatever the agent and the arguments.
    pub(super) fn is_for(&self, who: &Principal, tool: &ToolName) -> bool {
        let is =
            |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        Pattern::new(self.tool.as_str()).matches(tool.as_str())
            && is(&self.tenant, who.tenant.as_str())
            && is(&self.channel, who.channel.as_str())
            && self.role.is_none_or(|role| role == who.role)
    }

    pub(super) fn is_for_agent(&self, agent: &str) -> bool {
        let wanted = self.agent.as_deref();
        wanted.is_none_or(|wanted| Pattern::new(wanted).matches(agent))
    }
}

impl RuleArgs {
    /// Its texts, each of which may be a path.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Table(table) => table
                .values()
                .flat_map(|value| match value {
                    Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
                    one => one.as_str().into_iter().collect::<Vec<_>>(),
                })
                .collect(),
        }
    }

    /// Says what is wrong with it.
    ///
    /// # Errors
    /// Why it means nothing, one fragment.
    pub fn check(&self) -> Result<(), &'static str> {
        const EMPTY: &str = "its args are empty; leave them out for any";
        match self {
            Self::Text(text) if text.trim().is_empty() => Err(EMPTY),
            Self::Table(table) if table.is_empty() => Err(EMPTY),
            Self::Text(_) => Ok(()),
            Self::Table(table) => table.iter().try_for_each(|(name, value)| {
                if name.trim().is_empty() {
                    return Err("an argument has no name");
                }
                let is_one = |value: &Value| match value {
                    Value::String(text) => !text.trim().is_empty(),
                    Value::Bool(_) | Value::Number(_) => true,
                    Value::Null | Value::Array(_) | Value::Object(_) => false,
                };
                let right = match value {
                    Value::Array(items) => !items.is_empty() && items.iter().all(is_one),
                    one => is_one(one),
                };
                right
                    .then_some(())
                    .ok_or("an argument is to be a text, a number, true, false, or a list of these")
            }),
        }
    }
}
