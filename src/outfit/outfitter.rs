//! The whole, put together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::{Agent, AgentParts, AgentSettings, Limits, ProgressSettings};
use outfitter_core::{
    ArtifactStore, Clock, Code, ErrorInfo, Log, ModelProvider, Scope, Services, SessionId,
};
use outfitter_process::{SupervisorProgram, Support};
use outfitter_skills::SkillCatalog;
use outfitter_store::{create_private_dir, path_segment};
use outfitter_tools::{Pipeline, SourceFault, ToolRegistry};

use super::connect::Connected;
use super::model::{self, NoModel};
use super::session::LOCAL;
use super::{BuildError, SessionInUse, SessionLock, prompt};
use crate::config::Config;
use crate::env::Environment;

/// Everything of a process, put together from its configuration. Files are made at first use.
pub struct Outfitter {
    pub(super) config: Config,
    pub(super) environment: Environment,
    pub(super) data_dir: PathBuf,
    pub(super) registry: ToolRegistry,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) log: Arc<dyn Log>,
    pub(super) artifacts: Arc<dyn ArtifactStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) services: Services,
    pub(super) model: Option<Arc<dyn ModelProvider>>,
    pub(super) supervisor: Option<SupervisorProgram>,
    /// What this machine can enforce, once it has been asked.
    pub(super) support: tokio::sync::OnceCell<Support>,
    pub(super) skills: SkillCatalog,
    /// What is connected, once the first session was opened.
    pub(super) connected: tokio::sync::OnceCell<Connected>,
}

impl Outfitter {
    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
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
        match &self.model {
            Some(model) => Ok(model.clone()),
            None => model::provider(&self.config, &self.environment).map_err(BuildError::Model),
        }
    }

    /// The loop, with its model.
    ///
    /// # Errors
    /// [`BuildError::Model`] when the model cannot be set up.
    pub fn agent(&self) -> Result<Agent, BuildError> {
        Ok(self.agent_with(self.model()?))
    }

    /// The loop for direct calls, which need no model.
    #[must_use]
    pub fn caller(&self) -> Agent {
        let why = ErrorInfo::new(Code::Internal, "a direct call has no model");
        self.agent_with(Arc::new(NoModel::because(why)))
    }

    fn agent_with(&self, model: Arc<dyn ModelProvider>) -> Agent {
        let agent = &self.config.agent;
        let progress = &self.config.progress;
        Agent::new(AgentParts {
            services: self
                .services
                .clone()
                .with::<dyn ModelProvider>(model.clone()),
            model,
            pipeline: self.pipeline.clone(),
            log: self.log.clone(),
            artifacts: self.artifacts.clone(),
            clock: self.clock.clone(),
            settings: AgentSettings {
                system_prompt: self.system_prompt(),
                limits: Limits {
                    max_turns: agent.max_turns,
                    max_total_tokens: agent.max_total_tokens,
                    identical_failures: agent.identical_failure_limit,
                },
                max_tool_concurrency: agent.max_tool_concurrency as usize,
                progress: ProgressSettings {
                    enabled: progress.enabled,
                    flush_interval: Duration::from_millis(progress.flush_interval_ms.into()),
                    flush_bytes: progress.flush_bytes as usize,
                },
            },
        })
    }

    /// The loop of a server: where the model cannot be set up, direct calls work all the same, and
    /// runs say why they do not.
    #[must_use]
    pub fn served_agent(&self) -> Agent {
        self.agent()
            .unwrap_or_else(|error| self.agent_with(Arc::new(NoModel::because(error.to_info()))))
    }

    /// What every session is told first.
    pub(super) fn system_prompt(&self) -> Arc<str> {
        let own = self.config.agent.system_prompt.as_deref();
        own.unwrap_or(prompt::DEFAULT).into()
    }

    /// Holds a session of the person at this machine for this process, so that no other works on
    /// it meanwhile.
    ///
    /// # Errors
    /// [`BuildError::Data`] when the lock cannot be made; the inner [`SessionInUse`] when another
    /// process holds it.
    pub fn hold(
        &self,
        session: &SessionId,
    ) -> Result<Result<SessionLock, SessionInUse>, BuildError> {
        self.hold_in(&self.local_scope(), session)
    }

    /// The same for a session of anybody.
    pub(super) fn hold_in(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Result<SessionLock, SessionInUse>, BuildError> {
        let dir = self
            .data_dir
            .join("locks")
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()));
        let data = |source| BuildError::Data {
            path: dir.display().to_string(),
            source,
        };
        create_private_dir(&dir).map_err(data)?;
        SessionLock::take(&dir, session).map_err(data)
    }

    /// Removes what a session of the person at this machine left on disk beside its log.
    pub async fn forget(&self, session: &SessionId) {
        self.forget_session_dir(&self.local_scope(), session).await;
    }

    /// Deletes a session with its artifacts and its scratch folder.
    ///
    /// # Errors
    /// [`outfitter_core::StoreError`] when there is none, or it cannot be deleted.
    pub async fn delete(&self, session: &SessionId) -> Result<(), outfitter_core::StoreError> {
        let scope = self.local_scope();
        self.log.delete(&scope, session).await?;
        if let Err(error) = self.artifacts.delete_session(&scope, session).await {
            tracing::warn!(%error, %session, "artifacts of a deleted session stay behind");
        }
        self.forget_session_dir(&scope, session).await;
        Ok(())
    }
}
