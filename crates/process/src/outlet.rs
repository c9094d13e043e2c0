//! The one way out of a network of its own: a listening socket that was made inside and is accepted
//! on outside. What a command connects to there is for its owner to decide.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
    recvmsg, socketpair,
};

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
    let mut byte = [0_u8; 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        ours,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
    )?;
    let fd = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let listener = TcpListener::from(fd.ok_or(io::ErrorKind::InvalidData)?);
    listener.set_nonblocking(true)?;
    Ok(listener)
}
