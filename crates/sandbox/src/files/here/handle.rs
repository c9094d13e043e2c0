//! A handle that names a file without opening it (`O_PATH`).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::files::facts::{Facts, Pinned};

impl Pinned<OwnedFd> {
    /// With the facts it has now.
    pub(super) fn new(handle: OwnedFd) -> Result<Self, Errno> {
        let facts = Facts::from(&rustix::fs::fstat(&handle)?);
        Ok(Self { handle, facts })
    }

    /// Opens the very file that is pinned. Only for regular files: opening a pipe or a device has
    /// effects.
    pub(super) fn open_as(&self, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        rustix::fs::open(link_of(&self.handle), flags, Mode::empty()).map(File::from)
    }
}

/// The name under which the kernel shows an open handle.
pub(super) fn link_of(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Where an open handle really is now.
pub(super) fn real_path(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let path = rustix::fs::readlink(link_of(fd), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        path.into_bytes(),
    )))
}
