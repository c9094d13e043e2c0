//! The supervisor's end of the control socket, and its hold on the parent.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recv, recvmsg, send,
};

use crate::reexec::MAX_FDS;
use crate::stage::Stage;
use crate::wire::{Failure, Frames, HELLO, HELLO_WITH_CHANNEL, Order, Report, decode_kill};

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
    /// Takes the socket that was given as standard input, and out of it the parent's pidfd and what
    /// becomes the standard input of the child. `None` if this is not what started us.
    pub(super) fn take() -> Option<Self> {
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok()?;
        let (hello, fds) = receive_fds(socket.as_fd())?;
        let mut fds = fds.into_iter();
        let parent = fds.next()?;
        let channel = match hello {
            HELLO => None,
            HELLO_WITH_CHANNEL => Some(fds.next()?),
            _ => return None,
        };
        match fds.next() {
            Some(stdin) => rustix::stdio::dup2_stdin(&stdin).ok()?,
            None => replace_with_null(&[0])?,
        }
        Some(Self {
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

/// What was said, and the descriptors that came with it.
fn receive_fds(socket: BorrowedFd<'_>) -> Option<(u8, Vec<OwnedFd>)> {
    let mut byte = [0_u8; 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )
    .ok()?;
    if message.bytes != 1 {
        return None;
    }
    control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some((byte[0], fds.collect())),
        _ => None,
    })
}

fn replace_with_null(targets: &[i32]) -> Option<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
    for target in targets {
        match target {
            0 => rustix::stdio::dup2_stdin(&null).ok()?,
            1 => rustix::stdio::dup2_stdout(&null).ok()?,
            _ => rustix::stdio::dup2_stderr(&null).ok()?,
        }
    }
    Some(())
}
