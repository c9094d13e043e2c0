//! A way down into a tree and back, by the handle of one directory.

use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

/// The bits that the owner of a directory needs to empty it.
const OWNERS: u32 = 0o700;

/// A directory, to be read: through no link, and waiting for nothing.
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// How a directory on the way is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// With the permission bits that it has.
    AsItIs,
    /// Where it is ours and its bits are in the way, they are changed.
    ToEmpty,
}

/// The directory that is open, and how it was come to.
#[derive(Debug)]
pub(super) struct Descent {
    pub(super) here: OwnedFd,
    opening: Opening,
    above: Vec<Above>,
}

/// A directory on the way.
#[derive(Debug)]
struct Above {
    device: u64,
    inode: u64,
    /// What was entered from it.
    entered: CString,
}

impl Descent {
    /// Begins at a directory in another.
    pub(super) fn begin(parent: impl AsFd, name: &CStr, opening: Opening) -> Result<Self, Errno> {
        Ok(Self {
            here: open(parent, name, opening)?,
            opening,
            above: Vec::new(),
        })
    }

    /// Goes into a directory of this one.
    pub(super) fn enter(&mut self, name: CString) -> Result<(), Errno> {
        let stat = rustix::fs::fstat(&self.here)?;
        let below = open(&self.here, &name, self.opening)?;
        self.here = below;
        self.above.push(Above {
            device: stat.st_dev,
            inode: stat.st_ino,
            entered: name,
        });
        Ok(())
    }

    /// Goes back to where this directory was entered from, and tells its name there; none at the
    /// beginning. One that was moved meanwhile leads elsewhere, and that way is not taken.
    pub(super) fn leave(&mut self) -> Result<Option<CString>, Errno> {
        let Some(above) = self.above.last() else {
            return Ok(None);
        };
        let parent = rustix::fs::openat(&self.here, c"..", DIRECTORY, Mode::empty())?;
        let stat = rustix::fs::fstat(&parent)?;
        if (stat.st_dev, stat.st_ino) != (above.device, above.inode) {
            return Err(Errno::STALE);
        }
        self.here = parent;
        Ok(self.above.pop().map(|above| above.entered))
    }

    /// The names on the way here.
    pub(super) fn names(&self) -> impl Iterator<Item = &CStr> {
        self.above.iter().map(|above| above.entered.as_c_str())
    }
}

fn open(parent: impl AsFd, name: &CStr, opening: Opening) -> Result<OwnedFd, Errno> {
    let parent = parent.as_fd();
    let opened = rustix::fs::openat(parent, name, DIRECTORY, Mode::empty());
    match (opened, opening) {
        (Ok(opened), Opening::ToEmpty) => {
            let stat = rustix::fs::fstat(&opened)?;
            if stat.st_mode & OWNERS != OWNERS {
                // Where that is not ours to do, what cannot be removed in it is told.
                let _ = rustix::fs::fchmod(&opened, Mode::from_raw_mode(OWNERS));
            }
            Ok(opened)
        }
        (Err(Errno::ACCESS), Opening::ToEmpty) => {
            open_up(parent, name)?;
            rustix::fs::openat(parent, name, DIRECTORY, Mode::empty())
        }
        (opened, _) => opened,
    }
}

/// Gives us the bits of a directory that we may not even read. It is pinned first, so that a link
/// that takes its name meanwhile changes nothing else.
fn open_up(parent: impl AsFd, name: &CStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pinned = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    let link = format!("/proc/self/fd/{}", pinned.as_raw_fd());
    match rustix::fs::chmod(link, Mode::from_raw_mode(OWNERS)) {
        // What was wrong is that it cannot be read.
        Err(_) => Err(Errno::ACCESS),
        Ok(()) => Ok(()),
    }
}

/// What is known of an entry of a directory.
pub(super) fn stat_of(directory: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}
