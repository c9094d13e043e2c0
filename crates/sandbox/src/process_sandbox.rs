//! A sandbox whose commands are processes of this machine and whose files are its files, however
//! the commands are held.

use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    CommandSpec, Exit, Files, JobId, JobInfo, Killed, Offset, OutputChunk, Sandbox, SandboxError,
    SandboxInfo,
};

use crate::files::LocalFiles;
use crate::jobs::Jobs;

/// A session's sandbox on this machine, as [`local`](crate::local), [`bwrap`](crate::bwrap) and
/// [`passthrough`](crate::passthrough) open it. Its jobs end when it is dropped.
pub struct ProcessSandbox {
    pub(crate) info: SandboxInfo,
    pub(crate) jobs: Jobs,
    pub(crate) files: LocalFiles,
    pub(crate) left_out: Vec<String>,
}

impl ProcessSandbox {
    /// What was asked for and left out, one sentence each, for diagnostics.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Ends every job and waits until they are gone: the quiet end of a session. Dropping it ends
    /// them, too, and does not wait.
    pub async fn close(&self, grace: Duration) {
        self.jobs.end_all(grace).await;
    }
}

#[async_trait]
impl Sandbox for ProcessSandbox {
    fn info(&self) -> &SandboxInfo {
        &self.info
    }

    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.jobs.spawn(command, self.files.command_begins()).await
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
