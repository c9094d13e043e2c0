//! How long who needs what is connected waits for it.
//!
//! Nothing is connected before it is needed, and a tool that is always there needs nothing. What
//! is begun goes on by itself, and what answers late joins at the next view.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use outfitter_builtin::PluginApis;
use outfitter_commands::CommandTaken;
use outfitter_mcp::{McpSource, ServerState};
use outfitter_skills::LOAD_SKILL;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{BuildError, Outfitter, names, settings};

/// How long a listing or a run waits for what is connected, from when that was begun.
pub const SETTLE_TIME: Duration = Duration::from_secs(3);

/// What is needed of the MCP servers, the programs of the project and the APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed<'a> {
    /// All of it, as far as it answers within [`SETTLE_TIME`]: for a run or a listing of tools.
    Everything,
    /// The programs of the project, within [`SETTLE_TIME`]: they bring skills.
    Programs,
    /// What a tool of this name is of, as long as that may take to connect.
    Tool(&'a str),
}

/// Something configured that has not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// What, for people.
    pub what: String,
    /// The source of its tools.
    pub source: String,
    /// For how long it has been asked.
    pub since: Duration,
}

impl std::fmt::Display for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, since, .. } = self;
        let seconds = since.as_secs();
        write!(
            f,
            "{what}: still connecting after {seconds} s; its tools join once it answers"
        )
    }
}

/// What is connected, and what is about to be.
#[derive(Default)]
pub(super) struct Connections {
    pub(super) state: Mutex<State>,
    /// What asks programs and reads APIs. It ends with this.
    pub(super) tasks: Mutex<JoinSet<()>>,
    pub(super) apis: Arc<Apis>,
    /// All of it has answered and can work: there is nothing to wait for any more.
    settled: AtomicBool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) servers: BTreeMap<String, Begun<Arc<McpSource>>>,
    pub(super) programs: Option<Begun<watch::Receiver<Answered>>>,
    pub(super) apis: Option<Begun<watch::Receiver<Answered>>>,
}

/// Something that was begun.
#[derive(Clone)]
pub(super) struct Begun<T> {
    pub(super) it: T,
    at: Instant,
}

impl<T> Begun<T> {
    pub(super) fn now(it: T) -> Self {
        Self {
            it,
            at: Instant::now(),
        }
    }
}

/// Whether something that is asked once has answered.
#[derive(Clone)]
pub(super) enum Answered {
    NotYet,
    Yes,
    /// The programs of the project cannot be used together.
    Taken(CommandTaken),
}

/// The APIs, once they were read, and what may be used of them now.
#[derive(Default)]
pub(super) struct Apis {
    source: OnceLock<Arc<PluginApis>>,
    allowed: Mutex<Option<Vec<String>>>,
}

impl Apis {
    pub(super) fn get(&self) -> Option<&Arc<PluginApis>> {
        self.source.get()
    }

    /// They were read. What was allowed meanwhile is.
    pub(super) fn are(&self, source: Arc<PluginApis>) {
        let source = self.source.get_or_init(|| source);
        if let Some(allowed) = locked(&self.allowed).clone() {
            source.allow(allowed);
        }
    }

    pub(super) fn allow(&self, allowlist: Vec<String>) {
        *locked(&self.allowed) = Some(allowlist.clone());
        if let Some(source) = self.source.get() {
            source.allow(allowlist);
        }
    }
}

/// Which of the parts something needs, and for how long it waits for them.
struct Parts {
    servers: Servers,
    programs: Wanted,
    apis: Wanted,
    patience: Patience,
}

#[derive(PartialEq, Eq)]
enum Servers {
    None,
    One(String),
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

enum Patience {
    /// Until [`SETTLE_TIME`] after it was begun.
    Short,
    /// As long as each may take by itself.
    Own,
}

impl Parts {
    const NOTHING: Self = Self {
        servers: Servers::None,
        programs: Wanted::No,
        apis: Wanted::No,
        patience: Patience::Short,
    };

    const EVERYTHING: Self = Self {
        servers: Servers::All,
        programs: Wanted::Yes,
        apis: Wanted::Yes,
        patience: Patience::Short,
    };

    const PROGRAMS: Self = Self {
        programs: Wanted::Yes,
        ..Self::NOTHING
    };
}

impl Outfitter {
    /// Begins to connect all that is configured, and waits for what answers within
    /// [`SETTLE_TIME`].
    ///
    /// # Errors
    /// As [`Outfitter::settle`].
    pub async fn connect(&self) -> Result<(), BuildError> {
        self.settle(Needed::Everything).await
    }

    /// Begins to connect all that is configured: starts the MCP servers, asks the programs of the
    /// project what they can do, reads what APIs offer. Waits for none of it.
    ///
    /// # Errors
    /// [`BuildError`] when the configuration can never work. What is merely down is a fault of
    /// [`Outfitter::faults`].
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn begin(&self) -> Result<(), BuildError> {
        self.begin_parts(&Parts::EVERYTHING)
    }

    /// Begins to connect what is needed, and waits for it no longer than it says.
    ///
    /// # Errors
    /// [`BuildError`] when the configuration can never work, as far as that has shown.
    pub async fn settle(&self, needed: Needed<'_>) -> Result<(), BuildError> {
        if self.connections.settled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let parts = match needed {
            Needed::Everything => Parts::EVERYTHING,
            Needed::Programs => Parts::PROGRAMS,
            Needed::Tool(name) => self.parts_of(name),
        };
        self.begin_parts(&parts)?;
        self.wait(&parts).await;
        self.check()
    }

    /// Begins to connect all that is configured, and waits until each of it has answered or is not
    /// going to: as long as the slowest may take.
    ///
    /// # Errors
    /// As [`Outfitter::settle`].
    pub async fn settle_wholly(&self) -> Result<(), BuildError> {
        let parts = Parts {
            patience: Patience::Own,
            ..Parts::EVERYTHING
        };
        self.begin_parts(&parts)?;
        self.wait(&parts).await;
        self.check()
    }

    /// What has not answered yet, of what was begun.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let state = self.connections.lock();
        let servers = state.servers.iter();
        let servers = servers.filter(|(_, server)| is_starting(&server.it));
        let mut pending: Vec<Pending> = servers
            .map(|(name, server)| Pending {
                what: format!("the MCP server {name}"),
                source: name.clone(),
                since: server.at.elapsed(),
            })
            .collect();
        let others = [
            (
                &state.programs,
                "the programs of [commands]",
                outfitter_commands::SOURCE,
            ),
            (
                &state.apis,
                "the APIs of [plugin_api]",
                outfitter_builtin::PLUGIN_APIS,
            ),
        ];
        for (begun, what, source) in others {
            if let Some(begun) = begun.as_ref().filter(|one| one.it.is_open()) {
                pending.push(Pending {
                    what: what.to_owned(),
                    source: source.to_owned(),
                    since: begun.at.elapsed(),
                });
            }
        }
        pending
    }

    /// The same for people; nothing once all has answered.
    pub(super) fn not_ready(&self) -> Vec<String> {
        if self.connections.settled.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let pending = self.pending().into_iter();
        pending.map(|one| one.to_string()).collect()
    }

    /// What a call of this name needs. Most tools are always there.
    fn parts_of(&self, name: &str) -> Parts {
        let config = self.config();
        let is_there = |name: &str| self.registry.unmet_globs([name]).is_empty();
        let name = match config.tools.aliases.get(name) {
            Some(tool) if !is_there(name) => tool,
            _ => name,
        };
        let own = |parts| Parts {
            patience: Patience::Own,
            ..parts
        };
        let of_programs = name == outfitter_commands::TOOL
            || (config.contacts.source.is_some()
                && outfitter_builtin::CONTACT_TOOLS.contains(&name));
        if of_programs {
            return own(Parts::PROGRAMS);
        }
        if name == LOAD_SKILL {
            return Parts::PROGRAMS;
        }
        if outfitter_tools::TOOLS_ABOUT_TOOLS.contains(&name) {
            return Parts::EVERYTHING;
        }
        if is_there(name) {
            return Parts::NOTHING;
        }
        match outfitter_tools::split_qualified(name) {
            Some((prefix, _)) if config.mcp.servers.contains_key(prefix) => own(Parts {
                servers: Servers::One(prefix.to_owned()),
                ..Parts::NOTHING
            }),
            _ if name.starts_with("call_") => own(Parts {
                apis: Wanted::Yes,
                ..Parts::NOTHING
            }),
            _ => Parts::NOTHING,
        }
    }

    fn begin_parts(&self, parts: &Parts) -> Result<(), BuildError> {
        if self.connections.settled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut state = self.connections.lock();
        if parts.programs == Wanted::Yes {
            self.begin_programs(&mut state)?;
        }
        match &parts.servers {
            Servers::None => {}
            Servers::One(name) => self.begin_servers(&mut state, |other| other == name)?,
            Servers::All => self.begin_servers(&mut state, |_| true)?,
        }
        if parts.apis == Wanted::Yes {
            self.begin_apis(&mut state);
        }
        Ok(())
    }

    async fn wait(&self, parts: &Parts) {
        let config = self.config();
        let (servers, once) = {
            let state = self.connections.lock();
            let servers: Vec<_> = match &parts.servers {
                Servers::None => Vec::new(),
                Servers::One(name) => state.servers.get_key_value(name).into_iter().collect(),
                Servers::All => state.servers.iter().collect(),
            };
            let servers = servers.into_iter().filter_map(|(name, server)| {
                let most = config.mcp.servers.get(name)?.connect_timeout_seconds;
                Some((server.clone(), Duration::from_secs(most.into())))
            });
            let programs = state.programs.iter();
            let programs = programs.filter(|_| parts.programs == Wanted::Yes);
            let apis = state.apis.iter().filter(|_| parts.apis == Wanted::Yes);
            let once: Vec<_> = programs.chain(apis).cloned().collect();
            (servers.collect::<Vec<_>>(), once)
        };
        let short = |at: Instant| (at + SETTLE_TIME).saturating_duration_since(Instant::now());
        let servers = servers.into_iter().map(|(server, most)| async move {
            let most = match parts.patience {
                Patience::Short => most.min(short(server.at)),
                Patience::Own => most,
            };
            server.it.settled(most).await;
        });
        let once = once.into_iter().map(|mut begun| async move {
            let answered = begun.it.wait_for(|now| !matches!(now, Answered::NotYet));
            match parts.patience {
                Patience::Short => {
                    let _ = tokio::time::timeout(short(begun.at), answered).await;
                }
                // Each program and each document has its own time.
                Patience::Own => drop(answered.await),
            }
        });
        tokio::join!(join_all(servers), join_all(once));
    }

    /// Whether what has answered can work.
    fn check(&self) -> Result<(), BuildError> {
        let presets = settings::presets(&self.config(), &self.presets);
        if let Some(error) = names::wrong_presets(&self.registry, &presets)
            .into_iter()
            .next()
        {
            return Err(error);
        }
        let state = self.connections.lock();
        if let Some(programs) = &state.programs
            && let Answered::Taken(taken) = &*programs.it.borrow()
        {
            return Err(BuildError::CommandTaken(taken.clone()));
        }
        let servers = state.servers.values();
        let all = servers.len() == self.servers_to_begin()
            && !servers.into_iter().any(|server| is_starting(&server.it))
            && (state.programs.is_some() || !self.has_programs())
            && (state.apis.is_some() || self.config().plugin_api.apis.is_empty())
            && [&state.programs, &state.apis]
                .into_iter()
                .flatten()
                .all(|begun| !begun.it.is_open());
        if all {
            self.connections.settled.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Connections {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Goes on with this by itself, and says when it has answered.
    pub(super) fn go_on(
        &self,
        work: impl Future<Output = Answered> + Send + 'static,
    ) -> Begun<watch::Receiver<Answered>> {
        let (tell, told) = watch::channel(Answered::NotYet);
        locked(&self.tasks).spawn(async move {
            tell.send_replace(work.await);
        });
        Begun::now(told)
    }
}

/// Whether an answer may still come.
trait IsOpen {
    fn is_open(&self) -> bool;
}

impl IsOpen for watch::Receiver<Answered> {
    fn is_open(&self) -> bool {
        matches!(*self.borrow(), Answered::NotYet) && self.has_changed().is_ok()
    }
}

fn is_starting(server: &McpSource) -> bool {
    server.status().status == ServerState::Starting
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
