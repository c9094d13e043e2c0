//! Where commands run.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Files, JobId, Stream, UnixMs};

/// How much of a sandbox there is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing holds a command back.
    #[default]
    None,
    /// Rules of the kernel on files and system calls, without namespaces.
    Partial,
    /// Namespaces, and the rules too.
    Full,
}

impl Level {
    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

/// A sandbox, for policy and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxInfo {
    /// Which backend: `local`, `passthrough`, …
    pub backend: String,
    /// The level it reaches here.
    pub level: Level,
    /// Whether it isolates well enough for commands to run without asking.
    pub isolating: bool,
    /// Why the level is not higher, one sentence each.
    pub missing: Vec<String>,
    /// The workspace.
    pub workspace: PathBuf,
    /// Whether commands reach the network.
    pub network: bool,
    /// The account on another machine, where it is not this one.
    pub account: Option<Account>,
}

/// An account on another machine, whose workspace a session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Which: `user@host:port`.
    pub name: String,
    /// Whose the workspace is.
    pub workspace: WorkspaceOf,
}

/// Whose a workspace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceOf {
    /// It was made for the one session.
    Session,
    /// It is the account's, and any session may have it.
    Account,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A line for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments, without a shell.
    Program(Vec<String>),
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// What to run.
    pub command: CommandLine,
    /// Where, relative to the workspace; the workspace itself when empty.
    pub workdir: String,
    /// More environment, over the sandbox's own.
    pub env: Vec<(String, String)>,
    /// When it is killed.
    pub timeout: Duration,
}

/// A byte offset in the merged output of a job.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Offset(pub u64);

/// A range of a job's output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputChunk {
    /// The pieces in the order they arrived; exact within a stream.
    pub pieces: Vec<(Stream, Bytes)>,
    /// Where to read on.
    pub next: Offset,
    /// Whether the job has ended and this reaches the end of its output.
    pub ended: bool,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exit {
    /// Its exit status, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether its own deadline ended it.
    pub timed_out: bool,
    /// Whether the program that ran it ended first, and it with that: how far it came is not known,
    /// and the other fields say only what is.
    pub interrupted: bool,
    /// How long it ran.
    pub duration: Duration,
    /// How many processes it had left behind that were then killed.
    pub killed_children: u32,
    /// Process ids of it that outlived even `SIGKILL`, as its tree counts them: they may still run.
    pub survivors: Vec<u32>,
    /// Bytes it wrote to its standard output.
    pub stdout_bytes: u64,
    /// Bytes it wrote to its standard error.
    pub stderr_bytes: u64,
    /// Bytes that were not kept because the spool was full.
    pub dropped_bytes: u64,
    /// What the sandbox refused it, as far as that is known; each is said here and not among the
    /// notices.
    pub refusals: Vec<Refusal>,
    /// What to know about how it was run, one sentence each.
    pub notices: Vec<String>,
}

/// Something that a sandbox refused to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What it was about.
    pub refused: Refused,
    /// The configuration key that would allow it, `[sandbox] write`; none where no key would.
    pub allow: Option<String>,
    /// Why, as one fragment.
    pub why: String,
}

/// What a refusal is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// A path outside of what the command may read or write.
    Path(PathBuf),
    /// A rule of the sandbox, by the name of its key: `network`, `memory_mb`, `processes`,
    /// `cpu_seconds`; or of its constant: `file_bytes`.
    Rule(&'static str),
}

/// How a job came to be known by its name only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// It was running when the program that ran it ended, and was ended with it.
    Interrupted,
    /// It had ended, in these words, before the program was started anew.
    Ended(String),
    /// It has ended, and its output made room for that of later ones.
    LetGo,
}

/// What killing did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Killed {
    /// Whether it was still running.
    pub was_running: bool,
    /// Processes that outlived even SIGKILL.
    pub survivors: Vec<u32>,
}

/// A job, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobInfo {
    /// Its id.
    pub id: JobId,
    /// Its command, for people.
    pub command: String,
    /// When it started.
    pub started: UnixMs,
    /// Whether it runs.
    pub running: bool,
    /// What became of it, where that is all that is known, or its output is all that is left.
    pub lost: Option<Lost>,
}

/// Why a sandbox did not do it.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// It cannot be set up here; nothing ran.
    #[error("set up the sandbox: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// It does not do this.
    #[error("{what}: this backend does not support it")]
    Unsupported {
        /// What was asked.
        what: &'static str,
    },
    /// No such job of this session.
    #[error("find the job {0}")]
    NotFound(JobId),
    /// A job of this session that is known and gone, and its output with it. One whose output is
    /// still there is no error: its [`Exit`] says that it was interrupted.
    #[error("find the output of the job {job}")]
    Lost {
        /// Its id.
        job: JobId,
        /// Its command, for people; the beginning of a long one.
        command: String,
        /// When it was started.
        started: UnixMs,
        /// What became of it.
        how: Lost,
    },
    /// The command cannot be started as it is given.
    #[error("start the command: {0}")]
    Invalid(String),
    /// The directory that the command was to run in cannot be entered; nothing ran, also not
    /// elsewhere.
    #[error("start the command: {0}")]
    Workdir(String),
    /// The system failed.
    #[error("{doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Where the commands of one session run and its files live. Its jobs end with it.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// What it is.
    fn info(&self) -> &SandboxInfo;

    /// Starts a command.
    ///
    /// # Errors
    /// [`SandboxError`] when nothing was started.
    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError>;

    /// Output from `from` on, at most `max` bytes. Waits up to `wait` for the first byte or the
    /// end; woken by them, not by a timer.
    ///
    /// # Errors
    /// [`SandboxError::NotFound`]; [`SandboxError::Unsupported`] from a backend without ranges.
    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError>;

    /// The end of the output, at most `max` bytes: the way of backends without ranges. `next` of
    /// the chunk is how much was printed in all; 0 from a backend that does not know it.
    ///
    /// # Errors
    /// [`SandboxError::NotFound`].
    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError>;

    /// Waits for the end of a job.
    ///
    /// # Errors
    /// [`SandboxError::NotFound`].
    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError>;

    /// Ends a job and its whole tree: TERM, then KILL after `grace`. Returns once it is gone.
    ///
    /// # Errors
    /// [`SandboxError::NotFound`].
    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError>;

    /// The jobs of this session, the last started first.
    fn jobs(&self) -> Vec<JobInfo>;

    /// The files of this session.
    fn files(&self) -> &dyn Files;
}

/// A sandbox that refuses everything, for calls that need none.
#[derive(Debug)]
pub struct RefusingSandbox(SandboxInfo);

impl RefusingSandbox {
    const REASON: &'static str = "this call has no sandbox";

    /// One.
    #[must_use]
    pub fn new() -> Self {
        Self::at(PathBuf::new())
    }

    /// One that says it works in this directory.
    #[must_use]
    pub fn at(workspace: PathBuf) -> Self {
        Self::of(SandboxInfo {
            backend: "none".to_owned(),
            level: Level::None,
            isolating: false,
            missing: vec![Self::REASON.to_owned()],
            workspace,
            network: false,
            account: None,
        })
    }

    /// One that says this of itself.
    #[must_use]
    pub fn of(info: SandboxInfo) -> Self {
        Self(info)
    }

    fn refuse<T>() -> Result<T, SandboxError> {
        Err(SandboxError::Unavailable {
            reason: Self::REASON.to_owned(),
            hint: None,
        })
    }
}

impl Default for RefusingSandbox {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Sandbox for RefusingSandbox {
    fn info(&self) -> &SandboxInfo {
        &self.0
    }

    async fn spawn(&self, _: CommandSpec) -> Result<JobId, SandboxError> {
        Self::refuse()
    }

    async fn output(
        &self,
        _: &JobId,
        _: Offset,
        _: usize,
        _: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        Self::refuse()
    }

    async fn tail(&self, _: &JobId, _: usize) -> Result<OutputChunk, SandboxError> {
        Self::refuse()
    }

    async fn wait(&self, _: &JobId) -> Result<Exit, SandboxError> {
        Self::refuse()
    }

    async fn kill(&self, _: &JobId, _: Duration) -> Result<Killed, SandboxError> {
        Self::refuse()
    }

    fn jobs(&self) -> Vec<JobInfo> {
        Vec::new()
    }

    fn files(&self) -> &dyn Files {
        &crate::files::RefusingFiles
    }
}
