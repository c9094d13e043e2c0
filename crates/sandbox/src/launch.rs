//! How the commands of a session are started on this machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{CommandLine, CommandSpec, FilesError, JobId, SandboxError};
use outfitter_process::{ChildSpec, Limits, SpawnError, Spawned, SupervisorProgram, spawn};
use tokio::task::JoinSet;

use crate::bwrap::Ready;
use crate::environment::set;
use crate::files::LocalFiles;
use crate::hold::Hold;
use crate::jobs::MAX_RUNNING_JOBS;
use crate::network::AllowedHosts;
use crate::network::proxy::{Refusals, serve};
use crate::protected::Protected;
use crate::running::{Running, Started};
use crate::scratch::Scratch;
use crate::view::View;

/// The shell of [`CommandLine::Shell`].
pub(crate) const SHELL: &str = "/bin/sh";

/// Starts commands, wherever that is.
#[async_trait]
pub(crate) trait Launch: Send + Sync {
    /// How many may run at once.
    fn most(&self) -> usize;

    /// Starts one. When it is refused nothing has run.
    async fn start(&self, id: &JobId, command: &CommandSpec) -> Result<Running, SandboxError>;

    /// What commands may reach, where something holds them.
    fn view(&self) -> Option<Arc<View>> {
        None
    }

    /// What a command may use, where something of this machine holds it.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Where a command of this working directory begins, for what is said of relative paths.
    fn workdir(&self, workdir: &str) -> PathBuf {
        PathBuf::from(workdir)
    }
}

/// How every command of the session is run.
pub(crate) struct Manner {
    pub(crate) supervisor: SupervisorProgram,
    pub(crate) workspace: PathBuf,
    /// Those of the session: a command works on the same ones, or not at all.
    pub(crate) files: LocalFiles,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) hold: Hold,
    pub(crate) limits: Limits,
    /// The hosts that commands may reach, where they have a way out of a network of their own.
    pub(crate) hosts: Option<Arc<AllowedHosts>>,
    /// Hidden from confined commands, or kept from being written, as far as it exists when they
    /// start.
    pub(crate) protected: Protected,
    /// What commands may reach, where something holds them.
    pub(crate) view: Option<Arc<View>>,
    pub(crate) scratch: Scratch,
}

#[async_trait]
impl Launch for Manner {
    fn most(&self) -> usize {
        MAX_RUNNING_JOBS
    }

    async fn start(&self, _: &JobId, command: &CommandSpec) -> Result<Running, SandboxError> {
        self.scratch.restore().map_err(|source| SandboxError::Io {
            doing: "restore the scratch folder".to_owned(),
            source,
        })?;
        if command.workdir.contains('\0') {
            return Err(SandboxError::Invalid(
                "the working directory contains a zero byte".to_owned(),
            ));
        }
        let workdir = self.workdir(&command.workdir);
        self.files.must_be_in_place().map_err(displaced)?;
        let (spec, ready) = self.child(command, workdir)?;
        let starting = async {
            let spawned = spawn(&self.supervisor, spec).await;
            let mut spawned = spawned.map_err(sandbox_error)?;
            if let Some(ready) = ready {
                ready.wait(&mut spawned).await?;
            }
            Ok(spawned)
        };
        // Let go of, it ends what there is of it.
        let spawned = tokio::time::timeout(command.timeout, starting).await;
        let spawned = spawned.unwrap_or_else(|_| Err(not_in_time(command.timeout)))?;
        let started = self.open_outlet(spawned)?;
        Ok(Running::Here(Box::new(started)))
    }

    fn view(&self) -> Option<Arc<View>> {
        self.view.clone()
    }

    fn limits(&self) -> Option<Limits> {
        Some(self.limits)
    }

    fn workdir(&self, workdir: &str) -> PathBuf {
        match workdir {
            "" | "." => self.workspace.clone(),
            // An absolute one replaces it: whether a command may be there is for the sandbox.
            other => self.workspace.join(other),
        }
    }
}

impl Manner {
    /// Opens the command's way out, if it has one.
    fn open_outlet(&self, mut spawned: Spawned) -> Result<Started, SandboxError> {
        let mut ways = JoinSet::new();
        let refusals = Refusals::default();
        if let Some((listener, hosts)) = spawned.outlet.take().zip(self.hosts.clone()) {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|source| SandboxError::Io {
                    doing: "open the command's way to the network".to_owned(),
                    source,
                })?;
            ways.spawn(serve(listener, hosts, refusals.clone()));
        }
        Ok(Started::new(spawned, refusals, ways))
    }

    fn child(
        &self,
        command: &CommandSpec,
        cwd: PathBuf,
    ) -> Result<(ChildSpec, Option<Ready>), SandboxError> {
        let mut env = self.environment.clone();
        for (name, value) in &command.env {
            set(&mut env, name, value.into());
        }
        let argv = match &command.command {
            CommandLine::Shell(line) => vec![SHELL.into(), "-c".into(), line.into()],
            CommandLine::Program(words) => words.iter().map(OsString::from).collect(),
        };
        let held = self.hold.hold(argv, env, cwd, &self.protected)?;
        let spec = ChildSpec {
            argv: held.argv,
            env: held.env,
            cwd: held.cwd,
            stdin: held.stdin,
            confinement: held.confinement,
            limits: self.limits,
        };
        Ok((spec, held.ready))
    }
}

/// A workspace that is not what it was: what ran there would run on something else.
fn displaced(error: FilesError) -> SandboxError {
    SandboxError::Unavailable {
        reason: match error {
            FilesError::Unavailable { why } => why,
            other => other.to_string(),
        },
        hint: None,
    }
}

/// A command that had less time than it takes to start it here and now.
fn not_in_time(timeout: Duration) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!(
            "the command did not run before its time of {} s was over, and was ended",
            timeout.as_secs_f64()
        ),
        hint: Some("give it more time, or try again when the machine has less to do".to_owned()),
    }
}

/// Which of the two it was: the command's fault, or the sandbox's.
pub(crate) fn sandbox_error(error: SpawnError) -> SandboxError {
    use outfitter_process::Stage;
    match error {
        SpawnError::Invalid(why) => SandboxError::Invalid(why.to_owned()),
        SpawnError::Io { what, source } => SandboxError::Io {
            doing: what.to_owned(),
            source,
        },
        // Never elsewhere instead: what was meant for one directory can be the ruin of another.
        SpawnError::Setup {
            stage: Stage::WorkingDirectory,
            detail,
            source,
        } => SandboxError::Workdir(format!(
            "its working directory {detail} cannot be entered ({source}), and nothing was run"
        )),
        SpawnError::Setup {
            stage: stage @ Stage::Execute,
            detail,
            source,
        } => {
            let on = if detail.is_empty() {
                String::new()
            } else {
                format!(" {detail}")
            };
            SandboxError::Invalid(format!("{stage}{on}: {source}"))
        }
        SpawnError::Setup { ref source, .. } => SandboxError::Unavailable {
            reason: format!("{error}: {source}"),
            hint: None,
        },
        other => SandboxError::Unavailable {
            reason: other.to_string(),
            hint: None,
        },
    }
}
