//! A sandbox with files and without commands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    CommandSpec, Exit, Files, FilesError, JobId, JobInfo, Killed, Level, Offset, OutputChunk,
    Sandbox, SandboxError, SandboxInfo,
};
use outfitter_sandbox::{FileLimits, LocalFiles, Protected};

/// Files beneath one directory; commands are refused.
pub(crate) struct FilesOnly {
    /// Why there are no commands.
    why: &'static str,
    info: SandboxInfo,
    files: LocalFiles,
}

impl FilesOnly {
    /// Nobody gave a supervisor.
    pub(crate) const NO_SUPERVISOR: &'static str = "there is no program that supervises commands";

    /// They were left out.
    pub(crate) const LEFT_OUT: &'static str =
        "commands are left out, because nothing here holds them back";

    /// One over this directory, without commands because of this.
    pub(crate) fn open(
        root: &Path,
        protected: Protected,
        limits: FileLimits,
        why: &'static str,
    ) -> Result<Arc<dyn Sandbox>, FilesError> {
        let files = LocalFiles::open(root, protected)?.with_limits(limits);
        let info = SandboxInfo {
            backend: "none".to_owned(),
            level: Level::None,
            isolating: false,
            missing: vec![why.to_owned()],
            workspace: files.workspace().to_owned(),
            network: false,
            account: None,
        };
        Ok(Arc::new(Self { why, info, files }))
    }

    fn refuse<T>(&self) -> Result<T, SandboxError> {
        let hint = (self.why == Self::NO_SUPERVISOR).then_some("give the Builder a supervisor");
        Err(SandboxError::Unavailable {
            reason: self.why.to_owned(),
            hint: hint.map(str::to_owned),
        })
    }
}

#[async_trait]
impl Sandbox for FilesOnly {
    fn info(&self) -> &SandboxInfo {
        &self.info
    }

    async fn spawn(&self, _: CommandSpec) -> Result<JobId, SandboxError> {
        self.refuse()
    }

    async fn output(
        &self,
        job: &JobId,
        _: Offset,
        _: usize,
        _: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        Err(SandboxError::NotFound(job.clone()))
    }

    async fn tail(&self, job: &JobId, _: usize) -> Result<OutputChunk, SandboxError> {
        Err(SandboxError::NotFound(job.clone()))
    }

    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        Err(SandboxError::NotFound(job.clone()))
    }

    async fn kill(&self, job: &JobId, _: Duration) -> Result<Killed, SandboxError> {
        Err(SandboxError::NotFound(job.clone()))
    }

    fn jobs(&self) -> Vec<JobInfo> {
        Vec::new()
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }
}
