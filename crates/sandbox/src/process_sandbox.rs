//! A sandbox whose commands are processes and whose files are files of one machine, this one or
//! another, however the commands are held.

use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    CommandSpec, Exit, Files, JobId, JobInfo, Killed, Offset, OutputChunk, Sandbox, SandboxError,
    SandboxInfo,
};

use crate::files::LocalFiles;
use crate::files::remote::RemoteFiles;
use crate::jobs::Jobs;

/// A session's sandbox, as [`local`](crate::local), [`bwrap`](crate::bwrap),
/// [`passthrough`](crate::passthrough) and [`ssh`](crate::ssh) open it. Its jobs end when it is
/// dropped; those of another machine, because that notices the end of the connection.
pub struct ProcessSandbox {
    pub(crate) info: SandboxInfo,
    pub(crate) jobs: Jobs,
    pub(crate) files: SessionFiles,
    pub(crate) left_out: Vec<String>,
    /// What the other machine says of its system, where it is another.
    pub(crate) machine: Option<String>,
}

/// The files of a session.
pub(crate) enum SessionFiles {
    Here(LocalFiles),
    There(RemoteFiles),
}

impl ProcessSandbox {
    /// What was asked for and left out, one sentence each, for diagnostics.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What the other machine says of its system, as `uname -sr` has it; none where the commands
    /// are processes of this one.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
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
        // What it writes counts with what file tools write, as long as it may.
        let writing = match &self.files {
            SessionFiles::Here(files) => files.command_begins(),
            SessionFiles::There(files) => files.command_begins(),
        };
        self.jobs.spawn(command, writing).await
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
        match &self.files {
            SessionFiles::Here(files) => files,
            SessionFiles::There(files) => files,
        }
    }
}
