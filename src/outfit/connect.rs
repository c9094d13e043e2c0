//! What is connected once it is needed: MCP servers, the project's programs, APIs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use outfitter_auth::{Issuer, Lifetime, SigningKey};
use outfitter_commands::{Credentials, ProgramSettings, ProjectCli};
use outfitter_core::{NameSet, SourceId, SourceStart, ToolSource};
use outfitter_mcp::{Enabled, McpSource, ServerStatus, Start, StdioServer};
use outfitter_process::SupervisorProgram;

use super::connections::{Answered, Begun, State};
use super::specs::SpecFiles;
use super::{BuildError, Outfitter};
use crate::config::sections::{Credential, McpServer, Program};
use crate::env::{self, Name};
use crate::helpers;

impl Outfitter {
    /// Whether anything is configured that has to be connected.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        let config = self.config();
        let servers = config.mcp.enabled && !config.mcp.servers.is_empty();
        servers || !config.commands.is_empty() || !config.plugin_api.apis.is_empty()
    }

    /// How many MCP servers there are once all were begun.
    pub(super) fn servers_to_begin(&self) -> usize {
        let mcp = &self.config().mcp;
        match &self.supervisor {
            Some(_) if mcp.enabled => mcp.servers.len(),
            Some(_) | None => 0,
        }
    }

    pub(super) fn has_programs(&self) -> bool {
        self.supervisor.is_some() && !self.config().commands.is_empty()
    }

    /// Starts those of the MCP servers that are wanted, each once. All of them are registered, or
    /// none: a failure can be tried again.
    pub(super) fn begin_servers(
        &self,
        state: &mut State,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), BuildError> {
        let Some(supervisor) = &self.supervisor else {
            return Ok(());
        };
        let config = self.config();
        if !config.mcp.enabled {
            return Ok(());
        }
        let variables = [env::PATH, env::HOME, env::LANG, env::TZ];
        let variable = |name: Name| Some((OsString::from(name.as_str()), self.text(name)?));
        let host = outfitter_mcp::Host {
            supervisor: supervisor.clone(),
            env: variables.into_iter().filter_map(variable).collect(),
            clock: self.clock.clone(),
            specs: Some(Arc::new(SpecFiles::of_servers(&self.data_dir))),
        };
        let mut begun = Vec::new();
        for (name, server) in &config.mcp.servers {
            if !wanted(name) || state.servers.contains_key(name) {
                continue;
            }
            let server = self.server(name, server)?;
            let source = McpSource::start(server, host.clone()).map_err(BuildError::Mcp)?;
            begun.push((name.clone(), Begun::now(Arc::new(source))));
        }
        let sources = begun.iter();
        let sources: Vec<_> = sources
            .map(|(_, source)| source.it.clone() as Arc<dyn ToolSource>)
            .collect();
        self.register(&sources)?;
        state.servers.extend(begun);
        Ok(())
    }

    /// Asks the programs of the project what they can do, once.
    pub(super) fn begin_programs(&self, state: &mut State) -> Result<(), BuildError> {
        let Some(supervisor) = self.supervisor.as_ref().filter(|_| self.has_programs()) else {
            return Ok(());
        };
        if state.programs.is_some() {
            return Ok(());
        }
        let source = Arc::new(self.programs_beside(supervisor)?);
        let offered: Arc<dyn ToolSource> = source.clone();
        self.register(std::slice::from_ref(&offered))?;
        let (programs, skills) = (self.programs.clone(), self.skills.clone());
        let config = self.config();
        state.programs = Some(self.connections.go_on(async move {
            if let Err(taken) = source.describe().await {
                tracing::error!(error = %taken, "programs of the project cannot be used together");
                return Answered::Taken(taken);
            }
            for skills_of in source.skills_dirs() {
                skills.add_skill_dir(skills_of.path);
            }
            let configured = config.commands.values();
            for dir in configured.filter_map(|program| program.skills_dir.clone()) {
                skills.add_skill_dir(dir);
            }
            let _ = programs.set(source);
            Answered::Yes
        }));
        Ok(())
    }

    /// Reads what APIs offer, once.
    pub(super) fn begin_apis(&self, state: &mut State) {
        if state.apis.is_some() || self.config().plugin_api.apis.is_empty() {
            return;
        }
        let (reader, registry) = (self.api_reader(), self.registry.clone());
        let apis = self.connections.apis.clone();
        state.apis = Some(self.connections.go_on(async move {
            if let Some(read) = reader.read_apis().await {
                let read = Arc::new(read);
                apis.are(read.clone());
                if let Err(error) = registry.add(read) {
                    tracing::error!(%error, "the APIs are no source");
                }
            }
            Answered::Yes
        }));
    }

    /// Registers all of them, or none.
    fn register(&self, sources: &[Arc<dyn ToolSource>]) -> Result<(), BuildError> {
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

    fn programs_beside(&self, supervisor: &SupervisorProgram) -> Result<ProjectCli, BuildError> {
        let key = SigningKey::generate().map_err(BuildError::Key)?;
        let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, self.clock.clone());
        let host = outfitter_commands::Host {
            supervisor: supervisor.clone(),
            scratch: self.data_dir.join("commands"),
            path: self.text(env::PATH).unwrap_or_default(),
            lang: self.text(env::LANG),
            tz: self.text(env::TZ),
            issuer: Some(Arc::new(issuer)),
            specs: Some(Arc::new(SpecFiles::of_programs(&self.data_dir))),
        };
        let config = self.config();
        let programs = config
            .commands
            .iter()
            .map(|(name, program)| settings(name, program));
        ProjectCli::new(host, programs).map_err(BuildError::Commands)
    }

    fn server(&self, name: &str, server: &McpServer) -> Result<StdioServer, BuildError> {
        let wrong = |why: &str| BuildError::Server {
            name: name.to_owned(),
            why: why.to_owned(),
        };
        let id = SourceId::new(name).map_err(|error| wrong(&error.to_string()))?;
        let (command, before) = match (&server.command, server.builtin.as_deref()) {
            (Some(command), None) => (OsString::from(command), Vec::new()),
            (None, Some(helper)) => helpers::server(helper).ok_or_else(|| {
                wrong(&format!(
                    "there is no built-in server {helper:?}, only {}",
                    helpers::SERVERS
                ))
            })?,
            (None, None) => return Err(wrong("it has neither command nor builtin")),
            (Some(_), Some(_)) => return Err(wrong("it has both command and builtin")),
        };
        let cwd = server.cwd.clone().unwrap_or_else(|| self.home_or_here());
        let args = server.args.iter().map(OsString::from);
        let mut built = StdioServer::new(id, command, cwd).args(before.into_iter().chain(args));
        built.env = pairs(&server.env)
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        built.state = if server.enabled {
            Enabled::Yes
        } else {
            Enabled::No
        };
        built.start = if server.lazy {
            Start::AtFirstCall
        } else {
            Start::AtOnce
        };
        built.tools = NameSet::of(server.tools.iter().map(String::as_str));
        built.min_role = server.min_role;
        built.connect_timeout = Duration::from_secs(server.connect_timeout_seconds.into());
        built.call_timeout = Duration::from_secs(server.call_timeout_seconds.into());
        built.concurrency = server.concurrency as usize;
        Ok(built)
    }

    /// How the MCP servers stand that were begun.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerStatus> {
        let state = self.connections.lock();
        let servers = state.servers.values();
        servers.map(|server| server.it.status()).collect()
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
        let stopped = futures_util::future::join_all(servers.iter().map(|server| server.stop()));
        tokio::join!(stopped, tasks.shutdown());
    }

    fn home_or_here(&self) -> PathBuf {
        let home = self
            .environment
            .directory(env::HOME)
            .filter(|home| home.is_dir());
        home.unwrap_or_else(|| self.environment.current_dir())
            .to_owned()
    }

    fn text(&self, name: Name) -> Option<OsString> {
        self.environment.os(name).map(ToOwned::to_owned)
    }
}

fn settings(name: &str, program: &Program) -> ProgramSettings {
    let (path, before) = match helpers::program(&program.program) {
        Some((path, before)) => (PathBuf::from(path), before),
        None => (Path::new(&program.program).to_owned(), Vec::new()),
    };
    let mut settings = ProgramSettings::new(name, path);
    settings.args = before
        .into_iter()
        .chain(program.args.iter().map(OsString::from))
        .collect();
    settings.env = pairs(&program.env)
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect();
    settings.timeout = Duration::from_secs(program.timeout_seconds.into());
    settings.max_output_bytes = program.max_output_bytes as usize;
    settings.credentials = match program.credential {
        Credential::Call => Credentials::Call,
        Credential::None => Credentials::None,
    };
    if program.lazy {
        settings.start = SourceStart::AtFirstCall;
    }
    if !program.only.is_empty() {
        settings.only = NameSet::of(program.only.iter().map(String::as_str));
    }
    settings
}

fn pairs(map: &std::collections::BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    map.iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}
