//! Putting the whole together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{BuiltinOptions, FilesOptions, ShellOptions, builtin_tools};
use outfitter_core::{
    Clock, ModelProvider, NameSet, Services, SourceId, SystemClock, Tool, ToolSource, Trust,
};
use outfitter_process::SupervisorProgram;
use outfitter_skills::{LOAD_SKILL, SkillSource};
use outfitter_store::StoreUrl;
use outfitter_tools::{
    Approval, DefaultPolicy, NativeSource, Pipeline, PipelineOptions, Redactor, ToolRegistry,
    ToolsConfig, expand_tools, is_secret_key, read_artifact,
};
use secrecy::SecretString;

use super::{BuildError, Outfitter, model, skills};
use crate::config::{self, Config};
use crate::env::Environment;

/// Puts an [`Outfitter`] together.
///
/// ```
/// # fn main() -> Result<(), outfitter::BuildError> {
/// use outfitter::{Builder, config::Config, env::Environment};
///
/// let mut config = Config::default();
/// config.store.url = Some("memory:".to_owned());
/// let data = std::env::temp_dir();
/// config.store.data_dir = Some(data.clone());
/// let outfitter = Builder::new(config, Environment::of(data, [("HOME", "/nowhere")])).build()?;
/// assert!(outfitter.faults().is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Builder {
    config: Config,
    environment: Environment,
    tools: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
    services: Services,
    model: Option<Arc<dyn ModelProvider>>,
    clock: Arc<dyn Clock>,
    supervisor: Option<SupervisorProgram>,
}

impl Builder {
    /// What the configuration says, and nothing more.
    #[must_use]
    pub fn new(config: Config, environment: Environment) -> Self {
        Self {
            config,
            environment,
            tools: Vec::new(),
            sources: Vec::new(),
            services: Services::default(),
            model: None,
            clock: Arc::new(SystemClock),
            supervisor: None,
        }
    }

    /// Adds a tool. Tools written with `#[tool]` add themselves once their crate is linked.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a source of tools.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn ToolSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// Changes the configuration.
    #[must_use]
    pub(crate) fn configured(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Adds a seam that tools may ask for.
    #[must_use]
    pub fn service<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.with(service);
        self
    }

    /// Takes this model, whatever the configuration names.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn ModelProvider>) -> Self {
        self.model = Some(model);
        self
    }

    /// Takes the time from this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The program that supervises commands: one whose `main` begins with
    /// [`crate::run_if_supervisor`]. Without it there is no sandbox, and commands and file tools
    /// are unavailable.
    #[must_use]
    pub fn supervisor(mut self, program: SupervisorProgram) -> Self {
        self.supervisor = Some(program);
        self
    }

    /// Puts it together. Touches no file.
    ///
    /// # Errors
    /// [`BuildError`] when the configuration names what is not there.
    pub fn build(self) -> Result<Outfitter, BuildError> {
        let data_dir: PathBuf = self
            .config
            .store
            .data_dir
            .clone()
            .ok_or(BuildError::NoDataDir)?;
        let url = match &self.config.store.url {
            Some(url) => StoreUrl::parse(url).map_err(BuildError::StoreUrl)?,
            None => StoreUrl::in_data_dir(&data_dir),
        };
        let store = outfitter_store::open(&url, &data_dir, self.clock.clone());
        let skills = skills::catalog(&self.config, &self.environment)?;
        let mut sources = self.sources;
        sources.push(Arc::new(SkillSource::new(skills.clone())));
        let registry = registry(&self.config, self.tools, sources)?;
        let secrets = model::key(&self.config, &self.environment)
            .into_iter()
            .chain(given_secrets(&self.config));
        let pipeline = Pipeline::new(PipelineOptions {
            max_result_tokens: self.config.tools.max_result_tokens as usize,
            default_timeout: Duration::from_secs(self.config.tools.default_timeout_seconds.into()),
            approval: match self.config.permissions.approval {
                config::sections::Approval::Ask => Approval::Ask,
                config::sections::Approval::Never => Approval::Never,
            },
            redactor: Redactor::new(secrets),
        });
        Ok(Outfitter {
            config: self.config,
            environment: self.environment,
            data_dir,
            registry,
            pipeline: Arc::new(pipeline),
            log: store.log,
            artifacts: store.artifacts,
            clock: self.clock,
            services: self.services,
            model: self.model,
            supervisor: self.supervisor,
            support: tokio::sync::OnceCell::new(),
            skills,
            connected: tokio::sync::OnceCell::new(),
        })
    }
}

/// What the configuration gives servers and programs under a secret's name: what they print of it
/// goes no further.
fn given_secrets(config: &Config) -> impl Iterator<Item = SecretString> {
    let servers = config.mcp.servers.values().flat_map(|server| &server.env);
    let programs = config.commands.values().flat_map(|program| &program.env);
    servers
        .chain(programs)
        .filter(|(name, _)| holds_a_secret(name))
        .map(|(_, value)| SecretString::from(value.clone()))
}

/// Whether a variable holds a secret, by its name: `GITHUB_TOKEN` as well as `TOKEN`.
fn holds_a_secret(name: &str) -> bool {
    is_secret_key(name)
        || name
            .match_indices('_')
            .any(|(at, _)| is_secret_key(&name[at + 1..]))
}

fn registry(
    config: &Config,
    own: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
) -> Result<ToolRegistry, BuildError> {
    let registry = ToolRegistry::new(ToolsConfig {
        available: NameSet::of(config.tools.available.iter().map(String::as_str)),
        aliases: config.tools.aliases.clone(),
        policy: Arc::new(DefaultPolicy),
    });
    let mut builtin = builtin_tools(&builtin_options(config));
    builtin.push(read_artifact(config.tools.max_result_tokens as usize));
    builtin.push(expand_tools());
    let id = |name: &str| SourceId::new(name).map_err(BuildError::SourceName);
    registry.add(Arc::new(NativeSource::new(
        id("builtin")?,
        Trust::Builtin,
        builtin,
    )))?;
    let linked = NativeSource::linked(id("linked")?, Trust::Operator, |_| true);
    registry.add(Arc::new(linked))?;
    if !own.is_empty() {
        registry.add(Arc::new(NativeSource::new(
            id("application")?,
            Trust::Operator,
            own,
        )))?;
    }
    for source in sources {
        registry.add(source)?;
    }
    check_names(config, &registry)?;
    Ok(registry)
}

fn check_names(config: &Config, registry: &ToolRegistry) -> Result<(), BuildError> {
    let known = names_not_there_yet(config);
    let available = config
        .tools
        .available
        .iter()
        .map(|name| (name, "[tools] available"));
    let aliases = config
        .tools
        .aliases
        .values()
        .map(|name| (name, "[tools] aliases"));
    for (name, from) in available.chain(aliases) {
        let later = known.iter().any(|later| later == name) || is_of_a_server(name, config);
        if name.contains(['*', '?']) || later {
            continue;
        }
        if let Some(unknown) = registry.unknown_names([name.as_str()]).pop() {
            return Err(BuildError::UnknownTool {
                name: unknown.name,
                from: from.to_owned(),
                close: unknown.close,
            });
        }
    }
    Ok(())
}

/// Names that exist, or may, but not now: those that the configuration switches off, and those of
/// sources that are connected later. Naming one is no mistake.
fn names_not_there_yet(config: &Config) -> Vec<String> {
    let mut names = vec![LOAD_SKILL.to_owned()];
    if !config.commands.is_empty() {
        names.push(outfitter_commands::TOOL.to_owned());
    }
    if !config.shell.enabled {
        let mut options = builtin_options(config);
        options.shell.enabled = true;
        let tools = builtin_tools(&options);
        names.extend(tools.iter().map(|tool| tool.spec().name.to_string()));
    }
    names
}

/// Whether a name would be a tool of a configured server.
fn is_of_a_server(name: &str, config: &Config) -> bool {
    outfitter_tools::split_qualified(name)
        .is_some_and(|(prefix, _)| config.mcp.servers.contains_key(prefix))
}

fn builtin_options(config: &Config) -> BuiltinOptions {
    BuiltinOptions {
        shell: ShellOptions {
            enabled: config.shell.enabled,
            max_timeout: Duration::from_secs(config.shell.max_timeout_seconds.into()),
            max_output_chars: config.shell.max_output_chars as usize,
        },
        files: FilesOptions {
            max_read_bytes: config.files.max_read_bytes.into(),
            admin_open: config.files.admin_open,
        },
    }
}
