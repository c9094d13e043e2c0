//! What could not be removed.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// How many bytes of the way to something are told.
const SHOWN_BYTES: usize = 256;

/// Something of a tree could not be removed. All that could be is gone.
#[derive(Debug, thiserror::Error)]
#[error("remove {}{}", .path.display(), more(*.others))]
pub struct StaysBehind {
    /// The first of what stays, in few words where its path is long.
    pub path: PathBuf,
    /// How many others could not be removed either; what holds them is not counted.
    pub others: u64,
    /// Why the first could not.
    #[source]
    pub source: io::Error,
}

fn more(others: u64) -> String {
    match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    }
}

impl StaysBehind {
    pub(super) fn new(path: PathBuf, errno: Errno) -> Self {
        Self {
            path,
            others: 0,
            source: errno.into(),
        }
    }

    /// What it says, with the reason.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (path, more) = (self.path.display(), more(self.others));
        format!("{path}{more} cannot be removed: {}", self.source)
    }
}

/// A path beneath a tree; of a long way its beginning.
pub(super) fn shown<'n>(
    root: &Path,
    way: impl Iterator<Item = &'n CStr>,
    name: Option<&CStr>,
) -> PathBuf {
    let text = |name: &CStr| OsStr::from_bytes(name.to_bytes()).to_owned();
    let mut path = root.to_owned();
    let mut room = SHOWN_BYTES;
    for step in way {
        match room.checked_sub(step.to_bytes().len() + 1) {
            Some(left) => {
                room = left;
                path.push(text(step));
            }
            None => {
                path.push("[…]");
                break;
            }
        }
    }
    path.extend(name.map(text));
    path
}
