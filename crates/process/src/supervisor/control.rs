//! The supervisor's end of the control socket, and its hold on the parent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use super::nursery::{put, replace_with_null};
use crate::descriptors::{Wait, receive_with_fds, send_with_fds};
use crate::stage::Stage;
use crate::wire::{Answer, Failure, Frames, HELLO, HELLO_WITH_CHANNEL, Order, Report, decode_kill};

/// The socket our parent holds the other end of, and the parent.
pub(super) struct Control {
    socket: OwnedFd,
    parent: OwnedFd,
    /// Where the way out is to be sent.
    channel: Option<OwnedFd>,
    frames: Frames,
}

/// What the parent wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nothing new.
    Nothing,
    /// End the tree, politely for so many milliseconds.
    Kill(u32),
    /// Its end of the socket is closed: end the tree now.
    Gone,
}

impl Control {
    /// Answers on the socket that there is a supervisor, and takes out of it the parent's pidfd and
    /// what becomes the standard input of the child.
    pub(super) fn take(socket: OwnedFd) -> std::io::Result<Self> {
        let ourselves = getpid();
        let pidfd = pidfd_open(ourselves, PidfdFlags::empty())?;
        let answer = Answer::Here(ourselves.as_raw_nonzero().get().unsigned_abs());
        send_with_fds(&socket, &answer.encode(), &[pidfd.as_fd()])?;
        let mut hello = [0];
        let (count, fds) = receive_with_fds(&socket, &mut hello, Wait::Yes)?;
        let mut fds = fds.into_iter();
        let mut next = || fds.next().ok_or(std::io::ErrorKind::InvalidData);
        let parent = next()?;
        let channel = match (count, hello[0]) {
            (1, HELLO) => None,
            (1, HELLO_WITH_CHANNEL) => Some(next()?),
            _ => return Err(std::io::ErrorKind::InvalidData.into()),
        };
        match fds.next() {
            Some(stdin) => put(stdin.as_fd(), 0)?,
            None => replace_with_null(&[0])?,
        }
        Ok(Self {
            socket,
            parent,
            channel,
            frames: Frames::default(),
        })
    }

    /// What the way out is to be sent over; once.
    pub(super) fn take_channel(&mut self) -> Option<OwnedFd> {
        self.channel.take()
    }

    /// Waits for the one order.
    pub(super) fn order(&mut self) -> Result<Order, Failure> {
        let failure = |errno| Failure {
            stage: Stage::Specification,
            errno,
            detail: String::new(),
        };
        loop {
            match self.frames.next() {
                Ok(Some(payload)) => {
                    return Order::decode(&payload).map_err(|_| failure(libc::EBADMSG));
                }
                Ok(None) => {}
                Err(_) => return Err(failure(libc::EBADMSG)),
            }
            let mut buffer = [0_u8; 16 * 1024];
            match recv(&self.socket, &mut buffer, RecvFlags::empty()) {
                Ok((0, _)) => return Err(failure(libc::EPIPE)),
                Ok((count, _)) => self.frames.push(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failure(errno.raw_os_error())),
            }
        }
    }

    /// What has come since, without waiting. An unreadable frame is as good as a closed socket.
    pub(super) fn wish(&mut self) -> Wish {
        loop {
            match self.frames.next() {
                Ok(Some(payload)) => return decode_kill(&payload).map_or(Wish::Gone, Wish::Kill),
                Ok(None) => {}
                Err(_) => return Wish::Gone,
            }
            let mut buffer = [0_u8; 64];
            match recv(&self.socket, &mut buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Wish::Gone,
                Ok((count, _)) => self.frames.push(&buffer[..count]),
                Err(Errno::AGAIN) => return Wish::Nothing,
                Err(Errno::INTR) => {}
                Err(_) => return Wish::Gone,
            }
        }
    }

    /// Tells the parent. If it is gone there is nobody to tell.
    pub(super) fn report(&self, report: &Report) {
        let bytes = report.encode();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Lets go of the child's input and output, so that their ends are seen when the child's tree
    /// has ended or has closed them.
    pub(super) fn release_streams(&self) {
        // Without a `/dev/null` the ends stay open until we exit, right after the report.
        let _ = replace_with_null(&[0, 1, 2]);
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }
}
