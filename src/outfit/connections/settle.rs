//! Beginning with what is needed, and waiting for it; ending all of it.

use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use outfitter_core::ToolSource;
use tokio::time::Instant;

use super::begun::{Answered, IsOpen as _, is_starting};
use super::needed::{Needed, Parts, Patience, SETTLE_TIME, Servers, Wanted};
use crate::env::Name;
use crate::outfit::{BuildError, Outfitter, names, settings};

impl Outfitter {
    /// Whether anything is configured that has to be connected.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        let config = self.config();
        let servers = config.mcp.enabled && !config.mcp.servers.is_empty();
        servers || !config.commands.is_empty() || !config.plugin_api.apis.is_empty()
    }

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

    /// Ends what was connected, and waits until it is gone.
    pub async fn disconnect(&self) {
        let mut tasks = {
            let tasks = self.connections.tasks.lock();
            std::mem::take(&mut *tasks.unwrap_or_else(PoisonError::into_inner))
        };
        let servers: Vec<_> = {
            let state = self.connections.lock();
            let servers = state.servers.values();
            servers.map(|server| server.it.clone()).collect()
        };
        let stopped = join_all(servers.iter().map(|server| server.stop()));
        tokio::join!(stopped, tasks.shutdown());
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
        let wrong = names::wrong_presets(&self.registry, &presets);
        if !wrong.is_empty() {
            return Err(BuildError::Names(wrong));
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
    /// Registers all of them, or none.
    pub(super) fn register(&self, sources: &[Arc<dyn ToolSource>]) -> Result<(), BuildError> {
        for (at, source) in sources.iter().enumerate() {
            if let Err(error) = self.registry.add(source.clone()) {
                for before in &sources[..at] {
                    self.registry.remove(before.id());
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    pub(super) fn text(&self, name: Name) -> Option<OsString> {
        self.environment.os(name).map(ToOwned::to_owned)
    }
}
