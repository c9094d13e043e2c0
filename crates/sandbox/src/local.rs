//! The sandbox of this machine: commands confined by its kernel.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{Clock, Level, SandboxError, SandboxInfo};
use outfitter_process::{Confined, Confinement, Limits, SupervisorProgram, Support};

use crate::files::LocalFiles;
use crate::hold::Hold;
use crate::host::Host;
use crate::jobs::Jobs;
use crate::launch::Manner;
use crate::lists::{Asked, Lists};
use crate::network::Reach;
use crate::process_sandbox::{ProcessSandbox, SessionFiles};
use crate::scratch::Scratch;
use crate::view::View;

/// The name of this backend.
const BACKEND: &str = "local";

/// What every backend of this machine needs.
pub struct Session {
    /// The program that is re-executed as the supervisor.
    pub supervisor: SupervisorProgram,
    /// The session's own directory below the data directory, for its scratch folder and its job
    /// output. Made if it is not there.
    pub session_dir: PathBuf,
    /// The files; their workspace is where commands work.
    pub files: LocalFiles,
    /// The surrounding environment.
    pub host: Host,
    /// Variables that are passed on, with their values.
    pub passed: Vec<(OsString, OsString)>,
    /// What a command and all it starts may use.
    pub limits: Limits,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// What a confined session may do, and what must be there to confine it.
pub struct LocalPolicy {
    /// What this machine can do: [`outfitter_process::probe`], asked once.
    pub support: Support,
    /// The least level; below it nothing is opened.
    pub require: Level,
    /// What commands reach of the network.
    pub reach: Reach,
    /// More that may be read.
    pub read: Vec<PathBuf>,
    /// More that may be written.
    pub write: Vec<PathBuf>,
    /// Our own data directory: hidden where it lies in a root, but for this session's scratch.
    pub data_dir: PathBuf,
}

/// A session's sandbox, held by the kernel.
///
/// # Errors
/// [`SandboxError::Unavailable`] when the required level cannot be had here, with the reasons;
/// [`SandboxError::Io`] when the session's directory cannot be made.
pub fn open(session: Session, policy: LocalPolicy) -> Result<ProcessSandbox, SandboxError> {
    let level = core_level(policy.support.level);
    if level < policy.require {
        return Err(refusal(&policy));
    }
    if policy.reach.hosts().is_some() && level < Level::Full {
        return Err(SandboxError::Unavailable {
            reason: format!(
                "[sandbox] network cannot be kept to some hosts, that takes the level \"full\" and \
                 this machine reaches \"{}\": {}",
                level.as_str(),
                policy.support.reasons.join("; ")
            ),
            hint: Some("[sandbox] network = false, or true".to_owned()),
        });
    }
    let info = SandboxInfo {
        backend: BACKEND.to_owned(),
        level,
        isolating: level > Level::None,
        missing: policy.support.reasons.clone(),
        workspace: session.files.workspace().to_owned(),
        network: policy.reach != Reach::Nothing,
        account: None,
    };
    open_held(session, policy, info, |confined| {
        Hold::Kernel(Confinement::Confined(confined))
    })
}

/// A sandbox whose commands see what the policy shows them, however they are held.
pub(crate) fn open_held(
    session: Session,
    policy: LocalPolicy,
    info: SandboxInfo,
    hold: impl FnOnce(Confined) -> Hold,
) -> Result<ProcessSandbox, SandboxError> {
    let LocalPolicy {
        support,
        reach,
        read,
        write,
        data_dir,
        require: _,
    } = policy;
    let workspace = session.files.workspace().to_owned();
    let scratch = open_scratch(&session.session_dir)?;
    let lists = Lists::of(&Asked {
        host: &session.host,
        workspace: &workspace,
        scratch: scratch.layout(),
        read: &read,
        write: &write,
        data_dir: &data_dir,
        passed: &session.passed,
        reach: &reach,
    });
    let readable = lists.readable;
    let confined = Confined {
        level: support.level,
        network: reach.network(),
        write: lists.write.into_iter().map(|(path, _)| path).collect(),
        read: readable.read,
        fixed: Vec::new(),
        hide: readable.hide,
        private: lists.private,
        blank: readable.blank,
    };
    let view = View::of(&confined, session.files.protected());
    let manner = Manner {
        supervisor: session.supervisor,
        environment: lists.variables,
        hold: hold(confined),
        view: Some(Arc::new(view)),
        limits: session.limits,
        hosts: reach.hosts(),
        protected: session.files.protected().clone(),
        files: session.files.clone(),
        workspace,
        scratch,
    };
    Ok(ProcessSandbox {
        info,
        jobs: Jobs::new(manner, session.clock, &session.session_dir)?,
        files: SessionFiles::Here(session.files),
        machine: None,
        left_out: lists.left_out,
    })
}

fn refusal(policy: &LocalPolicy) -> SandboxError {
    let reached = policy.support.level.as_str();
    let why = policy.support.reasons.join("; ");
    SandboxError::Unavailable {
        reason: format!(
            "[sandbox] require = \"{}\" cannot be met, this machine reaches \"{reached}\": {why}",
            policy.require.as_str()
        ),
        hint: Some(format!(
            "[sandbox] require = \"{reached}\" would accept what is there"
        )),
    }
}

pub(crate) fn open_scratch(session_dir: &Path) -> Result<Scratch, SandboxError> {
    crate::scratch::private_directory(session_dir)
        .and_then(|()| Scratch::open(session_dir))
        .map_err(|source| SandboxError::Io {
            doing: format!("make the scratch folder in {}", session_dir.display()),
            source,
        })
}

fn core_level(level: outfitter_process::Level) -> Level {
    match level {
        outfitter_process::Level::None => Level::None,
        outfitter_process::Level::Partial => Level::Partial,
        outfitter_process::Level::Full => Level::Full,
    }
}
