//! The nursery: forks a supervisor for each request, reaps it, and ends what one that was killed has
//! left ([`wards`](super::wards)).
//!
//! It has no environment, no terminal, no working directory of ours, and blocks every signal, as its
//! supervisors do. What a request carries it hands on and closes; orders go past it. So no child's
//! descriptors, arguments or environment are ever in it, and none can be in the next child's
//! supervisor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{DumpableBehavior, Pid, Signal, kill_process};

use super::namespaces::Ahead;
use super::wards::{Wards, go_on_without_a_parent};
use crate::descriptors::{Wait, receive_with_fds, send_with_fds};
use crate::spec::Net;
use crate::sys::{self, Forked};
use crate::wire::{Answer, LOOK, NURSERY, SUPERVISE, SUPERVISE_APART};

/// Exit code of a process that was started with our word and without our socket.
const NOT_OURS: i32 = 64;

/// Exit code where the system does not give what every process has.
const UNABLE: i32 = 71;

/// Takes requests until the parent is gone and every supervisor has ended, and ends the process.
pub(crate) fn nursery() -> ! {
    let Some(parent) = Parent::take() else {
        sys::exit_now(NOT_OURS);
    };
    match settle() {
        Ok(signals) => match serve(Hold {
            socket: Some(parent.socket),
            parent: Some(parent.pidfd),
            spare: None,
            wards: Wards::default(),
            signals,
        }) {
            Born::To(request, Net::Ours) => super::supervise_one(request, Ahead::Nothing),
            Born::To(request, Net::Own) => super::supervise_one(request, Ahead::of_a_network()),
            Born::Spare(socket) => wait_for_a_request(&socket),
        },
        Err(_) => sys::exit_now(UNABLE),
    }
}

/// What asks, and how its end is noticed.
struct Parent {
    socket: OwnedFd,
    pidfd: OwnedFd,
}

/// What a supervisor is made with.
pub(super) struct Request {
    /// Its end of the socket that its order comes by.
    pub(super) control: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Parent {
    /// Takes the socket that was given as standard input, and out of it the parent's pidfd. `None` if
    /// this is not what started us.
    fn take() -> Option<Self> {
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok()?;
        let mut byte = [0];
        let (count, fds) = receive_with_fds(&socket, &mut byte, Wait::Yes).ok()?;
        if (count, byte) != (1, [NURSERY]) {
            return None;
        }
        let pidfd = fds.into_iter().next()?;
        Some(Self { socket, pidfd })
    }
}

/// What is asked of us.
enum Asked {
    /// A supervisor with this.
    Supervisor(Request, Net),
    /// To end what is left of those that were killed, and to answer there.
    Look(OwnedFd),
}

/// What is asked next, if anything is. `Err` when nothing will be.
fn asked(socket: &OwnedFd, wait: Wait) -> Result<Option<Asked>, Gone> {
    let mut byte = [0];
    let (count, fds) = match receive_with_fds(socket, &mut byte, wait) {
        Ok(received) => received,
        Err(error) => {
            let later = [Errno::AGAIN, Errno::INTR].map(Errno::raw_os_error);
            let is_later = error.raw_os_error().is_some_and(|e| later.contains(&e));
            return if is_later { Ok(None) } else { Err(Gone) };
        }
    };
    let net = match (count, byte) {
        (0, _) => return Err(Gone),
        (_, [SUPERVISE]) => Net::Ours,
        (_, [SUPERVISE_APART]) => Net::Own,
        (_, [LOOK]) => return Ok(fds.into_iter().next().map(Asked::Look)),
        _ => return Ok(None),
    };
    let request = <[OwnedFd; 3]>::try_from(fds).ok();
    Ok(request.map(|[control, stdout, stderr]| {
        let request = Request {
            control,
            stdout,
            stderr,
        };
        Asked::Supervisor(request, net)
    }))
}

/// The parent's end of the socket is closed, or it is no more.
struct Gone;

/// Becomes nobody in particular, whom nobody of the same user may look into.
fn settle() -> std::io::Result<OwnedFd> {
    replace_with_null(&[0, 1, 2])?;
    rustix::process::chdir("/")?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    go_on_without_a_parent()?;
    // What a supervisor leaves that is killed comes to us.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    super::cgroup::sweep();
    sys::block_signals()
}

/// What a process that was forked here is for.
enum Born {
    /// This request.
    To(Request, Net),
    /// The next that wants a network of its own, which comes by this socket.
    Spare(OwnedFd),
}

/// A supervisor that was forked in advance and has made its network, which takes longer than anything
/// else: our end of its socket. It gets one request and ends without one when we do.
struct Spare {
    socket: OwnedFd,
    pid: Pid,
}

/// All that is open.
struct Hold {
    /// What is asked comes by it; until its other end is closed.
    socket: Option<OwnedFd>,
    /// Who asks; until its end.
    parent: Option<OwnedFd>,
    spare: Option<Spare>,
    wards: Wards,
    signals: OwnedFd,
}

/// Returns in each new process, with nothing of this one left open.
fn serve(mut hold: Hold) -> Born {
    loop {
        let told = wait_for_word(&hold);
        let mut wants_another = false;
        if told.of_the_socket
            && let Some(socket) = &hold.socket
        {
            match asked(socket, Wait::No) {
                Ok(None) => {}
                Ok(Some(Asked::Look(answer))) => hold.wards.look(answer),
                Ok(Some(Asked::Supervisor(request, net))) => {
                    wants_another = net == Net::Own;
                    if let Some(born) = answer(request, net, &mut hold) {
                        return born;
                    }
                }
                Err(Gone) => hold.socket = None,
            }
        }
        if told.of_the_parent {
            (hold.socket, hold.parent) = (None, None);
            hold.wards.are_alone();
        }
        if hold.socket.is_none() {
            hold.spare = None;
        } else if wants_another && let Some(born) = make_spare(&mut hold) {
            return born;
        }
        drain(&hold.signals);
        hold.wards.reap();
        hold.wards.advance();
        if hold.socket.is_none() && hold.wards.are_gone() {
            sys::exit_now(0);
        }
    }
}

/// Of whom there is word.
#[derive(Default)]
struct Told {
    of_the_socket: bool,
    of_the_parent: bool,
}

fn wait_for_word(hold: &Hold) -> Told {
    let mut fds = vec![PollFd::from_borrowed_fd(
        hold.signals.as_fd(),
        PollFlags::IN,
    )];
    let others = [&hold.socket, &hold.parent];
    let open = others.into_iter().flatten();
    fds.extend(open.map(|fd| PollFd::new(fd, PollFlags::IN)));
    match poll(&mut fds, hold.wards.timeout().as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(_) => sys::exit_now(UNABLE),
    }
    let mut told = fds[1..].iter().map(|fd| !fd.revents().is_empty());
    let mut of = |fd: &Option<OwnedFd>| fd.is_some() && told.next().unwrap_or_default();
    Told {
        of_the_socket: of(&hold.socket),
        of_the_parent: of(&hold.parent),
    }
}

/// Has a supervisor take the request: the spare one, or a new one.
fn answer(request: Request, net: Net, hold: &mut Hold) -> Option<Born> {
    if net == Net::Own
        && let Some(Spare { socket, pid }) = hold.spare.take()
    {
        let fds = [&request.control, &request.stdout, &request.stderr].map(AsFd::as_fd);
        // It may have been killed meanwhile.
        if send_with_fds(&socket, &[SUPERVISE_APART], &fds).is_ok() {
            // Or stopped.
            let _ = kill_process(pid, Signal::CONT);
            return None;
        }
    }
    match sys::fork() {
        Ok(Forked::Child) => Some(Born::To(request, net)),
        Ok(Forked::Parent(supervisor)) => {
            hold.wards.add(supervisor);
            None
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
            // Whoever does not hear it sees the end of the socket.
            let _ = send_with_fds(&request.control, &Answer::NotForked(errno).encode(), &[]);
            None
        }
    }
}

/// Makes the spare supervisor for the request after this one. Where it cannot be made there is none.
fn make_spare(hold: &mut Hold) -> Option<Born> {
    let flags = SocketFlags::CLOEXEC;
    let (socket, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).ok()?;
    match sys::fork() {
        Ok(Forked::Child) => return Some(Born::Spare(theirs)),
        Ok(Forked::Parent(pid)) => {
            hold.wards.add(pid);
            hold.spare = Some(Spare { socket, pid });
        }
        Err(_) => {}
    }
    None
}

/// What the spare supervisor does.
fn wait_for_a_request(socket: &OwnedFd) -> ! {
    // It ends with the socket all the same where it cannot be had.
    let _ = go_on_without_a_parent();
    let ahead = Ahead::of_a_network();
    loop {
        match asked(socket, Wait::Yes) {
            Ok(None | Some(Asked::Look(_))) => {}
            Ok(Some(Asked::Supervisor(request, _))) => super::supervise_one(request, ahead),
            Err(Gone) => sys::exit_now(0),
        }
    }
}

/// Reads what only says that there is something to be collected.
pub(super) fn drain(signals: &OwnedFd) {
    let mut spent = [0_u8; 512];
    while let Ok(count) = rustix::io::read(signals, &mut spent)
        && count > 0
    {}
}

/// Puts `/dev/null` in the place of standard descriptors.
pub(super) fn replace_with_null(targets: &[i32]) -> rustix::io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    targets
        .iter()
        .try_for_each(|target| put(null.as_fd(), *target))
}

/// Makes a descriptor one of the three standard ones.
pub(super) fn put(fd: BorrowedFd<'_>, target: i32) -> rustix::io::Result<()> {
    match target {
        0 => rustix::stdio::dup2_stdin(fd),
        1 => rustix::stdio::dup2_stdout(fd),
        _ => rustix::stdio::dup2_stderr(fd),
    }
}
