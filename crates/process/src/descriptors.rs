//! Descriptors that travel over a socket, with a few bytes.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The most descriptors that travel at once.
pub(crate) const MAX_FDS: usize = 3;

/// Sends bytes that carry descriptors, at most [`MAX_FDS`], without waiting.
pub(crate) fn send_with_fds(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)?;
    if sent == bytes.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

/// Whether to wait for what is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Yes,
    No,
}

/// Takes bytes and the descriptors that they carry. No bytes are the end of the socket.
pub(crate) fn receive_with_fds(
    socket: impl AsFd,
    bytes: &mut [u8],
    wait: Wait,
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = match wait {
        Wait::Yes => RecvFlags::CMSG_CLOEXEC,
        Wait::No => RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
    };
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    Ok((received.bytes, fds.flatten().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_received_is_closed_by_execve_and_an_end_is_no_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        send_with_fds(&ours, b"x", &[ours.as_fd(), theirs.as_fd()]).unwrap();
        let mut bytes = [0; 5];
        let (count, fds) = receive_with_fds(&theirs, &mut bytes, Wait::Yes).unwrap();
        assert_eq!((count, &bytes[..1], fds.len()), (1, &b"x"[..], 2));
        for fd in &fds {
            let flags = rustix::io::fcntl_getfd(fd).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
        let nothing = receive_with_fds(&theirs, &mut bytes, Wait::No).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        drop((ours, fds));
        let (count, fds) = receive_with_fds(&theirs, &mut bytes, Wait::Yes).unwrap();
        assert_eq!((count, fds.len()), (0, 0));
    }
}
