//! No sandbox: commands are supervised and may do whatever we may. Only when it is asked for.

use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    CommandSpec, Exit, Files, JobId, JobInfo, Killed, Level, Offset, OutputChunk, Sandbox,
    SandboxError, SandboxInfo,
};
use outfitter_process::Confinement;

use crate::environment::{Visible, build};
use crate::files::LocalFiles;
use crate::jobs::{Jobs, Manner};
use crate::local::{Session, open_scratch};

/// The name of this backend.
pub const BACKEND: &str = "passthrough";

/// A session's commands on this machine, held back by nothing. They still get a built environment,
/// and their trees still end with them and with the session.
pub struct PassthroughSandbox {
    info: SandboxInfo,
    jobs: Jobs,
    files: LocalFiles,
}

impl PassthroughSandbox {
    /// A session without confinement.
    ///
    /// # Errors
    /// [`SandboxError::Io`] when the session's directory cannot be made.
    pub fn open(session: Session) -> Result<Self, SandboxError> {
        let workspace = session.files.workspace().to_owned();
        let scratch = open_scratch(&session.session_dir)?;
        let environment = build(
            &session.host,
            &scratch,
            &Visible::Everything,
            &session.passed,
        );
        let info = SandboxInfo {
            backend: BACKEND.to_owned(),
            level: Level::None,
            isolating: false,
            missing: vec!["passthrough was asked for: nothing holds a command back".to_owned()],
            workspace: workspace.clone(),
            network: true,
        };
        let manner = Manner {
            supervisor: session.supervisor,
            environment: environment.variables,
            confinement: Confinement::Unconfined,
            protected: session.files.protected().clone(),
            workspace,
            scratch,
            clock: session.clock,
        };
        Ok(Self {
            info,
            jobs: Jobs::new(manner, &session.session_dir)?,
            files: session.files,
        })
    }

    /// Ends every job and waits until they are gone.
    pub async fn close(&self, grace: Duration) {
        self.jobs.end_all(grace).await;
    }
}

#[async_trait]
impl Sandbox for PassthroughSandbox {
    fn info(&self) -> &SandboxInfo {
        &self.info
    }

    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.jobs.spawn(command).await
    }

    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        self.jobs.output(job, from, max, wait).await
    }

    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.jobs.tail(job, max)
    }

    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        self.jobs.wait(job).await
    }

    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.jobs.kill(job, grace).await
    }

    fn jobs(&self) -> Vec<JobInfo> {
        self.jobs.list()
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }
}
