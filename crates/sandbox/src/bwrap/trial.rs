//! Whether `bwrap` is there and works here, found out by running it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_core::SandboxError;
use outfitter_process::remains::remove_tree_in_pool;
use outfitter_process::{
    ChildSpec, Confinement, Ending, Limits, Network, SupervisorProgram, spawn,
};

use super::ready::complaint;
use super::{Bubblewrap, alone, wrapper};
use crate::hold::Held;
use crate::host::Host;
use crate::launch::sandbox_error;

/// The program.
const PROGRAM: &str = "bwrap";

/// How to get it.
const HINT: &str =
    "install bubblewrap (Debian: apt install bubblewrap), or take another [sandbox] backend";

/// How long the probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

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
    let _ = remove_tree_in_pool(folder).await;
    outcome.map(|()| version)
}

/// The program on `PATH`, but never one that a command could have written.
pub(super) fn find(host: &Host, workspace: &Path) -> Result<PathBuf, SandboxError> {
    let path = host.path.clone().unwrap_or_else(|| "/usr/bin:/bin".into());
    let found: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| dir.join(PROGRAM).canonicalize().ok())
        .filter(|found| found.is_file())
        .collect();
    let outside = found.iter().find(|found| !found.starts_with(workspace));
    outside.cloned().ok_or_else(|| match found.first() {
        Some(inside) => SandboxError::Unavailable {
            reason: format!(
                "{} lies in the workspace {}, where a command could have written it",
                inside.display(),
                workspace.display()
            ),
            hint: Some("work in a directory that does not hold it".to_owned()),
        },
        None => SandboxError::Unavailable {
            reason: "there is no program bwrap on PATH".to_owned(),
            hint: Some(HINT.to_owned()),
        },
    })
}

impl Bubblewrap {
    /// Whether it works here: the same namespaces and the same filter, around a program that ends
    /// at once.
    pub(super) async fn probe(
        &self,
        supervisor: &SupervisorProgram,
        network: Network,
    ) -> Result<(), SandboxError> {
        let mut argv = self.beginning(network, None);
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
        let (exit, said) = run(supervisor, alone(argv, wrapper(network))).await?;
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
        match run(supervisor, alone(argv, Confinement::Unconfined)).await? {
            (Some(Ending::Code(0)), said) => Ok(said),
            (_, said) => Err(refused(&said)),
        }
    }
}

/// Runs a program that ends soon; none where it did not. Gives the beginning of what it says.
pub(super) async fn run(
    supervisor: &SupervisorProgram,
    held: Held,
) -> Result<(Option<Ending>, String), SandboxError> {
    let spec = ChildSpec {
        argv: held.argv,
        env: held.env,
        cwd: held.cwd,
        stdin: held.stdin,
        confinement: held.confinement,
        limits: Limits::DEFAULT,
    };
    let mut spawned = spawn(supervisor, spec).await.map_err(sandbox_error)?;
    // Held, so that the other end can be opened; how it ends says enough here.
    let _ready = held.ready;
    let run = async {
        let said = complaint(&mut spawned).await;
        (spawned.child.wait().await, said)
    };
    Ok(match tokio::time::timeout(PROBE_TIMEOUT, run).await {
        Ok((Ok(exit), said)) => (Some(exit.ending), said),
        Ok((Err(_), said)) => (None, said),
        Err(_) => (None, String::new()),
    })
}

pub(super) fn refused(said: &str) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!("bwrap cannot hold a command here: {said}"),
        hint: Some("[sandbox] backend = \"local\" needs no other program; `outfitter doctor` says what it reaches here".to_owned()),
    }
}
