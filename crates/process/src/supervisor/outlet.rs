//! Inside a network of its own: the loopback device is brought up, and one socket listens on it.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};

use super::OrFail;
use crate::descriptors::send_with_fds;
use crate::outlet::OUTLET;
use crate::stage::Stage;
use crate::sys;
use crate::wire::Failure;

/// Opens the way out and sends it to the parent.
pub(super) fn open(channel: Option<OwnedFd>) -> Result<(), Failure> {
    sys::loopback_up().or_fail(Stage::Outlet, "loopback")?;
    let listener = TcpListener::bind(OUTLET).or_fail(Stage::Outlet, "listen")?;
    let channel = channel
        .ok_or_else(|| std::io::Error::from_raw_os_error(libc::EBADF))
        .or_fail(Stage::Outlet, "channel")?;
    send_with_fds(&channel, &[0], &[listener.as_fd()]).or_fail(Stage::Outlet, "send")
}
