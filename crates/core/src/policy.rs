//! Who may call what.

use serde_json::Value;

use crate::{Facts, KnownPaths, Principal, SandboxInfo, ToolName, ToolSpec};

/// A verdict. The stricter wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must say yes first.
    Ask,
    /// It may not run.
    Deny,
}

/// A verdict and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, one fragment, for the model and for people; empty for [`Verdict::Allow`].
    pub reason: String,
}

impl Decision {
    /// It may run.
    #[must_use]
    pub fn allow() -> Self {
        Self {
            verdict: Verdict::Allow,
            reason: String::new(),
        }
    }

    /// A person must say yes first.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Ask,
            reason: reason.into(),
        }
    }

    /// It may not run.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason: reason.into(),
        }
    }

    /// The stricter of the two; this one when they are equal.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        if other.verdict > self.verdict {
            other
        } else {
            self
        }
    }
}

/// A call as a policy sees it.
#[derive(Clone, Copy)]
pub struct CallFacts<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// Its arguments, which fit the schema.
    pub args: &'a Value,
    /// What the call is judged as.
    pub facts: &'a Facts,
    /// Where it would run.
    pub sandbox: &'a SandboxInfo,
    /// What its paths lead to, and those that the policy names.
    pub paths: &'a KnownPaths,
    /// The agent that makes it: [`MAIN_AGENT`], or the name of another one.
    pub agent: &'a str,
}

impl std::fmt::Debug for CallFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallFacts")
            .field("tool", &self.spec.name)
            .field("args", self.args)
            .field("facts", self.facts)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// The name of the agent that answers people, in rules.
pub const MAIN_AGENT: &str = "main";

/// The agent that a call is made by, where it is not [`MAIN_AGENT`]: a service of its run, put there
/// by who starts the run and never from what a model says. A run that one agent starts for another
/// has to have its own: services that are handed on hand the caller's on, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingAgent(pub String);

/// Decides. Pure: the same question has the same answer.
pub trait Policy: Send + Sync {
    /// Whether `who` may know of a tool at all.
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool;
    /// The paths that its rules for a tool name themselves, where paths matter to it: what these
    /// and those of a call lead to is looked up before [`Policy::decide`]. None where none matter.
    fn paths(&self, _who: &Principal, _spec: &ToolSpec) -> Option<Vec<String>> {
        Some(Vec::new())
    }
    /// Whether this call may run.
    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision;
}

/// Judges where a call leads on to while it is made, such as a redirect: a service of the context of
/// calls that reach the network.
pub trait Onward: Send + Sync {
    /// The verdict on a call of `tool` with the arguments `to`, into which one with the arguments
    /// `from` turns that was let. It is the verdict on a call of its own, but that a yes to `from`
    /// counts for a `to` that would ask for the same reason and is remembered alike.
    ///
    /// Nobody can be asked in the middle of a call: [`Verdict::Ask`] is to be refused, with words
    /// that let the model make the call itself.
    fn judge(&self, tool: &ToolName, from: &Value, to: &Value) -> Decision;
}
