//! One rule.

use outfitter_core::{Pattern, Principal, Role, ToolName, Verdict};

/// A rule as its operator writes it. What is left out is any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The tools: a name or a glob.
    pub tool: String,
    /// Their arguments. For commands: words, with globs, that the program and what follows it are
    /// held to; a last `*` stands for any more words. For files: a glob of the path. For other
    /// tools: `NAME=GLOB` or `/POINTER=GLOB`.
    pub args: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
    /// The role, just this one.
    pub role: Option<Role>,
    /// The channel.
    pub channel: Option<String>,
    /// What holds.
    pub decision: Verdict,
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
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let blank =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
        if self.tool.trim().is_empty() {
            return Err("it names no tool");
        }
        if blank(&self.args) {
            return Err("its args are empty; leave them out for any");
        }
        if blank(&self.tenant) || blank(&self.channel) {
            return Err("a tenant or channel is empty; leave it out for any");
        }
        Ok(())
    }

    pub(super) fn is_for(&self, who: &Principal, tool: &ToolName) -> bool {
        let is =
            |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        Pattern::new(self.tool.as_str()).matches(tool.as_str())
            && is(&self.tenant, who.tenant.as_str())
            && is(&self.channel, who.channel.as_str())
            && self.role.is_none_or(|role| role == who.role)
    }
}
