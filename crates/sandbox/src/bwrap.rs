//! The sandbox of bubblewrap: commands in namespaces that the program `bwrap` makes.
//!
//! What a command sees is what it sees in the backend [`local`](crate::local): the same roots, the
//! same list of what is hidden and what is fixed, and our filter of system calls. `bwrap` builds it
//! from mounts, on an empty root: what is not mounted is not there. Two things differ. A command
//! that a signal ended has the exit status 128 and the signal's number, because that is all that
//! `bwrap` passes on; and what it leaves behind ends with its namespace and is not counted.

mod check;
mod environment;
mod ready;
mod trial;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use outfitter_core::{Level, SandboxError, SandboxInfo};
use outfitter_process::{Confined, Confinement, Ending, Network, Stdin, seccomp_program};

use crate::hold::{Held, Hold, Variables};
use crate::launch::sandbox_error;
use crate::local::{LocalPolicy, Session, open_held};
use crate::mount_plan::{Mount, MountPlan, plan};
use crate::network::Reach;
use crate::process_sandbox::ProcessSandbox;
use crate::scratch::private_directory;
use check::checked;
use environment::{environment, names};
pub(crate) use ready::Ready;
use ready::no_pipe;
use trial::{find, refused, run};

pub use trial::try_out;

/// The name of this backend.
const BACKEND: &str = "bwrap";

/// Opens for `bwrap` what it takes by descriptors, and becomes it: the supervisor passes none on but
/// an input, which has further options.
const WITH_FILTER: &str = "exec 7<&0 9<\"$0\" </dev/null && exec \"$@\"";
const FILTER_DESCRIPTOR: &str = "9";
const OPTIONS_DESCRIPTOR: &str = "7";

/// The same, with a pipe for word of what is inside.
const WITH_READY: &str =
    "exec 7<&0 8>\"$1\" 9<\"$0\" </dev/null && shift && printf o >&8 && exec \"$@\"";

/// The environment of `bwrap` itself. That of the command is not for what runs outside: a library
/// that it preloads, say, would be loaded there.
const OUTSIDE: (&str, &str) = ("PATH", "/usr/bin:/bin");

/// A hidden directory: a way to what this session may use of it, and not to be listed.
const THROUGH_ONLY: &str = "0111";

/// A folder that rustup makes where it is missing, and stops where it cannot.
const RUSTUP_HASHES: &str = "update-hashes";

/// Files in the session's directory.
const FILTER: &str = "filter.bpf";
const EMPTY: &str = "empty";

/// How commands are put into `bwrap`.
pub(crate) struct Bubblewrap {
    program: PathBuf,
    session_dir: PathBuf,
    begun: AtomicU64,
    filter: PathBuf,
    empty: PathBuf,
    rustup_home: Option<PathBuf>,
}

/// A session's sandbox, held by bubblewrap. It is tried before it is given out.
///
/// # Errors
/// [`SandboxError::Unavailable`] when there is no `bwrap`, or it cannot make its namespaces and mounts here,
/// with what it said; [`SandboxError::Io`] when the session's directory cannot be made.
pub async fn open(session: Session, policy: LocalPolicy) -> Result<ProcessSandbox, SandboxError> {
    let program = find(&session.host, session.files.workspace())?;
    let mut bubblewrap = Bubblewrap::prepare(program, &session.session_dir, policy.reach.network())
        .map_err(|source| SandboxError::Io {
            doing: "write the filter of system calls for bwrap".to_owned(),
            source,
        })?;
    bubblewrap.rustup_home = session.host.rustup_home().filter(|home| home.is_dir());
    let network = policy.reach.network();
    bubblewrap.probe(&session.supervisor, network).await?;
    let info = SandboxInfo {
        backend: BACKEND.to_owned(),
        level: Level::Full,
        isolating: true,
        missing: Vec::new(),
        workspace: session.files.workspace().to_owned(),
        network: policy.reach != Reach::Nothing,
        account: None,
    };
    let (supervisor, workspace) = (session.supervisor.clone(), info.workspace.clone());
    let mut trial = None;
    let opened = open_held(session, policy, info, |confined| {
        let nothing = ["/usr/bin/env", "true"].map(OsString::from).to_vec();
        trial = Some(bubblewrap.hold(nothing, &outside(), &workspace, &confined));
        Hold::Bubblewrap(bubblewrap, confined)
    })?;
    // With what is shown here, too: where it cannot be mounted, that is no command's exit.
    if let Some(trial) = trial.transpose()? {
        let (exit, said) = run(&supervisor, trial).await?;
        if exit != Some(Ending::Code(0)) {
            return Err(refused(&said));
        }
    }
    Ok(opened)
}

impl Bubblewrap {
    fn prepare(program: PathBuf, session_dir: &Path, network: Network) -> std::io::Result<Self> {
        private_directory(session_dir)?;
        Ready::sweep(session_dir);
        let filter = session_dir.join(FILTER);
        write_private(&filter, &seccomp_program(network))?;
        let empty = session_dir.join(EMPTY);
        write_private(&empty, b"")?;
        Ok(Self {
            program,
            session_dir: session_dir.to_owned(),
            begun: AtomicU64::new(0),
            filter,
            empty,
            rustup_home: None,
        })
    }

    pub(crate) fn hold(
        &self,
        command: Vec<OsString>,
        env: &Variables,
        cwd: &Path,
        confined: &Confined,
    ) -> Result<Held, SandboxError> {
        let mut plan = plan(confined);
        let path = env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, dirs)| dirs.as_os_str()).unwrap_or_default();
        self.rustup_home
            .iter()
            .for_each(|home| plan.pretend(&home.join(RUSTUP_HASHES)));
        let names = names(env)?;
        must_exist(&command, path, cwd, &plan)?;
        if !plan.shows(cwd) {
            let why = if cwd.is_dir() {
                "it is not shown inside, and [sandbox] read would show it"
            } else {
                "there is no such directory"
            };
            return Err(SandboxError::Workdir(format!(
                "its working directory {} cannot be entered ({why}), and nothing was run",
                cwd.display()
            )));
        }
        let command = checked(command, &plan, names.into_iter());
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let ready = Ready::in_directory(&self.session_dir, number);
        let ready = ready.map_err(|error| sandbox_error(no_pipe(error)))?;
        let mut argv = self.beginning(confined.network, Some(&ready));
        argv.extend(["--args", OPTIONS_DESCRIPTOR].map(OsString::from));
        // Last, because mount points are made in them before.
        let mut read_only = vec![OsString::from("/"), "/run".into()];
        for (path, mount) in plan.mounts() {
            let path = path.into_os_string();
            match mount {
                Mount::Link(target) => argv.extend(["--symlink".into(), target.into(), path]),
                Mount::ReadOnly => argv.extend(["--ro-bind".into(), path.clone(), path]),
                Mount::Writable => argv.extend(["--bind".into(), path.clone(), path]),
                Mount::HiddenDirectory => {
                    argv.extend(["--perms", THROUGH_ONLY, "--tmpfs"].map(OsString::from));
                    argv.push(path.clone());
                    read_only.push(path);
                }
                Mount::Nothing => argv.extend(["--dir".into(), path]),
                // No device works on a mount of this kind.
                Mount::HiddenFile => argv.extend(["--ro-bind".into(), "/dev/null".into(), path]),
                Mount::Blank => {
                    argv.extend(["--ro-bind".into(), self.empty.clone().into(), path]);
                }
            }
        }
        for path in read_only {
            argv.extend(["--remount-ro".into(), path]);
        }
        argv.extend(["--chdir".into(), cwd.into(), "--".into()]);
        argv.extend(command);
        Ok(Held {
            stdin: Stdin::Bytes(environment(env)),
            ready: Some(ready),
            ..alone(argv, wrapper(confined.network))
        })
    }

    /// All that does not depend on what the command may see.
    fn beginning(&self, network: Network, ready: Option<&Ready>) -> Vec<OsString> {
        let (script, pipe) = match ready {
            Some(ready) => (WITH_READY, Some(ready.path())),
            None => (WITH_FILTER, None),
        };
        let mut argv: Vec<OsString> = vec!["/bin/sh".into(), "-c".into(), script.into()];
        argv.push(self.filter.clone().into());
        argv.extend(pipe);
        argv.push(self.program.clone().into());
        argv.extend(["--seccomp", FILTER_DESCRIPTOR].map(OsString::from));
        argv.extend(["--unshare-all", "--unshare-user", "--disable-userns"].map(OsString::from));
        match network {
            Network::Off | Network::Alone => {}
            // The supervisor has made a network for it already, where it is kept to some hosts.
            Network::On | Network::Outlet => argv.push("--share-net".into()),
        }
        argv.extend(["--die-with-parent", "--cap-drop", "ALL"].map(OsString::from));
        // Before everything else: a workspace may lie in them.
        argv.extend(
            [
                "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run",
            ]
            .map(OsString::from),
        );
        // The settings of the kernel belong to root, whom no capability is needed for: it is enough
        // to be root outside, and `bwrap` leaves them writable then.
        argv.extend(["--ro-bind", "/proc/sys", "/proc/sys"].map(OsString::from));
        argv
    }
}

/// A program that is all there is.
fn alone(argv: Vec<OsString>, confinement: Confinement) -> Held {
    Held {
        argv,
        env: outside(),
        cwd: PathBuf::from("/"),
        stdin: Stdin::Null,
        confinement,
        ready: None,
    }
}

fn outside() -> Variables {
    vec![(OUTSIDE.0.into(), OUTSIDE.1.into())]
}

/// What the supervisor does for the program.
fn wrapper(network: Network) -> Confinement {
    match network {
        Network::Off | Network::Alone | Network::On => Confinement::Wrapper,
        Network::Outlet => Confinement::WrapperWithOutlet,
    }
}

/// What cannot be executed is refused before `bwrap` says so in the command's own output.
fn must_exist(
    command: &[OsString],
    path: &OsStr,
    cwd: &Path,
    plan: &MountPlan,
) -> Result<(), SandboxError> {
    let Some(program) = command.first() else {
        return Err(SandboxError::Invalid("there is no program".to_owned()));
    };
    let candidates: Vec<PathBuf> = if program.as_encoded_bytes().contains(&b'/') {
        vec![cwd.join(program)]
    } else {
        std::env::split_paths(path)
            .map(|dir| dir.join(program))
            .collect()
    };
    let can_run = |file: &PathBuf| {
        let mode = file.metadata().map(|meta| meta.permissions().mode());
        plan.shows_file(file) && mode.is_ok_and(|mode| mode & 0o111 != 0)
    };
    if candidates.iter().any(can_run) {
        return Ok(());
    }
    Err(SandboxError::Invalid(format!(
        "execute {}: there is no such program inside",
        program.to_string_lossy()
    )))
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}
