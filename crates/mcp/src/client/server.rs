//! What the operator says about a server.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use outfitter_core::SourceStart as Start;
use outfitter_core::{Clock, Effect, Effects, NameSet, ProgramSecrets, Role, SourceId, SpecCache};
use outfitter_process::SupervisorProgram;

/// How many calls one server may work on at once where nothing else is said.
const DEFAULT_CONCURRENCY: usize = 16;

/// A server that runs as a child of ours and speaks over its standard streams.
#[derive(Clone)]
pub struct StdioServer {
    /// Its name, which stands before the names of its tools: `name__tool`.
    pub name: SourceId,
    /// The program; a bare name is looked up in the `PATH` of its environment.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its environment beside what [`Host`] gives; wins over that.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs, absolute.
    pub cwd: PathBuf,
    /// Whether it is started at all.
    pub state: Enabled,
    /// When it is started.
    pub start: Start,
    /// Which of its tools are offered, by the names it gives them.
    pub tools: NameSet,
    /// The least role that may call them.
    pub min_role: Role,
    /// What a call of them is judged as.
    ///
    /// What a server says of its tools (`readOnlyHint` and the like) is not believed: who decides
    /// about authority is the operator, and the operator put this program there. So a call reads
    /// and writes, as a tool of the workspace does, and needs [`min_role`](Self::min_role). For a
    /// server whose calls a person shall approve, say `network` here.
    pub effects: Effects,
    /// How long it may take to start and list its tools.
    pub connect_timeout: Duration,
    /// How long a call may go without a sign of life. Progress is one; a call that goes on giving
    /// signs ends after ten times this.
    pub call_timeout: Duration,
    /// How many calls it may work on at once.
    pub concurrency: usize,
}

/// Whether a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enabled {
    /// It is.
    #[default]
    Yes,
    /// It is known and not started.
    No,
}

impl StdioServer {
    /// The effects of a call where nothing else is said.
    pub const DEFAULT_EFFECTS: Effects = Effects::of(&[Effect::Read, Effect::Write]);

    /// A server with the defaults of the configuration: all tools, role user, 20 and 120 seconds.
    #[must_use]
    pub fn new(name: SourceId, command: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            name,
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: cwd.into(),
            state: Enabled::Yes,
            start: Start::AtOnce,
            tools: NameSet::all(),
            min_role: Role::User,
            effects: Self::DEFAULT_EFFECTS,
            connect_timeout: Duration::from_secs(20),
            call_timeout: Duration::from_secs(120),
            concurrency: DEFAULT_CONCURRENCY,
        }
    }

    /// With these arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// A text without the values of its environment and the secrets among its arguments: it may
    /// have printed what it was given.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        self.secrets().taken_out(text).into_owned()
    }

    /// What it was given and must not be told of it again.
    pub(crate) fn secrets(&self) -> ProgramSecrets {
        let args = self.args.iter().filter_map(|arg| arg.to_str());
        let values = self.env.iter().filter_map(|(_, value)| value.to_str());
        ProgramSecrets::of(args, values)
    }

    pub(crate) fn check(&self) -> Result<(), InvalidServer> {
        let wrong = |why| {
            Err(InvalidServer {
                name: self.name.clone(),
                why,
            })
        };
        if self.command.is_empty() {
            return wrong("there is no command");
        }
        if !self.cwd.is_absolute() {
            return wrong("the working directory must be absolute");
        }
        if self.concurrency == 0 {
            return wrong("concurrency must be at least 1");
        }
        if self.connect_timeout.is_zero() || self.call_timeout.is_zero() {
            return wrong("a timeout must be longer than nothing");
        }
        Ok(())
    }
}

/// Arguments and environment may hold secrets, so they are counted and not shown.
impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioServer")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.len())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// A server that cannot be run as it is described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use the MCP server {name}: {why}")]
pub struct InvalidServer {
    /// Which server.
    pub name: SourceId,
    /// What is wrong with it.
    pub why: &'static str,
}

/// What servers get from the program they run under.
#[derive(Clone)]
pub struct Host {
    /// The program that is re-executed as the supervisor of each child.
    pub supervisor: SupervisorProgram,
    /// The environment every server gets: `PATH, HOME, LANG, TZ`, and nothing else of ours.
    ///
    /// A server is the operator's own program and runs outside the sandbox of any session; without
    /// `HOME` the usual launchers (npx, uvx) do not start.
    pub env: Vec<(OsString, OsString)>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where what servers offer is kept, for those that are started at their first call.
    pub specs: Option<Arc<dyn SpecCache>>,
}
