//! Putting the whole together.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use outfitter_core::{
    Clock, ModelProvider, Services, SourceId, SystemClock, Tool, ToolError, ToolSource, Trust,
};
use outfitter_net::OwnAddresses;
use outfitter_process::SupervisorProgram;
use outfitter_skills::{SkillCatalog, SkillSource};
use outfitter_store::StoreUrl;
use outfitter_tools::{NativeSource, Pipeline, Preset, PresetContext, Presets, ToolRegistry};
use serde_json::Value;

use super::connections::Connections;
use super::left::LastLook;
use super::{BuildError, Outfitter, names, pictures, settings, skills};
use crate::config::Config;
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
    presets: Presets,
    services: Services,
    model: Option<Arc<dyn ModelProvider>>,
    clock: Arc<dyn Clock>,
    supervisor: Option<SupervisorProgram>,
    sessions: Sessions,
    runs_commands: bool,
}

/// Where sessions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sessions {
    /// Where the configuration says.
    Stored,
    /// In memory, until the program ends.
    Unstored,
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
            presets: Presets::default(),
            services: Services::default(),
            model: None,
            clock: Arc::new(SystemClock),
            supervisor: None,
            sessions: Sessions::Stored,
            runs_commands: true,
        }
    }

    /// Keeps sessions and artifacts in memory only. What people approved for longer is still where
    /// the configuration says, and holds.
    #[must_use]
    pub(crate) fn without_sessions(mut self) -> Self {
        self.sessions = Sessions::Unstored;
        self
    }

    /// Gives sessions files and no commands, because nothing here holds commands back.
    #[must_use]
    pub(crate) fn without_commands(mut self) -> Self {
        self.config.shell.enabled = false;
        self.runs_commands = false;
        self
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

    /// Sets an argument of a tool to what `compute` gives for each call, as `[tools] presets` of a
    /// configuration sets it to a constant, and over it. No model sees the parameter; one that
    /// gives it is refused.
    ///
    /// ```
    /// use outfitter::config::Config;
    /// use outfitter::{Builder, env::Environment};
    ///
    /// let builder = Builder::new(Config::default(), Environment::default())
    ///     .preset("current_time", "timezone", |_| Ok("Europe/Berlin".into()));
    /// ```
    #[must_use]
    pub fn preset(
        mut self,
        tool: &str,
        parameter: &str,
        compute: impl Fn(&PresetContext<'_>) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let preset = Preset::Computed(Arc::new(compute));
        self.presets.set(tool, parameter, preset);
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
        let store_file = match &url {
            StoreUrl::Sqlite(path) => std::path::absolute(path).ok(),
            StoreUrl::Memory => None,
        };
        let mut store = outfitter_store::open(&url, &data_dir, self.clock.clone());
        let stored = store.log.clone();
        if self.sessions == Sessions::Unstored {
            let unstored = outfitter_store::open(&StoreUrl::Memory, &data_dir, self.clock.clone());
            store.log = unstored.log;
            store.artifacts = unstored.artifacts;
        }
        let skills = skills::catalog(&self.config, &self.environment);
        let mut sources = self.sources;
        let catalog = skills.as_ref().ok().cloned().unwrap_or_default();
        sources.push(Arc::new(SkillSource::new(catalog)));
        let own = own_addresses(&self.config);
        let builtin = Arc::new(NativeSource::new(
            source_id("builtin")?,
            Trust::Builtin,
            settings::builtin(&self.config, &own),
        ));
        sources.insert(0, builtin.clone());
        let registry = registry(&self.config, &self.presets, self.tools, sources)?;
        // Whatever is wrong is said at once.
        let presets = settings::presets(&self.config, &self.presets);
        let mut wrong = names::wrong(&self.config, &registry, &presets);
        let skills = match skills {
            Ok(skills) => skills,
            Err(BuildError::Names(more)) => {
                wrong.extend(more);
                SkillCatalog::new()
            }
            Err(error) => return Err(error),
        };
        if !wrong.is_empty() {
            return Err(BuildError::Names(wrong));
        }
        let pipeline = Pipeline::new(settings::pipeline_options(&self.config, &self.environment));
        settings::count_tokens(&self.config);
        let config = Arc::new(self.config);
        let supervisor = self.supervisor.as_ref();
        let services = pictures::among(self.services, supervisor, &self.environment);
        Ok(Outfitter {
            config: Mutex::new(config.clone()),
            first: config,
            reloading: Mutex::new(()),
            builtin,
            presets: self.presets,
            agents: Mutex::default(),
            environment: self.environment,
            data_dir,
            store_file,
            registry,
            pipeline: Arc::new(pipeline),
            log: store.log,
            stored,
            artifacts: store.artifacts,
            approvals: store.approvals,
            clock: self.clock,
            services,
            model: self.model,
            supervisor: self.supervisor,
            runs_commands: self.runs_commands,
            secrets: std::sync::OnceLock::new(),
            support: tokio::sync::OnceCell::new(),
            skills,
            programs: Arc::default(),
            own,
            connections: Connections::default(),
            last_look: LastLook::default(),
        })
    }
}

/// Where this program listens: now or, as the configuration says, once it serves, by this process
/// or another.
fn own_addresses(config: &Config) -> OwnAddresses {
    let own = OwnAddresses::default();
    let bind = config.server.bind.parse::<SocketAddr>().ok();
    if let Some(bind) = bind.filter(|bind| bind.port() != 0) {
        own.add(bind);
    }
    own
}

fn source_id(name: &str) -> Result<SourceId, BuildError> {
    SourceId::new(name).map_err(BuildError::SourceName)
}

fn registry(
    config: &Config,
    presets: &Presets,
    own: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
) -> Result<ToolRegistry, BuildError> {
    let registry = ToolRegistry::new(settings::tools_config(config, config, presets));
    let linked = NativeSource::linked(source_id("linked")?, Trust::Operator, |_| true);
    registry.add(Arc::new(linked))?;
    if !own.is_empty() {
        registry.add(Arc::new(NativeSource::new(
            source_id("application")?,
            Trust::Operator,
            own,
        )))?;
    }
    for source in sources {
        registry.add(source)?;
    }
    Ok(registry)
}
