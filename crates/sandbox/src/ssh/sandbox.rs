//! The backend: commands of a session on another machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Clock, CommandSpec, Exit, Files, JobId, JobInfo, Killed, Level, Offset, OutputChunk,
    RefusingSandbox, Sandbox, SandboxError, SandboxInfo,
};

use super::connection::{Connection, Remote, lost};
use super::jobs::Jobs;
use super::script::line;

/// The name of this backend.
pub const BACKEND: &str = "ssh";

/// What a session on another machine is opened with.
pub struct SshSession {
    /// The machine.
    pub remote: Remote,
    /// A directory here, for the output of commands.
    pub session_dir: PathBuf,
    /// The variables that commands get beside the usual ones.
    pub passed: Vec<(String, String)>,
    /// The least that must hold a command back. More than [`Level::None`] is a refusal.
    pub require: Level,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// A session's sandbox on another machine. Its jobs end when it is dropped: the other machine
/// notices that the connection is gone.
pub struct SshSandbox {
    info: SandboxInfo,
    jobs: Jobs,
    /// No file tool works there yet.
    files: RefusingSandbox,
}

/// Connects, and looks whether the workspace is there.
///
/// # Errors
/// [`SandboxError::Unavailable`] where more confinement is required than an account gives, where
/// the host is not the known one, cannot be reached or does not take the key, or where it has no
/// such workspace.
pub async fn open(session: SshSession) -> Result<SshSandbox, SandboxError> {
    if session.require > Level::None {
        return Err(SandboxError::Unavailable {
            reason: format!(
                "ssh reaches the level none, and {} is required: nothing confines a command \
                 within its account on the other machine",
                session.require.as_str()
            ),
            hint: Some("[sandbox] require = \"none\" if that account may be used whole".to_owned()),
        });
    }
    if !session.remote.workspace.starts_with('/') {
        return Err(SandboxError::Unavailable {
            reason: "the workspace on the other machine is not an absolute path".to_owned(),
            hint: None,
        });
    }
    let connection = Arc::new(Connection::new(session.remote)?);
    let look = line(
        "cd -P -- \"$1\" 2>/dev/null && [ -w . ] && [ -r /proc/self/stat ] && echo ready",
        [connection.workspace()],
    );
    if !connection
        .ask(look)
        .await?
        .lines()
        .any(|said| said == "ready")
    {
        return Err(lost(format!(
            "{} is no directory there that can be written, or there is no /proc",
            connection.workspace()
        )));
    }
    let info = SandboxInfo {
        backend: BACKEND.to_owned(),
        level: Level::None,
        isolating: false,
        missing: vec![
            "nothing confines a command within its account on the other machine".to_owned(),
        ],
        workspace: connection.workspace().into(),
        network: true,
    };
    Ok(SshSandbox {
        info,
        jobs: Jobs::new(
            connection,
            &session.session_dir,
            session.passed,
            session.clock,
        )?,
        files: RefusingSandbox::new(),
    })
}

impl SshSandbox {
    /// Ends every job and waits until they are gone.
    pub async fn close(&self, grace: Duration) {
        self.jobs.end_all(grace).await;
    }
}

#[async_trait]
impl Sandbox for SshSandbox {
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
        self.jobs.find(job)?.output(from, max, wait).await
    }

    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.jobs.find(job)?.tail(max)
    }

    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        Ok(self.jobs.find(job)?.ended().await.exit)
    }

    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.jobs.kill(job, grace).await
    }

    fn jobs(&self) -> Vec<JobInfo> {
        self.jobs.list()
    }

    fn files(&self) -> &dyn Files {
        self.files.files()
    }
}
