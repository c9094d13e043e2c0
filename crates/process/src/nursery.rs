//! The nursery as its parent holds it: one process that was executed once and forks a supervisor for
//! each child.
//!
//! Executing a large program again costs some milliseconds, of which most are its relocations; a fork
//! of one that is there costs a tenth of that. The nursery is single-threaded, as the supervisor has
//! to be, and sees descriptors only, never what is to be run.
//!
//! It ends by itself when its parent lets go of the socket, or dies, and what it started has ended.
//! What a supervisor leaves that is killed comes to it, and is ended by it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, kill_process};

use crate::descriptors::send_with_fds;
use crate::program::SUPERVISE_WORD;
use crate::spec::Net;
use crate::wire::{LOOK, NURSERY, SUPERVISE, SUPERVISE_APART};

/// Where the nursery of a program is, once there is one.
#[derive(Debug, Default)]
pub(crate) struct Nursery(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    running: Option<Arc<Running>>,
    /// Whether there ever was one.
    has_begun: bool,
    /// What became of the last one that is not running.
    lost: Lost,
}

/// One of them. Whoever has a child of it has it, too: it is who that child comes to when its
/// supervisor is killed, also after another has taken its place.
#[derive(Debug)]
pub(crate) struct Running {
    /// The parent's end. Nobody else has it, so that its end is ours.
    socket: OwnedFd,
    /// The runtime reaps it, also after this is dropped.
    process: tokio::process::Child,
    /// It did not answer, and another is asked in its place.
    is_given_up: AtomicBool,
}

/// A request that is under way to a nursery.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) of: Arc<Running>,
    pub(crate) age: Age,
}

/// What is known of the nursery that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// It was there.
    Old,
    /// It was started for this request, and is the first.
    First,
    /// It was started for this request, because there was no longer the one before.
    Replacement(Lost),
}

/// Why a nursery is no longer there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It had ended, which it does not by itself.
    #[default]
    Gone,
    /// It was given up.
    Unresponsive,
}

/// Why a request did not get under way.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The nursery, this one, has not taken those before; it may be asked again soon.
    Busy(Arc<Running>),
    /// There is none, and none can be started.
    Start(io::Error),
}

/// What became of a question for what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looking {
    Asked,
    /// It may be asked again soon.
    Busy,
    /// The nursery that would know is no longer there.
    Gone,
}

impl Nursery {
    /// Asks for a supervisor with these: the socket, and the child's two outputs. Starts the nursery
    /// if there is none.
    pub(crate) fn ask(
        &self,
        program: &Path,
        net: Net,
        fds: &[BorrowedFd<'_>; 3],
    ) -> Result<Asked, AskError> {
        let request = match net {
            Net::Ours => [SUPERVISE],
            Net::Own => [SUPERVISE_APART],
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &kept.running {
            match send_with_fds(&running.socket, &request, fds) {
                Ok(()) => {
                    return Ok(Asked {
                        of: running.clone(),
                        age: Age::Old,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(AskError::Busy(running.clone()));
                }
                Err(error) if is_gone(&error) => {
                    kept.running = None;
                    kept.lost = Lost::Gone;
                }
                Err(error) => return Err(AskError::Start(error)),
            }
        }
        let running = Arc::new(Running::start(program).map_err(AskError::Start)?);
        match send_with_fds(&running.socket, &request, fds) {
            Ok(()) => {}
            // It is gone already; the end of what it was to be given says so.
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(AskError::Start(error)),
        }
        kept.running = Some(running.clone());
        let age = match kept.has_begun {
            false => Age::First,
            true => Age::Replacement(kept.lost),
        };
        kept.has_begun = true;
        Ok(Asked { of: running, age })
    }

    /// Asks one that does not answer no more. It stays for as long as a child of it runs, and has no
    /// other use.
    pub(crate) fn give_up(&self, running: &Arc<Running>) {
        running.is_given_up.store(true, Ordering::Relaxed);
        // Where it was only stopped it is there for its children again.
        running.signal(Signal::CONT);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept
            .running
            .as_ref()
            .is_some_and(|one| Arc::ptr_eq(one, running))
        {
            kept.running = None;
            kept.lost = Lost::Unresponsive;
        }
    }

    /// Its process id, while there is one.
    pub(crate) fn id(&self) -> Option<u32> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.running.as_ref()?.process.id()
    }
}

impl Running {
    /// Starts it with nothing but a word in its arguments and the socket as its input.
    fn start(program: &Path) -> io::Result<Self> {
        // Packets: each request is taken whole.
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        send_with_fds(&ours, &[NURSERY], &[our_pidfd()?.as_fd()])?;
        let process = execute(program, Stdio::from(theirs))?;
        Ok(Self {
            socket: ours,
            process,
            is_given_up: AtomicBool::new(false),
        })
    }

    /// Has it end what killed supervisors have left, and say on this socket what is still there then.
    pub(crate) fn look(&self, answer: BorrowedFd<'_>) -> Looking {
        self.signal(Signal::CONT);
        match send_with_fds(&self.socket, &[LOOK], &[answer]) {
            Ok(()) => Looking::Asked,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Looking::Busy,
            Err(_) => Looking::Gone,
        }
    }

    /// Whether it was stopped by a signal, and does nothing until another.
    pub(crate) fn is_stopped(&self) -> bool {
        self.process.id().is_some_and(is_stopped)
    }

    /// Whether another is asked in its place.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    fn signal(&self, signal: Signal) {
        let id = self.process.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = id.and_then(Pid::from_raw) {
            // Not reaped yet, so that it is still the one; it may have ended.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nobody needs it, and it may never see that its socket has ended.
        if self.is_given_up() {
            self.signal(Signal::KILL);
        }
    }
}

/// The state of a process, which stands behind its name; that may hold anything but ends there.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|rest| rest.starts_with(['T', 't']))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected
    )
}

/// Our own pidfd, for who is to end with us: a number could be another process by the time it is
/// looked up.
pub(crate) fn our_pidfd() -> io::Result<OwnedFd> {
    Ok(rustix::process::pidfd_open(
        rustix::process::getpid(),
        rustix::process::PidfdFlags::empty(),
    )?)
}

#[expect(
    clippy::disallowed_types,
    reason = "this is the one place where the house starts a process"
)]
fn execute(program: &Path, socket: Stdio) -> io::Result<tokio::process::Child> {
    // The command keeps our copy of the socket open, so it must not live on.
    tokio::process::Command::new(program)
        .arg(SUPERVISE_WORD)
        .env_clear()
        .stdin(socket)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not in our terminal's foreground group: Ctrl-C reaches us, and we end the trees.
        .process_group(0)
        .spawn()
}
