//! The whole, put together.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use outfitter_agent::{Agent, AgentParts, Inbox, PartsSwitch, Standing};
use outfitter_builtin::{Contacts, Messenger, PolishModel};
use outfitter_core::{
    ApprovalStore, ArtifactStore, Clock, Log, ModelProvider, Scope, Services, SessionId,
};
use outfitter_net::OwnAddresses;
use outfitter_process::{SupervisorProgram, Support};
use outfitter_skills::SkillCatalog;
use outfitter_store::{create_private_dir, path_segment};
use outfitter_tools::{NativeSource, Pipeline, Presets, SourceFault, ToolRegistry};

use super::channels::{Inboxes, channels};
use super::connections::Connections;
use super::contacts::{Programs, ProjectContacts};
use super::left::LastLook;
use super::lock::Purpose;
use super::model::{self, NoModel, OnDemand};
use super::session::LOCAL;
use super::{BuildError, NotHeld, SessionLock, settings};
use crate::config::Config;
use crate::env::Environment;

/// Everything of a process, put together from its configuration. Files are made at first use.
pub struct Outfitter {
    /// As it was loaded last; what needs a restart is as it was at the beginning.
    pub(super) config: Mutex<Arc<Config>>,
    /// As it was at the beginning.
    pub(super) first: Arc<Config>,
    /// One reload at a time.
    pub(super) reloading: Mutex<()>,
    /// The tools that every installation has, as the configuration wants them.
    pub(super) builtin: Arc<NativeSource>,
    /// What the program itself sets of arguments.
    pub(super) presets: Presets,
    /// The agents that were made, to be told of a reload.
    pub(super) agents: Mutex<Vec<(Kind, PartsSwitch)>>,
    pub(super) environment: Environment,
    pub(super) data_dir: PathBuf,
    /// The file of the log, where it is one.
    pub(super) store_file: Option<PathBuf>,
    pub(super) registry: ToolRegistry,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) log: Arc<dyn Log>,
    /// Where the sessions of this installation are, also where what is done is kept in memory.
    pub(super) stored: Arc<dyn Log>,
    pub(super) artifacts: Arc<dyn ArtifactStore>,
    pub(super) approvals: Arc<dyn ApprovalStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) services: Services,
    pub(super) model: Option<Arc<dyn ModelProvider>>,
    pub(super) supervisor: Option<SupervisorProgram>,
    /// Whether sessions have commands at all.
    pub(super) runs_commands: bool,
    /// What of this machine and this home nobody reaches, once it has been listed.
    pub(super) secrets: std::sync::OnceLock<outfitter_sandbox::Protected>,
    /// What this machine can enforce, once it has been asked.
    pub(super) support: tokio::sync::OnceCell<Support>,
    pub(super) skills: SkillCatalog,
    /// The programs of the project, once they were asked what they can do.
    pub(super) programs: Programs,
    /// Where this process listens itself.
    pub(super) own: OwnAddresses,
    /// What is connected, once it was needed.
    pub(super) connections: Connections,
    pub(super) last_look: LastLook,
}

const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs with a model.
    Runs,
    /// Runs with a model where it can be set up.
    Serves,
    /// Direct calls.
    Calls,
}

impl Outfitter {
    /// The configuration as it is now.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        let config = self.config.lock();
        config.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every source and every name.
    #[must_use]
    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// What sources could not offer, and why.
    #[must_use]
    pub fn faults(&self) -> Vec<SourceFault> {
        self.registry.faults()
    }

    /// Where sessions are kept.
    #[must_use]
    pub fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// Where content too large or too binary to inline is kept.
    #[must_use]
    pub fn artifacts(&self) -> &Arc<dyn ArtifactStore> {
        &self.artifacts
    }

    /// What time it is.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Where everything that is kept lives.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The scope of the person at this machine.
    #[must_use]
    pub fn local_scope(&self) -> Scope {
        Scope {
            tenant: LOCAL.into(),
            subject: LOCAL.into(),
        }
    }

    /// The model that the configuration names, or the one that was given.
    ///
    /// # Errors
    /// [`BuildError::Model`] when it cannot be set up.
    pub fn model(&self) -> Result<Arc<dyn ModelProvider>, BuildError> {
        self.model_of(&self.config())
    }

    pub(super) fn model_of(&self, config: &Config) -> Result<Arc<dyn ModelProvider>, BuildError> {
        match &self.model {
            Some(model) => Ok(model.clone()),
            None => model::provider(config, &self.environment).map_err(BuildError::Model),
        }
    }

    /// The loop, with its model.
    ///
    /// # Errors
    /// [`BuildError::Model`] when the model cannot be set up.
    pub fn agent(&self) -> Result<Agent, BuildError> {
        self.agent_of(Kind::Runs)
    }

    /// The loop for direct calls. Most need no model; one that does has the configured one, and is
    /// told why where that cannot be set up.
    #[must_use]
    pub fn caller(&self) -> Agent {
        let config = self.config();
        let model = self.model_on_demand(&config);
        self.registered(Kind::Calls, self.parts(model, &config))
    }

    /// The loop of a server: where the model cannot be set up, direct calls work all the same, and
    /// runs say why they do not.
    #[must_use]
    pub fn served_agent(&self) -> Agent {
        let config = self.config();
        let model = self.served_model(&config);
        self.registered(Kind::Serves, self.parts(model, &config))
    }

    fn agent_of(&self, kind: Kind) -> Result<Agent, BuildError> {
        let config = self.config();
        let model = self.model_of(&config)?;
        Ok(self.registered(kind, self.parts(model, &config)))
    }

    pub(super) fn served_model(&self, config: &Config) -> Arc<dyn ModelProvider> {
        self.model_of(config)
            .unwrap_or_else(|error| Arc::new(NoModel::because(error.to_info())))
    }

    pub(super) fn model_on_demand(&self, config: &Arc<Config>) -> Arc<dyn ModelProvider> {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let (config, environment) = (config.clone(), self.environment.clone());
        Arc::new(OnDemand::new(move || {
            model::provider(&config, &environment).unwrap_or_else(|error| {
                let error = BuildError::Model(error);
                Arc::new(NoModel::because(error.to_info()))
            })
        }))
    }

    fn registered(&self, kind: Kind, parts: AgentParts) -> Agent {
        let agent = Agent::new(parts);
        let agents = self.agents.lock();
        let mut agents = agents.unwrap_or_else(PoisonError::into_inner);
        agents.retain(|(_, agent)| agent.is_there());
        agents.push((kind, agent.switch()));
        drop(agents);
        agent
    }

    /// The seams of the application, and those that the configuration makes where it has none of
    /// its own.
    fn seams(&self, config: &Config) -> Services {
        let mut services = self.services.clone();
        let inboxes = Inboxes::new(&self.data_dir, self.stored.clone());
        if services.get::<dyn Messenger>().is_none()
            && let Some(messenger) = channels(config, &self.data_dir, &inboxes, &self.clock)
        {
            services = services.with(messenger);
        }
        // What waits is told also when its channel is gone.
        if services.get::<dyn Inbox>().is_none() {
            services = services.with::<dyn Inbox>(Arc::new(inboxes));
        }
        if services.get::<PolishModel>().is_none()
            && let Some(model) = model::polisher(config, &self.environment)
        {
            services = services.with(Arc::new(PolishModel(model)));
        }
        if services.get::<dyn Contacts>().is_none()
            && let Some(source) = &config.contacts.source
        {
            services = services.with::<dyn Contacts>(Arc::new(ProjectContacts {
                source: source.clone(),
                programs: self.programs.clone(),
                max_results: config.search.max_results as usize,
            }));
        }
        if services.get::<Standing>().is_none() {
            services = services.with(Arc::new(self.standing_of(config)));
        }
        services
    }

    /// What people approved for longer than a session.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing_of(&self.config())
    }

    fn standing_of(&self, config: &Config) -> Standing {
        Standing {
            store: self.approvals.clone(),
            lasts: DAY * config.permissions.always_days,
            own_workspaces: self.workspaces(),
        }
    }

    pub(super) fn parts(&self, model: Arc<dyn ModelProvider>, config: &Config) -> AgentParts {
        AgentParts {
            services: self.seams(config).with::<dyn ModelProvider>(model.clone()),
            model,
            pipeline: self.pipeline.clone(),
            log: self.log.clone(),
            artifacts: self.artifacts.clone(),
            clock: self.clock.clone(),
            settings: settings::agent_settings(config),
        }
    }

    /// Holds a session of the person at this machine for this process, so that no other works on
    /// it meanwhile.
    ///
    /// # Errors
    /// [`BuildError::Data`] when the lock cannot be made; the inner [`NotHeld`] when another
    /// process holds it, or it is half deleted.
    pub fn hold(&self, session: &SessionId) -> Result<Result<SessionLock, NotHeld>, BuildError> {
        self.hold_in(Purpose::Work, &self.local_scope(), session)
    }

    /// The same to [delete](Self::delete) it, also where its deletion was broken off.
    ///
    /// # Errors
    /// [`BuildError::Data`] when the lock cannot be made; the inner [`NotHeld::InUse`] when another
    /// process holds it.
    pub fn hold_to_delete(
        &self,
        session: &SessionId,
    ) -> Result<Result<SessionLock, NotHeld>, BuildError> {
        self.hold_in(Purpose::Deletion, &self.local_scope(), session)
    }

    /// The same for a session of anybody.
    pub(super) fn hold_in(
        &self,
        purpose: Purpose,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Result<SessionLock, NotHeld>, BuildError> {
        let dir = self.locks(scope);
        let data = |source| BuildError::Data {
            path: dir.display().to_string(),
            source,
        };
        create_private_dir(&dir).map_err(data)?;
        SessionLock::take_for(purpose, &dir, session).map_err(data)
    }

    pub(super) fn locks(&self, scope: &Scope) -> PathBuf {
        self.data_dir
            .join("locks")
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()))
    }
}
