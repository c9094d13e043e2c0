//! The child: what it becomes, and its last steps before it does.

use std::ffi::{CString, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use landlock::RulesetCreated;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::OrFail;
use super::cgroup::Entrances;
use super::limits::apply;
use crate::spec::{ChildSpec, Limits};
use crate::stage::Stage;
use crate::sys::{self, CStrings, Forked};
use crate::wire::{Failure, Task};

/// The exit code of a child that never became its program; nobody sees it but us.
const NEVER_STARTED: i32 = 127;

/// Of the thousand points that the kernel gives; it allows anybody to take more.
const FIRST_TO_GO: &str = "500";

/// The file creation mask of a command: its files are the user's, not ours.
const UMASK: u32 = 0o022;

/// Everything the child needs, made ready before the fork.
pub(super) struct Launch {
    task: Task,
    candidates: Vec<CString>,
    argv: CStrings,
    env: CStrings,
    cwd: PathBuf,
    limits: Limits,
    groups: Entrances,
    /// Capabilities, privileges, calls: of every confined child.
    filter: Option<Vec<libc::sock_filter>>,
    /// Files: of a child confined at a level.
    rules: Option<RulesetCreated>,
}

impl Launch {
    pub(super) fn prepare(task: Task, spec: ChildSpec) -> Result<Self, Failure> {
        let program = spec.argv.first().cloned().unwrap_or_default();
        let candidates = candidates(&program, &spec.env).into_iter().map(terminated);
        let env = spec.env.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            terminated(name)
        });
        Ok(Self {
            task,
            candidates: candidates.collect::<Result<_, _>>()?,
            argv: CStrings::new(
                spec.argv
                    .into_iter()
                    .map(terminated)
                    .collect::<Result<_, _>>()?,
            ),
            env: CStrings::new(env.collect::<Result<_, _>>()?),
            cwd: spec.cwd,
            limits: spec.limits,
            groups: Entrances::default(),
            filter: None,
            rules: None,
        })
    }

    /// The child will have these limits, and be in these groups.
    pub(super) fn limit(&mut self, limits: Limits, groups: Entrances) {
        self.limits = limits;
        self.groups = groups;
    }

    /// The child will be without privileges and under this filter.
    pub(super) fn confine(&mut self, filter: Vec<libc::sock_filter>) {
        self.filter = Some(filter);
    }

    /// The child will be under these rules, too.
    pub(super) fn restrict(&mut self, rules: RulesetCreated) {
        self.rules = Some(rules);
    }

    /// Forks the child and waits until it is its program, or has said why it cannot be.
    pub(super) fn start(self) -> Result<Pid, Failure> {
        let (complaint, complain) = pipe_with(PipeFlags::CLOEXEC).or_fail(Stage::Fork, "pipe")?;
        let supervisor = rustix::process::getpid();
        match sys::fork().or_fail(Stage::Fork, "")? {
            Forked::Child => {
                drop(complaint);
                if let Err(failure) = self.become_program(supervisor) {
                    complain_and_end(&complain, &failure);
                }
                sys::exit_now(0)
            }
            Forked::Parent(child) => {
                drop(complain);
                match read_complaint(complaint) {
                    None => Ok(child),
                    Some(failure) => {
                        let _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
                        Err(failure)
                    }
                }
            }
        }
    }

    /// Returns `Ok` only for a probe.
    fn become_program(self, supervisor: Pid) -> Result<(), Failure> {
        rustix::process::setsid().or_fail(Stage::Prepare, "session")?;
        sys::reset_signals().or_fail(Stage::Prepare, "signals")?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .or_fail(Stage::Prepare, "parent death signal")?;
        if rustix::process::getppid() != Some(supervisor) {
            sys::exit_now(NEVER_STARTED);
        }
        rustix::process::umask(Mode::from_raw_mode(UMASK));
        self.groups
            .enter()
            .or_fail(Stage::Prepare, "control groups")?;
        apply(self.limits).or_fail(Stage::Prepare, "limits")?;
        // Where memory runs out it is the command that goes, not we. Not every `/proc` lets it be said.
        let _ = std::fs::write("/proc/self/oom_score_adj", FIRST_TO_GO);
        if self.filter.is_some() {
            drop_privileges().or_fail(Stage::Capabilities, "")?;
        }
        // After the capabilities, so that it is the command's own right to be there.
        rustix::process::chdir(&self.cwd)
            .or_fail(Stage::WorkingDirectory, &self.cwd.to_string_lossy())?;
        if let Some(rules) = self.rules {
            rules
                .restrict_self()
                .map_err(std::io::Error::other)
                .or_fail(Stage::Restrict, "")?;
        }
        if let Some(filter) = &self.filter {
            sys::install_filter(filter).or_fail(Stage::Seccomp, "")?;
        }
        sys::close_the_rest_on_exec().or_fail(Stage::Prepare, "descriptors")?;
        match self.task {
            Task::Probe => Ok(()),
            Task::Execute => Err(execute(&self.candidates, &self.argv, &self.env)),
        }
    }
}

/// The paths to try: the program itself if it names a directory, else one for each of `PATH`.
fn candidates(program: &OsString, env: &[(OsString, OsString)]) -> Vec<OsString> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.clone()];
    }
    let path = env.iter().find(|(name, _)| name == "PATH");
    path.map(|(_, dirs)| dirs.as_bytes())
        .unwrap_or_default()
        .split(|byte| *byte == b':')
        .filter(|dir| !dir.is_empty())
        .map(|dir| {
            let dir = Path::new(std::ffi::OsStr::from_bytes(dir));
            dir.join(program).into_os_string()
        })
        .collect()
}

/// As a shell does: the first that can be executed; a file that may not be is remembered.
fn execute(candidates: &[CString], argv: &CStrings, env: &CStrings) -> Failure {
    let mut errno = libc::ENOENT;
    for candidate in candidates {
        match sys::execve(candidate, argv, env).raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => {}
            Some(libc::EACCES) => errno = libc::EACCES,
            other => {
                errno = other.unwrap_or(libc::EIO);
                break;
            }
        }
    }
    Failure {
        stage: Stage::Execute,
        errno,
        detail: String::new(),
    }
}

fn terminated(text: OsString) -> Result<CString, Failure> {
    CString::new(text.into_vec()).map_err(|_| Failure {
        stage: Stage::Specification,
        errno: libc::EINVAL,
        detail: "a zero byte in a string".to_owned(),
    })
}

/// Drops every capability for good, also root's, and the ways to get one by executing something.
fn drop_privileges() -> rustix::io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // Not known to this kernel; or no right to drop it, and then no_new_privs keeps what the
            // set allows from ever being granted.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(errno) => return Err(errno),
        }
    }
    match rustix::thread::clear_ambient_capability_set() {
        Ok(()) | Err(Errno::INVAL) => {}
        Err(errno) => return Err(errno),
    }
    rustix::thread::set_no_new_privs(true)?;
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        },
    )
}

fn complain_and_end(complain: &OwnedFd, failure: &Failure) -> ! {
    let mut bytes = vec![failure.stage.code()];
    bytes.extend_from_slice(&failure.errno.to_le_bytes());
    bytes.extend_from_slice(failure.detail.as_bytes());
    // Shorter than a pipe's buffer, so written at once or not at all.
    let _ = rustix::io::write(complain, &bytes);
    sys::exit_now(NEVER_STARTED)
}

/// `None` when the pipe was closed by a successful `execve`.
fn read_complaint(complaint: OwnedFd) -> Option<Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::from(complaint).read_to_end(&mut bytes);
    if read.is_ok() && bytes.is_empty() {
        return None;
    }
    let parsed = bytes.split_at_checked(5).and_then(|(head, detail)| {
        Some(Failure {
            stage: Stage::from_code(head[0])?,
            errno: i32::from_le_bytes(head[1..].try_into().ok()?),
            detail: String::from_utf8_lossy(detail).into_owned(),
        })
    });
    Some(parsed.unwrap_or(Failure {
        stage: Stage::Fork,
        errno: libc::EIO,
        detail: String::new(),
    }))
}
