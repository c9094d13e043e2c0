//! A repository's metadata under another name, from a directory upwards.

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::files::facts::Facts;
use crate::files::repository::{MAX_ANCESTORS, SIGNS, are_metadata};

/// Whether this directory, or one above it up to `root`, is one.
pub(super) fn is_in_one(directory: &OwnedFd, root: &OwnedFd) -> bool {
    let Ok(top) = rustix::fs::fstat(root) else {
        return false;
    };
    let mut above: Option<OwnedFd> = None;
    for _ in 0..MAX_ANCESTORS {
        let here = above.as_ref().unwrap_or(directory);
        if are_metadata(SIGNS.map(|sign| {
            let stat = rustix::fs::statat(here, sign, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Facts::from(&stat).kind())
        })) {
            return true;
        }
        let Ok(stat) = rustix::fs::fstat(here) else {
            return false;
        };
        if (stat.st_dev, stat.st_ino) == (top.st_dev, top.st_ino) {
            return false;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(parent) = rustix::fs::openat(here, "..", flags, Mode::empty()) else {
            return false;
        };
        let is_top = rustix::fs::fstat(&parent)
            .is_ok_and(|up| (up.st_dev, up.st_ino) == (stat.st_dev, stat.st_ino));
        if is_top {
            return false;
        }
        above = Some(parent);
    }
    false
}
