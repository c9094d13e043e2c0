//! The backend: commands of a session on another machine.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{Account, Clock, Level, SandboxError, SandboxInfo, WorkspaceOf};

use super::connection::{Connection, lost};
use super::launch::There;
use super::packs::{Folder, LaidPack, PACKS_VARIABLE};
use super::remote::Remote;
use super::script::{LOOK, REMOVE, line};
use super::sftp::{Fault, Sftp};
use crate::files::FileLimits;
use crate::files::remote::{RemoteFiles, Workspace};
use crate::jobs::Jobs;
use crate::process_sandbox::{ProcessSandbox, SessionFiles};
use crate::protected::Protected;

/// The name of this backend.
const BACKEND: &str = "ssh";

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
    /// A folder beneath the workspace there that is this session's own, made where it is not there:
    /// then it is the workspace of the session.
    pub own_folder: Option<String>,
    /// Trees of ours that are laid in there for reading, as long as the session lasts: beneath a
    /// folder that `OUTFITTER_SKILLS` names to commands.
    pub packs: Vec<LaidPack>,
    /// The bounds of the file tools.
    pub file_limits: FileLimits,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// Connects, and looks whether the workspace is there.
///
/// # Errors
/// [`SandboxError::Unavailable`] where more confinement is required than an account gives, where
/// the host is not the known one, cannot be reached or does not take the key, or where it has no
/// such workspace.
pub async fn open(session: SshSession) -> Result<ProcessSandbox, SandboxError> {
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
    if !session.remote.workspace.starts_with('/') || session.remote.workspace.contains('\n') {
        return Err(SandboxError::Unavailable {
            reason: "the workspace on the other machine is not an absolute path".to_owned(),
            hint: None,
        });
    }
    let account = Account {
        name: format!(
            "{}@{}:{}",
            session.remote.user, session.remote.host, session.remote.port
        ),
        workspace: match session.own_folder {
            Some(_) => WorkspaceOf::Session,
            None => WorkspaceOf::Account,
        },
    };
    let connection = Arc::new(Connection::new(session.remote)?);
    let place = look(&connection, session.own_folder.as_deref()).await?;
    let sftp = Sftp::new(Arc::clone(&connection));
    let folder = match session.packs.as_slice() {
        [] => None,
        _ => {
            let clock = Arc::clone(&session.clock);
            let folder = Folder::make(&connection, clock, session.packs).await?;
            Some(Arc::new(folder))
        }
    };
    let (sftp, can, folder, left_out) = tokio::task::spawn_blocking(move || {
        let can = sftp.can();
        let left_out = match (&folder, &can) {
            (Some(folder), Ok(_)) => folder.fill(&sftp),
            (None, _) | (_, Err(_)) => Vec::new(),
        };
        (sftp, can, folder, left_out)
    })
    .await
    .map_err(|error| lost(error.to_string()))?;
    let can = can.map_err(|fault| match fault {
        Fault::Lost(why) => lost(why),
        other => lost(format!("{other:?}")),
    })?;
    let mut missing =
        vec!["nothing confines a command within its account on the other machine".to_owned()];
    if !can.replace {
        missing.push(
            "its server of files cannot replace a file in one step, so that file tools replace none"
                .to_owned(),
        );
    }
    let mut passed = session.passed;
    let mut read_only = Vec::new();
    if let Some(folder) = &folder {
        read_only.push(PathBuf::from(&folder.path));
        passed.push((PACKS_VARIABLE.to_owned(), folder.path.clone()));
    }
    let files = RemoteFiles::new(
        sftp,
        Workspace {
            real: place.workspace.clone(),
            given: place.given,
            protected: Protected::of_remote_home(&place.home),
            read_only,
            limits: session.file_limits,
        },
    );
    let info = SandboxInfo {
        backend: BACKEND.to_owned(),
        level: Level::None,
        isolating: false,
        missing,
        workspace: place.workspace.clone(),
        network: true,
        account: Some(account),
    };
    let launch = There {
        connection,
        workspace: place.workspace.to_string_lossy().into_owned(),
        passed,
        folder,
    };
    Ok(ProcessSandbox {
        info,
        machine: Some(place.machine),
        left_out,
        jobs: Jobs::new(launch, session.clock, &session.session_dir)?,
        files: SessionFiles::There(files),
    })
}

/// Removes the folder of a session that has ended, as [`SshSession::own_folder`] names it, with all
/// that is in it. One that is not there is removed.
///
/// # Errors
/// [`SandboxError::Unavailable`] where the machine cannot be reached, or not all of it goes.
pub async fn remove(remote: Remote, own_folder: &str) -> Result<(), SandboxError> {
    let connection = Connection::new(remote)?;
    let script = line(REMOVE, [connection.workspace(), own_folder]);
    let said = connection.ask(script).await?;
    if said.lines().any(|line| line == "removed") {
        return Ok(());
    }
    let workspace = connection.workspace();
    Err(SandboxError::Unavailable {
        reason: format!("the account there cannot remove {own_folder} in {workspace}"),
        hint: None,
    })
}

/// What was found there.
struct Found {
    /// The workspace as it really is, and as it was given.
    workspace: PathBuf,
    given: PathBuf,
    home: PathBuf,
    machine: String,
}

/// Looks whether the workspace is there and what is needed beside it.
async fn look(connection: &Connection, own: Option<&str>) -> Result<Found, SandboxError> {
    let workspace = connection.workspace();
    let script = line(LOOK, [workspace, own.unwrap_or_default()]);
    let said = connection.ask(script).await?;
    let word = |name: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let found = word("workspace ").zip(word("home "));
    let Some((real, home)) = found.filter(|_| said.lines().any(|line| line == "ready")) else {
        return Err(lost(format!(
            "{workspace} is no directory there that can be written, or there is no /proc"
        )));
    };
    let given = PathBuf::from(workspace);
    Ok(Found {
        workspace: real,
        given: own.map_or(given.clone(), |own| given.join(own)),
        home,
        machine: said
            .lines()
            .find_map(|line| line.strip_prefix("system "))
            .unwrap_or("a system that does not say what it is")
            .to_owned(),
    })
}
