//! Sandboxes to test with: through the library as ourselves, and through the testkit binary as
//! ourselves and as nobody.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use outfitter_core::{CommandLine, CommandSpec, Level, Offset, Sandbox, Stream, SystemClock};
use outfitter_sandbox::{
    Host, Limits, LocalFiles, LocalPolicy, Protected, Reach, Session, SupervisorProgram, Support,
    bwrap, local, passthrough, probe,
};
use tempfile::TempDir;

use crate::ssh::server::Server;

const TESTKIT: &str = env!("CARGO_BIN_EXE_outfitter-sandbox-testkit");
const NOBODY: u32 = 65_534;

/// Long enough for any machine; a test that needs it has failed.
pub(crate) const LIVENESS: Duration = Duration::from_secs(60);

/// Which backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Local,
    /// The local one as where there are no namespaces.
    Partial,
    Bwrap,
    Passthrough,
    /// Another machine: this one behind an `sshd` of the test's own.
    Ssh,
}

/// A workspace and a data directory.
pub(crate) struct World {
    pub(crate) workspace: PathBuf,
    pub(crate) data: PathBuf,
    /// Started when it is first needed.
    server: OnceLock<Option<Server>>,
    _dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    pub(crate) fn within(dir: TempDir) -> Self {
        let base = dir.path().canonicalize().unwrap();
        let world = Self {
            workspace: base.join("workspace"),
            data: base.join("data"),
            server: OnceLock::new(),
            _dir: dir,
        };
        fs::create_dir(&world.workspace).unwrap();
        world
    }

    pub(crate) fn session(&self, host: Host) -> Session {
        Session {
            supervisor: supervisor(),
            session_dir: self.data.join("session"),
            files: LocalFiles::open(&self.workspace, Protected::of_system()).unwrap(),
            host,
            passed: Vec::new(),
            limits: Limits::DEFAULT,
            clock: Arc::new(SystemClock),
        }
    }

    pub(crate) fn policy(&self, support: Support) -> LocalPolicy {
        LocalPolicy {
            support,
            require: Level::None,
            reach: Reach::Nothing,
            read: Vec::new(),
            write: Vec::new(),
            data_dir: self.data.clone(),
        }
    }

    /// `None`, after saying why, where this machine has no such backend.
    pub(crate) async fn open(&self, backend: Backend) -> Option<Box<dyn Sandbox>> {
        let host = Host {
            path: Some("/usr/bin:/bin".into()),
            ..Host::default()
        };
        Some(match backend {
            Backend::Bwrap => {
                if !bwrap_is_there() {
                    return None;
                }
                let policy = self.policy(probe(&supervisor()).await.unwrap());
                Box::new(bwrap::open(self.session(host), policy).await.unwrap())
            }
            Backend::Local | Backend::Partial => {
                let mut support = probe(&supervisor()).await.unwrap();
                if backend == Backend::Partial {
                    support.level = support.level.min(outfitter_process::Level::Partial);
                    support.reasons = vec!["less was asked for".to_owned()];
                }
                let policy = self.policy(support);
                Box::new(local::open(self.session(host), policy).unwrap())
            }
            Backend::Passthrough => Box::new(passthrough::open(self.session(host)).unwrap()),
            Backend::Ssh => {
                let server = self.server.get_or_init(Server::start).as_ref()?;
                let mut remote = server.remote();
                remote.workspace = self.workspace.display().to_string();
                let mut session = server.session(remote);
                session.session_dir = self.data.join("session");
                Box::new(outfitter_sandbox::ssh::open(session).await.unwrap())
            }
        })
    }
}

/// One test for each backend, those of this machine and that of another: with a world, and with the
/// sandbox of it that is open.
macro_rules! on_every_backend {
    (
        $(#[$attribute:meta])*
        async fn $name:ident(
            $world:ident, $sandbox:ident, $backend:ident $(, $argument:ident: $type:ty)*
        ) $body:block
    ) => {
        #[rstest::rstest]
        $(#[$attribute])*
        #[tokio::test]
        async fn $name(
            $(#[case] $argument: $type,)*
            #[values(
                $crate::commands::kit::Backend::Local,
                $crate::commands::kit::Backend::Partial,
                $crate::commands::kit::Backend::Bwrap,
                $crate::commands::kit::Backend::Passthrough,
                $crate::commands::kit::Backend::Ssh
            )]
            $backend: $crate::commands::kit::Backend,
        ) {
            let $world = $crate::commands::kit::World::new();
            let Some($sandbox) = $world.open($backend).await else {
                return;
            };
            $body
        }
    };
}
pub(crate) use on_every_backend;

/// Says so where it is not.
pub(crate) fn bwrap_is_there() -> bool {
    let is_there = Path::new("/usr/bin/bwrap").exists();
    if !is_there {
        say("SKIPPED(bwrap): there is no bubblewrap here");
    }
    is_there
}

pub(crate) fn supervisor() -> SupervisorProgram {
    SupervisorProgram::at(TESTKIT)
}

pub(crate) fn shell(line: &str) -> CommandSpec {
    CommandSpec {
        command: CommandLine::Shell(line.to_owned()),
        workdir: String::new(),
        env: Vec::new(),
        timeout: LIVENESS,
    }
}

/// Everything a command printed, once it has ended.
pub(crate) async fn heard(sandbox: &dyn Sandbox, command: CommandSpec) -> (String, String) {
    let job = sandbox.spawn(command).await.unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut from = Offset(0);
    loop {
        let chunk = sandbox.output(&job, from, 1 << 20, LIVENESS).await.unwrap();
        for (stream, bytes) in &chunk.pieces {
            match stream {
                Stream::Stdout => out.extend_from_slice(bytes),
                Stream::Stderr | Stream::Info => err.extend_from_slice(bytes),
            }
        }
        if chunk.ended {
            break;
        }
        from = chunk.next;
    }
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(out), text(err))
}

/// Who runs the testkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Ourselves,
    /// From a copy of the binary that may be executed and not read.
    Nobody,
}

/// A run of the testkit that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    pub(crate) fn succeeded(&self) -> bool {
        self.stderr.lines().last() == Some("code=0")
    }
}

/// The testkit as somebody; `None`, after saying why, if it cannot be.
#[expect(
    clippy::disallowed_types,
    reason = "the tests start a program as a user would"
)]
pub(crate) fn testkit(identity: Identity) -> Option<std::process::Command> {
    let mut command = match identity {
        Identity::Ourselves => std::process::Command::new(TESTKIT),
        Identity::Nobody => {
            let copy = copy_for_nobody()?;
            let mut command = std::process::Command::new("setpriv");
            command.args([
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                "--",
            ]);
            command.arg(copy);
            command
        }
    };
    command.arg("run");
    Some(command)
}

/// Runs a shell line in a sandbox of the testkit.
#[expect(
    clippy::disallowed_types,
    reason = "the tests start a program as a user would"
)]
pub(crate) fn run_in(
    mut command: std::process::Command,
    backend: Backend,
    world: (&Path, &Path),
    line: &str,
) -> Finished {
    let backend = match backend {
        Backend::Local => "local",
        Backend::Partial => "partial",
        Backend::Bwrap => "bwrap",
        Backend::Passthrough => "passthrough",
        Backend::Ssh => unreachable!("the testkit opens sandboxes of this machine"),
    };
    command.args(["--backend", backend]);
    command
        .arg("--workspace")
        .arg(world.0)
        .arg("--data")
        .arg(world.1);
    let words: [OsString; 4] = ["--", "/bin/sh", "-c", line].map(Into::into);
    let output = command
        .args(words)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    Finished {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn hand_over(path: &Path, identity: Identity) {
    if identity == Identity::Nobody {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

fn copy_for_nobody() -> Option<&'static Path> {
    static COPY: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let copy = COPY.get_or_init(|| {
        if !rustix::process::geteuid().is_root() {
            say("SKIPPED(not-root): only root can become nobody");
            return None;
        }
        if !Path::new("/usr/bin/setpriv").exists() {
            say("SKIPPED(setpriv): there is no setpriv here");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kit");
        fs::copy(TESTKIT, &path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o711)).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).unwrap();
        Some((dir, path))
    });
    copy.as_ref().map(|(_, path)| path.as_path())
}

#[expect(clippy::print_stderr, reason = "a test that cannot run says why")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Process ids whose command line contains this text.
pub(crate) fn alive(marker: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
        })
        .collect()
}
