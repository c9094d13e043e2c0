//! The one way out of a network of its own: a listening socket that was made inside and is accepted
//! on outside. What a command connects to there is for its owner to decide.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::descriptors::{Wait, receive_with_fds};

/// Where the way out is, inside. A network of its own has no other listeners, so a number can be
/// agreed upon.
pub const OUTLET: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// The two ends over which the listening socket travels.
pub(crate) struct Channel {
    pub(crate) ours: OwnedFd,
    pub(crate) theirs: OwnedFd,
}

impl Channel {
    pub(crate) fn new() -> io::Result<Self> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok(Self { ours, theirs })
    }
}

/// Takes the socket that has been sent by now.
pub(crate) fn take(ours: impl AsFd) -> io::Result<TcpListener> {
    let (_, fds) = receive_with_fds(ours, &mut [0], Wait::No)?;
    let fd = fds.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
    let listener = TcpListener::from(fd);
    listener.set_nonblocking(true)?;
    Ok(listener)
}
