//! What is connected when the first session is opened: MCP servers and the project's programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outfitter_auth::{Issuer, Lifetime, SigningKey};
use outfitter_builtin::PluginApis;
use outfitter_commands::{Credentials, ProgramSettings, ProjectCli};
use outfitter_core::{NameSet, SourceId, ToolSource};
use outfitter_mcp::{Enabled, McpSource, ServerStatus, Start, StdioServer};
use outfitter_process::SupervisorProgram;

use super::specs::SpecFiles;
use super::{BuildError, Outfitter, names, settings};
use crate::config::sections::{Credential, McpServer, Program};
use crate::env::{self, Name};
use crate::helpers;

/// What is connected.
#[derive(Default)]
pub(super) struct Connected {
    servers: Vec<Arc<McpSource>>,
    pub(super) apis: Option<Arc<PluginApis>>,
}

impl Outfitter {
    /// Starts the MCP servers, asks the project's programs what they can do and reads what APIs
    /// offer, once. Takes as
    /// long as the slowest may take to start.
    ///
    /// # Errors
    /// [`BuildError`] when the configuration can never work. What is merely down is a fault of
    /// [`Outfitter::faults`].
    pub async fn connect(&self) -> Result<(), BuildError> {
        self.connected
            .get_or_try_init(|| Box::pin(self.connect_once()))
            .await
            .map(|_| ())
    }

    /// Whether anything is configured that has to be connected.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        let config = self.config();
        let servers = config.mcp.enabled && !config.mcp.servers.is_empty();
        servers || !config.commands.is_empty() || !config.plugin_api.apis.is_empty()
    }

    async fn connect_once(&self) -> Result<Connected, BuildError> {
        let described = async {
            match &self.supervisor {
                Some(supervisor) => self.describe_programs(supervisor).await,
                None => Ok(None),
            }
        };
        let started = async {
            match &self.supervisor {
                Some(supervisor) => self.start_servers(supervisor).await,
                None => Ok(Connected::default()),
            }
        };
        // Nothing is registered before all of it is there: a failure can be tried again.
        let (described, started, apis) = tokio::join!(described, started, self.read_apis());
        let (described, mut connected) = (described?, started?);
        connected.apis = apis.map(Arc::new);
        let programs = described
            .iter()
            .map(|source| source.clone() as Arc<dyn ToolSource>);
        let servers = connected.servers.iter();
        let servers = servers.map(|source| source.clone() as Arc<dyn ToolSource>);
        let apis = connected.apis.iter();
        let apis = apis.map(|source| source.clone() as Arc<dyn ToolSource>);
        let sources: Vec<_> = programs.chain(servers).chain(apis).collect();
        self.register(&sources)?;
        self.check_presets(&sources)?;
        if let Some(source) = described {
            let _ = self.programs.set(source.clone());
            self.add_skills_of(&source);
        }
        Ok(connected)
    }

    /// Presets of tools that are there only now. Where one cannot be, nothing of it is kept.
    fn check_presets(&self, sources: &[Arc<dyn ToolSource>]) -> Result<(), BuildError> {
        let presets = settings::presets(&self.config(), &self.presets);
        let wrong = names::wrong_presets(&self.registry, &presets);
        let Some(error) = wrong.into_iter().next() else {
            return Ok(());
        };
        for source in sources {
            self.registry.remove(source.id());
        }
        Err(error)
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

    fn add_skills_of(&self, source: &ProjectCli) {
        for skills in source.skills_dirs() {
            self.skills.add_skill_dir(skills.path);
        }
        let config = self.config();
        let configured = config.commands.values();
        for dir in configured.filter_map(|program| program.skills_dir.clone()) {
            self.skills.add_skill_dir(dir);
        }
    }

    async fn describe_programs(
        &self,
        supervisor: &SupervisorProgram,
    ) -> Result<Option<Arc<ProjectCli>>, BuildError> {
        if self.config().commands.is_empty() {
            return Ok(None);
        }
        let key = SigningKey::generate().map_err(BuildError::Key)?;
        let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, self.clock.clone());
        let host = outfitter_commands::Host {
            supervisor: supervisor.clone(),
            scratch: self.data_dir.join("commands"),
            path: self.text(env::PATH).unwrap_or_default(),
            lang: self.text(env::LANG),
            tz: self.text(env::TZ),
            issuer: Some(Arc::new(issuer)),
        };
        let config = self.config();
        let programs = config
            .commands
            .iter()
            .map(|(name, program)| settings(name, program));
        let source = Arc::new(ProjectCli::new(host, programs).map_err(BuildError::Commands)?);
        source.describe().await.map_err(BuildError::CommandTaken)?;
        Ok(Some(source))
    }

    async fn start_servers(&self, supervisor: &SupervisorProgram) -> Result<Connected, BuildError> {
        let mut connected = Connected::default();
        let config = self.config();
        if !config.mcp.enabled {
            return Ok(connected);
        }
        let variables = [env::PATH, env::HOME, env::LANG, env::TZ];
        let variable = |name: Name| Some((OsString::from(name.as_str()), self.text(name)?));
        let host = outfitter_mcp::Host {
            supervisor: supervisor.clone(),
            env: variables.into_iter().filter_map(variable).collect(),
            clock: self.clock.clone(),
            specs: Some(Arc::new(SpecFiles::below(&self.data_dir))),
        };
        for (name, server) in &config.mcp.servers {
            let server = self.server(name, server)?;
            let source = McpSource::start(server, host.clone()).map_err(BuildError::Mcp)?;
            connected.servers.push(Arc::new(source));
        }
        let waits = connected
            .servers
            .iter()
            .zip(config.mcp.servers.values())
            .map(|(source, server)| {
                let most = Duration::from_secs(server.connect_timeout_seconds.into());
                source.settled(most)
            });
        futures_util::future::join_all(waits).await;
        Ok(connected)
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

    /// How the MCP servers stand.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerStatus> {
        let connected = self.connected.get();
        connected
            .into_iter()
            .flat_map(|all| &all.servers)
            .map(|server| server.status())
            .collect()
    }

    /// Ends what was connected, and waits until it is gone.
    pub async fn disconnect(&self) {
        let connected = self.connected.get();
        let servers = connected.into_iter().flat_map(|all| &all.servers);
        futures_util::future::join_all(servers.map(|server| server.stop())).await;
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
    if !program.only.is_empty() {
        settings.only = NameSet::of(program.only.iter().map(String::as_str));
    }
    settings
}

fn pairs(map: &std::collections::BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    map.iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}
