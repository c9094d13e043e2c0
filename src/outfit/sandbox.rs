//! The sandbox that the configuration asks for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{
    FilesError, Level, Sandbox, SandboxError, SandboxInfo, Scope, SessionId, chain,
};
use outfitter_net::OwnAddresses;
use outfitter_process::{SpawnError, SupervisorProgram, Support, probe};
use outfitter_sandbox::occupied::Occupied;
use outfitter_sandbox::{
    AllowedHosts, FileLimits, FileQuota, Host, Limits, LocalFiles, LocalPolicy, Protected,
    QuotaCounts, Reach, Session, bwrap, local, passthrough,
};
use outfitter_store::{create_private_dir, path_segment};

use super::files_only::FilesOnly;
use super::{BuildError, Outfitter};
use crate::config::sections::{Backend, Network, Require, Sandbox as Settings};
use crate::env::{self, Environment, Name};

const MIB: u64 = 1024 * 1024;

/// What SQLite adds to the name of its file, and the file itself.
const STORE_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

impl Outfitter {
    /// The sandbox of a session. What this machine can enforce is found out once.
    pub(super) async fn sandbox(
        &self,
        scope: &Scope,
        session: &SessionId,
        workspace: &Path,
    ) -> Result<Arc<dyn Sandbox>, BuildError> {
        self.bound_left_output().await;
        if self.config().sandbox.backend == Backend::Ssh {
            // Boxed: it is large, and most sessions do without it.
            let remote = Box::pin(self.remote(scope, session, workspace)).await?;
            return Ok(Arc::new(remote));
        }
        self.tell_of_elsewhere(scope, session);
        let protected = self.protected(scope, session, workspace);
        let most = self.file_limits(scope, session, workspace);
        let supervisor = self.supervisor.clone().filter(|_| self.runs_commands);
        let Some(supervisor) = supervisor else {
            let why = match &self.supervisor {
                Some(_) => FilesOnly::LEFT_OUT,
                None => FilesOnly::NO_SUPERVISOR,
            };
            return FilesOnly::open(workspace, protected, most, why).map_err(at(workspace));
        };
        let files = LocalFiles::open(workspace, protected)
            .map_err(at(workspace))?
            .with_limits(most);
        let session_dir = self.session_dir(scope, session);
        // Until the sandbox is open, which holds it itself.
        let _entered = enter(&session_dir)?;
        let parts = Session {
            supervisor: supervisor.clone(),
            session_dir,
            files,
            host: host(&self.environment),
            passed: self.passed(),
            limits: limits(&self.config().sandbox),
            clock: self.clock.clone(),
        };
        match self.config().sandbox.backend {
            Backend::Passthrough => {
                unheld(&self.config().sandbox.network)?;
                Ok(Arc::new(
                    passthrough::open(parts).map_err(BuildError::Sandbox)?,
                ))
            }
            backend @ (Backend::Local | Backend::Bwrap | Backend::Ssh) => {
                if parts.files.workspace().parent().is_none() {
                    return Err(BuildError::WholeWorkspace);
                }
                let policy = self.policy(self.support(&supervisor).await?)?;
                let opened = match backend {
                    Backend::Bwrap => bwrap::open(parts, policy).await,
                    Backend::Local | Backend::Passthrough | Backend::Ssh => {
                        local::open(parts, policy)
                    }
                };
                let sandbox = opened.map_err(BuildError::Sandbox)?;
                for left_out in sandbox.left_out() {
                    tracing::warn!("the sandbox leaves something out: {left_out}");
                }
                Ok(Arc::new(sandbox))
            }
        }
    }

    /// A workspace that is the session's own counts whole; of one that was there before, what is
    /// added.
    pub(super) fn file_limits(
        &self,
        scope: &Scope,
        session: &SessionId,
        workspace: &Path,
    ) -> FileLimits {
        let counts = if workspace == self.served_workspace(scope, session) {
            QuotaCounts::Workspace
        } else {
            QuotaCounts::Made
        };
        let quota = self.config().files.quota_mb.map(|most| FileQuota {
            bytes: u64::from(most) * MIB,
            counts,
        });
        FileLimits {
            quota,
            ..FileLimits::default()
        }
    }

    pub(super) async fn support(
        &self,
        supervisor: &SupervisorProgram,
    ) -> Result<Support, BuildError> {
        self.support
            .get_or_try_init(|| probe(supervisor))
            .await
            .cloned()
            .map_err(|error| unavailable(&error))
    }

    fn policy(&self, support: Support) -> Result<LocalPolicy, BuildError> {
        let config = &self.config().sandbox.clone();
        Ok(LocalPolicy {
            support,
            require: match config.require {
                Require::None => Level::None,
                Require::Partial => Level::Partial,
                Require::Full => Level::Full,
            },
            reach: reach(&config.network, &self.own)?,
            read: config.read.clone(),
            write: config.write.clone(),
            data_dir: self.data_dir.clone(),
        })
    }

    /// The variables that the configuration passes on to commands.
    pub(super) fn passed(&self) -> Vec<(OsString, OsString)> {
        let config = self.config();
        let names = config.sandbox.env.iter().map(String::as_str);
        self.environment
            .passed(names)
            .map(|(name, value)| (name.into(), value.to_owned()))
            .collect()
    }

    /// What a sandbox would be here.
    ///
    /// # Errors
    /// [`BuildError`] when there is none.
    pub async fn sandbox_info(&self) -> Result<SandboxInfo, BuildError> {
        let session = SessionId::mint(&*self.clock);
        let scope = self.local_scope();
        let here = self.environment.current_dir();
        let sandbox = self.sandbox(&scope, &session, here).await?;
        let info = sandbox.info().clone();
        drop(sandbox);
        self.forget_session_dir(&scope, &session).await;
        Ok(info)
    }

    /// Whether commands of a session would be held back.
    pub async fn isolates(&self) -> bool {
        match (self.config().sandbox.backend, &self.supervisor) {
            (Backend::Local, Some(supervisor)) => self
                .support(supervisor)
                .await
                .is_ok_and(|support| support.level > outfitter_process::Level::None),
            (Backend::Bwrap, Some(_)) => self.sandbox_info().await.is_ok_and(|info| info.isolating),
            (Backend::Local | Backend::Bwrap | Backend::Ssh | Backend::Passthrough, _) => false,
        }
    }

    /// What no tool reaches, whatever else is opened to it. Our own data is among it, where the
    /// sessions of everybody are kept; but for the workspace of this session where it is served,
    /// which lies in it.
    pub(super) fn protected(
        &self,
        scope: &Scope,
        session: &SessionId,
        workspace: &Path,
    ) -> Protected {
        let secrets = || match self.environment.directory(env::HOME) {
            Some(home) => Protected::of_home(home),
            None => Protected::of_system(),
        };
        let mut list = self.secrets.get_or_init(secrets).clone();
        let served = self.served_workspace(scope, session);
        let own: &[&Path] = if same_place(workspace, &served) {
            &[&served]
        } else {
            &[]
        };
        // The log may lie elsewhere than the rest.
        if let Some(file) = &self.store_file {
            for suffix in STORE_FILES {
                let mut path = file.as_os_str().to_owned();
                path.push(suffix);
                list = list.and_path(Path::new(&path));
            }
        }
        list.and_own_data(&self.data_dir, own)
    }

    /// The scratch folder and the output of commands of a session.
    pub(super) fn session_dir(&self, scope: &Scope, session: &SessionId) -> PathBuf {
        self.session_dirs()
            .join(path_segment(scope.tenant.as_str()))
            .join(path_segment(scope.subject.as_str()))
            .join(session.as_str())
    }
}

/// Makes the directory of a session and is in it, so that nobody takes it for one that was left.
pub(super) fn enter(session_dir: &Path) -> Result<Occupied, BuildError> {
    let data = |source| BuildError::Data {
        path: session_dir.display().to_string(),
        source,
    };
    if let Some(parent) = session_dir.parent() {
        create_private_dir(parent).map_err(data)?;
    }
    Occupied::enter(session_dir).map_err(data)
}

/// Whether two paths lead to one place.
fn same_place(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize();
    one == other || matches!((real(one), real(other)), (Ok(one), Ok(other)) if one == other)
}

fn at(workspace: &Path) -> impl FnOnce(FilesError) -> BuildError {
    let path = workspace.display().to_string();
    |source| match source {
        FilesError::NotFound { .. } => BuildError::NoWorkspace { path },
        source => BuildError::Workspace { path, source },
    }
}

fn unavailable(error: &SpawnError) -> BuildError {
    BuildError::Sandbox(SandboxError::Unavailable {
        reason: chain(error),
        hint: Some(
            "[sandbox] backend = \"passthrough\" runs commands unconfined, each with an approval"
                .to_owned(),
        ),
    })
}

/// Refuses hosts that nothing would keep commands to.
fn unheld(network: &Network) -> Result<(), BuildError> {
    match network {
        Network::All(_) => Ok(()),
        Network::Hosts(_) => Err(BuildError::Sandbox(SandboxError::Unavailable {
            reason: "[sandbox] network cannot be kept to some hosts by the backend passthrough"
                .to_owned(),
            hint: Some("the backends local and bwrap can".to_owned()),
        })),
    }
}

/// What commands reach. The configuration was checked; one that is made in a program may still name
/// what is no host.
pub(super) fn reach(network: &Network, own: &OwnAddresses) -> Result<Reach, BuildError> {
    match network {
        Network::All(false) => Ok(Reach::Nothing),
        Network::All(true) => Ok(Reach::Everything),
        Network::Hosts(hosts) => {
            let hosts = AllowedHosts::parse(hosts.iter().map(String::as_str));
            let hosts = hosts.map_err(|error| {
                BuildError::Sandbox(SandboxError::Unavailable {
                    reason: format!("[sandbox] network: {error}"),
                    hint: None,
                })
            })?;
            Ok(Reach::Hosts(Arc::new(hosts.but_not(own.clone()))))
        }
    }
}

/// What a command and all it starts may use.
pub(super) fn limits(config: &Settings) -> Limits {
    Limits {
        processes: config.processes.into(),
        memory_bytes: config.memory_mb.map(|most| u64::from(most) * MIB),
        cpu_seconds: config.cpu_seconds.map(u64::from),
        ..Limits::DEFAULT
    }
}

/// What the sandbox has to know of our environment.
pub(super) fn host(environment: &Environment) -> Host {
    let directory = |name: Name| environment.directory(name).map(Path::to_owned);
    let text = |name: Name| environment.os(name).map(ToOwned::to_owned);
    Host {
        home: directory(env::HOME),
        path: text(env::PATH),
        lang: text(env::LANG),
        timezone: text(env::TZ),
        cargo_home: directory(env::CARGO_HOME),
        rustup_home: directory(env::RUSTUP_HOME),
        pyenv_root: directory(env::PYENV_ROOT),
        nvm_dir: directory(env::NVM_DIR),
        java_home: directory(env::JAVA_HOME),
        go_root: directory(env::GOROOT),
        virtual_env: directory(env::VIRTUAL_ENV),
    }
}

/// Files beneath a directory, for tests of tools.
pub(crate) fn files_only(root: &Path) -> Result<Arc<dyn Sandbox>, BuildError> {
    let why = FilesOnly::NO_SUPERVISOR;
    FilesOnly::open(root, Protected::of_system(), FileLimits::default(), why).map_err(at(root))
}
