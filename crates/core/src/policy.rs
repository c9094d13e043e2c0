//! Who may call what.

use serde_json::Value;

use crate::{Facts, Files, Principal, SandboxInfo, ToolSpec};

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
    /// The files there, for what paths lead to.
    pub files: &'a dyn Files,
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

/// The agent that a call is made by, where it is not [`MAIN_AGENT`]: a service of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingAgent(pub String);

/// Decides. Pure: the same question has the same answer.
pub trait Policy: Send + Sync {
    /// Whether `who` may know of a tool at all.
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool;
    /// Whether this call may run.
    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision;
}
