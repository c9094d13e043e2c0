//! The sandbox of bubblewrap: commands in namespaces that the program `bwrap` makes.
//!
//! What a command sees is what it sees in the backend [`local`](crate::local): the same roots, the
//! same list of what is hidden and what is fixed, and our filter of system calls. `bwrap` builds it
//! from mounts, on an empty root: what is not mounted is not there. Two things differ. A command
//! that a signal ended has the exit status 128 and the signal's number, because that is all that
//! `bwrap` passes on; and what it leaves behind ends with its namespace and is not counted.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_core::{Level, SandboxError, SandboxInfo};
use outfitter_process::{
    ChildSpec, Confined, Confinement, Ending, Limits, Network, Stdin, SupervisorProgram,
    seccomp_program, spawn,
};

use crate::bwrap_check::checked;
use crate::hold::{Held, Hold};
use crate::host::Host;
use crate::launch::sandbox_error;
use crate::local::{LocalPolicy, Session, open_held};
use crate::mount_plan::{Mount, MountPlan, plan};
use crate::network::Reach;
use crate::process_sandbox::ProcessSandbox;
use crate::scratch::private_directory;

/// The name of this backend.
pub const BACKEND: &str = "bwrap";

/// The program.
const PROGRAM: &str = "bwrap";

/// How to get it.
const HINT: &str =
    "install bubblewrap (Debian: apt install bubblewrap), or take another [sandbox] backend";

/// Opens the filter for `bwrap` and becomes it: a descriptor is the only way to hand it over, and
/// the supervisor passes none on.
const WITH_FILTER: &str = "exec 9<\"$0\" && exec \"$@\"";
const FILTER_DESCRIPTOR: &str = "9";

/// A hidden directory: a way to what this session may use of it, and not to be listed.
const THROUGH_ONLY: &str = "0111";

/// What a probe says of a machine where it cannot be had is cut here.
const MAX_COMPLAINT: usize = 400;

/// How long the probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// A folder that rustup makes where it is missing, and stops where it cannot.
const RUSTUP_HASHES: &str = "update-hashes";

/// Files in the session's directory.
const FILTER: &str = "filter.bpf";
const EMPTY: &str = "empty";

/// How commands are put into `bwrap`.
pub(crate) struct Bubblewrap {
    program: PathBuf,
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
        trial = Some(bubblewrap.hold(nothing, OsStr::new(""), &workspace, &confined));
        Hold::Bubblewrap(bubblewrap, confined)
    })?;
    // With what is shown here, too: where it cannot be mounted, that is no command's exit.
    if let Some(trial) = trial.transpose()? {
        let (exit, said) = run(&supervisor, trial.argv, trial.confinement).await?;
        if exit != Some(Ending::Code(0)) {
            return Err(refused(&said));
        }
    }
    Ok(opened)
}

/// Whether it works here, with what it says of its version. `dir` is for the two files it takes.
///
/// # Errors
/// [`SandboxError::Unavailable`] as [`open`] has it; [`SandboxError::Io`] when the files cannot be
/// made.
pub async fn try_out(
    host: &Host,
    supervisor: &SupervisorProgram,
    dir: &Path,
) -> Result<String, SandboxError> {
    let program = find(host, dir)?;
    let version = Bubblewrap::version(&program, supervisor).await?;
    let folder = dir.join(format!("trying-{}", std::process::id()));
    let outcome = match Bubblewrap::prepare(program, &folder, Network::Off) {
        Ok(bubblewrap) => bubblewrap.probe(supervisor, Network::Off).await,
        Err(source) => Err(SandboxError::Io {
            doing: "write the filter of system calls for bwrap".to_owned(),
            source,
        }),
    };
    // One that stays behind is nobody's and small.
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map(|()| version)
}

/// The program on `PATH`, but never one that a command could have written.
fn find(host: &Host, workspace: &Path) -> Result<PathBuf, SandboxError> {
    let path = host.path.clone().unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| dir.join(PROGRAM).canonicalize().ok())
        .find(|found| found.is_file() && !found.starts_with(workspace))
        .ok_or_else(|| SandboxError::Unavailable {
            reason: "there is no program bwrap on PATH".to_owned(),
            hint: Some(HINT.to_owned()),
        })
}

impl Bubblewrap {
    fn prepare(program: PathBuf, session_dir: &Path, network: Network) -> std::io::Result<Self> {
        private_directory(session_dir)?;
        let filter = session_dir.join(FILTER);
        write_private(&filter, &seccomp_program(network))?;
        let empty = session_dir.join(EMPTY);
        write_private(&empty, b"")?;
        Ok(Self {
            program,
            filter,
            empty,
            rustup_home: None,
        })
    }

    /// Whether it works here: the same namespaces and the same filter, around a program that ends
    /// at once.
    async fn probe(
        &self,
        supervisor: &SupervisorProgram,
        network: Network,
    ) -> Result<(), SandboxError> {
        let mut argv = self.beginning(network);
        for (mount, path) in [
            ("--ro-bind", "/usr"),
            ("--ro-bind-try", "/lib"),
            ("--ro-bind-try", "/lib64"),
            ("--ro-bind-try", "/nix/store"),
            ("--ro-bind-try", "/gnu/store"),
        ] {
            argv.extend([mount, path, path].map(OsString::from));
        }
        argv.extend(["--", "/usr/bin/env", "true"].map(OsString::from));
        let (exit, said) = run(supervisor, argv, wrapper(network)).await?;
        match exit {
            Some(Ending::Code(0)) => Ok(()),
            Some(_) => Err(refused(&said)),
            None => Err(refused("it did not end")),
        }
    }

    /// What it says of its version.
    async fn version(
        program: &Path,
        supervisor: &SupervisorProgram,
    ) -> Result<String, SandboxError> {
        let argv = vec![program.into(), "--version".into()];
        match run(supervisor, argv, Confinement::Unconfined).await? {
            (Some(Ending::Code(0)), said) => Ok(said),
            (_, said) => Err(refused(&said)),
        }
    }

    pub(crate) fn hold(
        &self,
        command: Vec<OsString>,
        path: &OsStr,
        cwd: &Path,
        confined: &Confined,
    ) -> Result<Held, SandboxError> {
        let mut plan = plan(confined);
        self.rustup_home
            .iter()
            .for_each(|home| plan.pretend(&home.join(RUSTUP_HASHES)));
        must_exist(&command, path, cwd, &plan)?;
        if !plan.shows(cwd) {
            return Err(SandboxError::Workdir(format!(
                "its working directory {} cannot be entered (there is no such directory inside), and nothing was run",
                cwd.display()
            )));
        }
        let command = checked(command, &plan);
        let mut argv = self.beginning(confined.network);
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
            argv,
            cwd: PathBuf::from("/"),
            confinement: wrapper(confined.network),
        })
    }

    /// All that does not depend on what the command may see.
    fn beginning(&self, network: Network) -> Vec<OsString> {
        let mut argv: Vec<OsString> = vec!["/bin/sh".into(), "-c".into(), WITH_FILTER.into()];
        argv.extend([self.filter.clone().into(), self.program.clone().into()]);
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

/// Runs a program that ends soon; none where it did not. Gives the beginning of what it says.
async fn run(
    supervisor: &SupervisorProgram,
    argv: Vec<OsString>,
    confinement: Confinement,
) -> Result<(Option<Ending>, String), SandboxError> {
    let spec = ChildSpec {
        argv,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: PathBuf::from("/"),
        stdin: Stdin::Null,
        confinement,
        limits: Limits::DEFAULT,
    };
    let mut spawned = spawn(supervisor, spec).await.map_err(sandbox_error)?;
    let mut said = Vec::new();
    let run = async {
        while let Ok(Some((_, bytes))) = spawned.output.next().await {
            let room = MAX_COMPLAINT.saturating_sub(said.len());
            said.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        spawned.child.wait().await
    };
    let ending = match tokio::time::timeout(PROBE_TIMEOUT, run).await {
        Ok(Ok(exit)) => Some(exit.ending),
        Ok(Err(_)) | Err(_) => None,
    };
    Ok((ending, String::from_utf8_lossy(&said).trim().to_owned()))
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

fn refused(said: &str) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!("bwrap cannot hold a command here: {said}"),
        hint: Some("[sandbox] backend = \"local\" needs no other program; `outfitter doctor` says what it reaches here".to_owned()),
    }
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
