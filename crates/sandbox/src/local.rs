//! The sandbox of this machine: commands confined by its kernel.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{Clock, Level, SandboxError, SandboxInfo};
use outfitter_process::{Confined, Confinement, Limits, SupervisorProgram, Support};

use crate::environment::{Visible, build};
use crate::files::LocalFiles;
use crate::hold::Hold;
use crate::host::Host;
use crate::jobs::Jobs;
use crate::launch::Manner;
use crate::network::{self, Reach};
use crate::process_sandbox::{ProcessSandbox, SessionFiles};
use crate::protected::by_both_names;
use crate::roots::ReadableRoots;
use crate::scratch::Scratch;
use crate::view::View;

/// The name of this backend.
pub const BACKEND: &str = "local";

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
    let private = by_both_names(&data_dir);
    let mut left_out = Vec::new();
    let more_read = outside_of(&private, &read, &mut left_out);
    let more_write = outside_of(&private, &write, &mut left_out);
    let mut readable = ReadableRoots::of(&session.host, &workspace, &more_read);
    // A virtual environment says itself what it is made of, and a command may have written that.
    readable
        .read
        .retain(|path| path.starts_with(&workspace) || !is_ours(&private, path));
    let visible = Visible::Roots {
        readable: &readable,
        workspace: &workspace,
    };
    let mut environment = build(&session.host, scratch.layout(), &visible, &session.passed);
    let hosts = reach.hosts();
    if hosts.is_some() {
        network::announce(&mut environment.variables);
    }
    left_out.extend(readable.left_out.iter().cloned());
    left_out.extend(environment.left_out);
    let write = writable(&workspace, &scratch, &more_write, &mut left_out);
    let confined = Confined {
        level: support.level,
        network: reach.network(),
        write,
        read: readable.read,
        fixed: Vec::new(),
        hide: readable.hide,
        private,
        blank: readable.blank,
    };
    let view = View::of(&confined, session.files.protected());
    let manner = Manner {
        supervisor: session.supervisor,
        environment: environment.variables,
        hold: hold(confined),
        view: Some(Arc::new(view)),
        limits: session.limits,
        hosts,
        protected: session.files.protected().clone(),
        workspace,
        scratch,
    };
    Ok(ProcessSandbox {
        info,
        jobs: Jobs::new(manner, session.clock, &session.session_dir)?,
        files: SessionFiles::Here(session.files),
        machine: None,
        left_out,
    })
}

/// What of the paths that the operator opens lies outside our own data. In it lie the sessions of
/// everybody, and no session may see another's, whatever is opened: a path above the data is opened
/// without it, one in it not at all.
fn outside_of(private: &[PathBuf], more: &[PathBuf], left_out: &mut Vec<String>) -> Vec<PathBuf> {
    let (inside, outside): (Vec<PathBuf>, Vec<PathBuf>) = more
        .iter()
        .cloned()
        .partition(|path| is_ours(private, path));
    left_out.extend(inside.iter().map(|path| {
        format!(
            "{} lies in our own data, which no command sees",
            path.display()
        )
    }));
    outside
}

fn is_ours(private: &[PathBuf], path: &Path) -> bool {
    by_both_names(path)
        .iter()
        .any(|path| private.iter().any(|ours| path.starts_with(ours)))
}

fn writable(
    workspace: &Path,
    scratch: &Scratch,
    more: &[PathBuf],
    left_out: &mut Vec<String>,
) -> Vec<PathBuf> {
    let mut write = vec![workspace.to_owned(), scratch.path().to_owned()];
    for path in more {
        if path.exists() {
            write.push(path.clone());
        } else {
            left_out.push(format!(
                "{} is not there and cannot be written",
                path.display()
            ));
        }
    }
    write
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
