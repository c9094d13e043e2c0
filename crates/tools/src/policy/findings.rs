//! What rules may name, and what is found of those that name something else.

use std::collections::BTreeMap;
use std::sync::Arc;

use outfitter_core::{Pattern, Tool, ToolSpec};

/// What rules may name beside the tools that are registered.
#[derive(Default)]
pub struct Surroundings<'a> {
    /// Tools that exist and are not offered as things stand.
    pub dormant: Vec<Arc<dyn Tool>>,
    /// What may still come.
    pub later: Vec<Later>,
    /// Other names that tools answer to, which rules do not know them by.
    pub aliases: Option<&'a BTreeMap<String, String>>,
    /// The channels that a call can come by.
    pub channels: &'a [&'a str],
    /// The agents that make calls.
    pub agents: &'a [&'a str],
    /// The tenants that there are.
    pub tenants: &'a [&'a str],
}

/// Tools that may still come, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Later {
    /// How they may be called, a name or a glob.
    pub names: Pattern,
    /// Who brings them, for people.
    pub from: String,
}

impl Later {
    /// Whether a name or a glob may mean one of them.
    #[must_use]
    pub fn may_be(&self, wanted: &str) -> bool {
        globs_meet(wanted.as_bytes(), self.names.as_str().as_bytes())
    }
}

/// What is wrong with a rule that can never meet a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// The place of the rule; the first has 0.
    pub rule: usize,
    /// What of it: `tool`, `args`, `args.NAME`, `channel`, `agent`, `tenant`.
    pub key: String,
    /// Why it never meets one, one fragment.
    pub why: String,
    /// What was perhaps meant, the nearest first.
    pub close: Vec<String>,
}

/// What of a rule shows only once more is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleUnchecked {
    /// The place of the rule; the first has 0.
    pub rule: usize,
    /// What of it.
    pub key: String,
    /// Who has to be there first, for people.
    pub from: String,
}

/// What was found of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleFindings {
    /// What can never meet a call.
    pub faults: Vec<RuleFault>,
    /// What could not be looked at.
    pub unchecked: Vec<RuleUnchecked>,
}

/// A tool as rules know it.
pub(crate) struct Known {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Arc<dyn Tool>,
}

/// Whether some name is one that both globs mean.
fn globs_meet(one: &[u8], other: &[u8]) -> bool {
    // `row[b]`: whether the rest of `one` from here and the rest of `other` from `b` meet.
    let mut row = vec![false; other.len() + 1];
    for a in (0..=one.len()).rev() {
        let below = row.clone();
        for b in (0..=other.len()).rev() {
            row[b] = match (one.get(a), other.get(b)) {
                (None, None) => true,
                (Some(b'*'), _) => below[b] || (b < other.len() && row[b + 1]),
                (_, Some(b'*')) => row[b + 1] || (a < one.len() && below[b]),
                (Some(x), Some(y)) => (x == y || *x == b'?' || *y == b'?') && below[b + 1],
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
    }
    row[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("notes__*", "notes__*", true)]
    #[case("notes__add", "notes__*", true)]
    #[case("*add", "notes__*", true)]
    #[case("n?tes__x", "notes__*", true)]
    #[case("note__*", "notes__*", false)]
    #[case("file_*", "notes__*", false)]
    #[case("*", "project_cli", true)]
    #[case("project_cl", "project_cli", false)]
    #[case("project_cli_", "project_cli", false)]
    #[case("a*b*", "*c", true)]
    #[case("a?", "a", false)]
    #[case("", "*", true)]
    fn two_globs_meet_where_a_name_is_of_both(
        #[case] one: &str,
        #[case] other: &str,
        #[case] meet: bool,
    ) {
        assert_eq!(globs_meet(one.as_bytes(), other.as_bytes()), meet);
        assert_eq!(globs_meet(other.as_bytes(), one.as_bytes()), meet);
    }
}
