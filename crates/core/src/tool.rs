//! A tool: a spec and a call.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Answer, Attended, Effects, NameSet, Principal, Reply, Role, SessionId, ToolContext, ToolError,
    ToolName, ToolSpec,
};

/// What a session is, for specs that depend on it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// Who acts.
    pub who: Arc<Principal>,
    /// Which session.
    pub session: SessionId,
    /// Whether somebody can answer.
    pub attended: Attended,
    /// The deferred tools that were asked for and are shown until the session ends.
    pub expanded: Arc<BTreeSet<ToolName>>,
    /// The listed tools that fit the conversation, where they were chosen: where there are too many
    /// tools to show, only these are shown beside the ones that always are.
    pub suggested: Option<Arc<BTreeSet<ToolName>>>,
    /// The skills that are granted. A view narrows them to those of its grant.
    pub skills: NameSet,
}

/// What one call is judged as.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What this call can do, which may be less than its tool can.
    pub effects: Effects,
    /// The least role that may make this call, which may be more than its tool demands.
    pub min_role: Role,
    /// Whether this call may simply be made again.
    pub idempotent: bool,
    /// The tool and arguments that this call is a wrapper of.
    pub inner: Option<(ToolName, Value)>,
    /// What the call is about, for rules and approvals: a command line, a path, a server.
    pub subject: Option<String>,
    /// What the subject is, where rules read it.
    pub targets: Targets,
    /// What else it depends on in a sandbox that does not isolate.
    pub unconfined: Option<Unconfined>,
}

/// What the effects of a call depend on where nothing confines it: with this unfulfilled it is
/// judged as any call of its tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unconfined {
    /// Why it may do more than is seen, one fragment; none where it may not.
    pub why: Option<String>,
    /// The paths that it reads, as seen from the workspace, which have to be readable to the
    /// session.
    pub reads: Vec<String>,
}

/// What a call works on, as rules read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Targets {
    /// Nothing that rules know; they look at the arguments.
    #[default]
    Arguments,
    /// The subject is a line for `/bin/sh`.
    CommandLine,
    /// These paths, as they were given.
    Paths(Vec<String>),
    /// The arguments, and these of their texts are paths that are read, as they were given.
    Reads(Vec<String>),
}

impl Targets {
    /// Its paths, as they were given.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        match self {
            Self::Paths(paths) | Self::Reads(paths) => paths,
            Self::Arguments | Self::CommandLine => &[],
        }
    }
}

impl Facts {
    /// What the spec says of every call.
    #[must_use]
    pub fn of(spec: &ToolSpec) -> Self {
        Self {
            effects: spec.effects,
            min_role: spec.min_role,
            idempotent: spec.idempotent,
            inner: None,
            subject: None,
            targets: Targets::Arguments,
            unconfined: None,
        }
    }

    /// Says what the call is about.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Says what the call works on.
    #[must_use]
    pub fn on(mut self, targets: Targets) -> Self {
        self.targets = targets;
        self
    }
}

/// Something an agent can do.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it says of itself.
    fn spec(&self) -> &ToolSpec;

    /// What it is called where it comes from. A remote tool may have a name there that is none
    /// here: with dots, with slashes, too long.
    fn home_name(&self) -> &str {
        self.spec().name.as_str()
    }

    /// What it says of itself in this session, where that differs. Arguments are held to it.
    fn tailor(&self, _session: &SessionFacts) -> Option<ToolSpec> {
        None
    }

    /// Whether all that it does is to ask a person and wait: a call that nobody can answer, as one
    /// of a program, can never succeed, and its callers are not told of it.
    fn only_asks(&self) -> bool {
        false
    }

    /// What a call with these arguments is judged as. The arguments fit the schema already.
    ///
    /// # Errors
    /// [`ToolError`] when the arguments cannot be judged; the call then does not run.
    fn facts(&self, _args: &Value) -> Result<Facts, ToolError> {
        Ok(Facts::of(self.spec()))
    }

    /// What a call of this caller is judged as, where that depends on who calls: a message to one's
    /// own conversation is another thing than one to somebody else's.
    ///
    /// # Errors
    /// As [`Tool::facts`].
    fn facts_for(&self, _who: &Principal, args: &Value) -> Result<Facts, ToolError> {
        self.facts(args)
    }

    /// Does it. The arguments fit the schema already.
    ///
    /// # Errors
    /// [`ToolError`], whose message the model reads.
    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError>;

    /// Goes on after an answer to what [`Reply::Wait`] asked.
    ///
    /// # Errors
    /// [`ToolError`], whose message the model reads.
    async fn resume(
        &self,
        _cx: &ToolContext,
        _args: Value,
        _state: Value,
        _answer: Answer,
    ) -> Result<Reply, ToolError> {
        Err(ToolError::internal("this tool does not wait"))
    }
}
