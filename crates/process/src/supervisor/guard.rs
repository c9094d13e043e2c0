//! The outer process of a namespaced child: waits for the inner one, wakes it where somebody has stopped
//! it, and kills it when the parent goes. That the inner one watches the parent, too, is no waste: each covers the other's death.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, pidfd_send_signal, waitpid};

use super::control::Control;
use super::namespaces::Inner;
use super::nursery::drain;

pub(super) fn run(control: &Control, inner: &Inner, signals: &OwnedFd) {
    let socket = control.socket();
    let parent = control.parent();
    let mut told = false;
    loop {
        let mut fds = vec![
            PollFd::from_borrowed_fd(inner.pidfd.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
        ];
        if !told {
            // Only the hang-up: what is said on the socket is for the inner process to read.
            fds.push(PollFd::from_borrowed_fd(socket, PollFlags::RDHUP));
            fds.push(PollFd::from_borrowed_fd(parent, PollFlags::IN));
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
        if fds[2..].iter().any(|fd| !fd.revents().is_empty()) {
            // It may be ending already; then there is nothing to kill.
            let _ = pidfd_send_signal(&inner.pidfd, Signal::KILL);
            told = true;
        }
        if !fds[0].revents().is_empty() {
            break;
        }
        drain(signals);
        let changed = waitpid(Some(inner.pid), WaitOptions::NOHANG | WaitOptions::UNTRACED);
        if let Ok(Some((_, status))) = changed
            && status.stopped()
        {
            let _ = pidfd_send_signal(&inner.pidfd, Signal::CONT);
        }
    }
    // The kernel lets the first process of a namespace end only after all the others.
    while let Err(Errno::INTR) = waitpid(Some(inner.pid), WaitOptions::empty()) {}
}
