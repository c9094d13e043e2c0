//! How much a tree holds.

use std::ffi::CString;

use rustix::fd::AsFd;
use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;

use super::descent::{Descent, Opening, stat_of};

/// Room for the names of one read of a directory.
const NAMES_BYTES: usize = 32 << 10;

/// How often it is counted anew because a directory was moved while it was looked at.
const MAX_TRIES: u32 = 8;

/// The sizes of all regular files beneath a directory, each name once and through no link, of at most
/// so many entries. What cannot be entered has no size. Where directories are moved meanwhile, the
/// most that was seen at once.
#[must_use]
pub fn bytes_beneath(directory: impl AsFd, most_entries: u64) -> u64 {
    let directory = directory.as_fd();
    let mut most = 0;
    for _ in 0..MAX_TRIES {
        let (bytes, end) = count(directory, most_entries);
        most = most.max(bytes);
        if end != Err(Errno::STALE) {
            break;
        }
    }
    most
}

fn count(directory: impl AsFd, most_entries: u64) -> (u64, Result<(), Errno>) {
    let mut descent = match Descent::begin(directory, c".", Opening::AsItIs) {
        Ok(descent) => descent,
        Err(errno) => return (0, Err(errno)),
    };
    let (mut bytes, mut seen) = (0_u64, 0_u64);
    let mut names = Vec::with_capacity(NAMES_BYTES);
    let mut levels: Vec<Vec<CString>> = Vec::new();
    loop {
        let mut below = Vec::new();
        let mut entries = RawDir::new(&descent.here, names.spare_capacity_mut());
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            seen += 1;
            if seen > most_entries {
                return (bytes, Ok(()));
            }
            let Ok(stat) = stat_of(&descent.here, name) else {
                continue;
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    let size = u64::try_from(stat.st_size).unwrap_or(0);
                    bytes = bytes.saturating_add(size);
                }
                FileType::Directory => below.push(name.to_owned()),
                _ => {}
            }
        }
        levels.push(below);
        // To the next directory, if need be from one further up.
        loop {
            let Some(level) = levels.last_mut() else {
                return (bytes, Ok(()));
            };
            match level.pop() {
                Some(name) => {
                    if descent.enter(name).is_ok() {
                        break;
                    }
                }
                None => {
                    levels.pop();
                    if !levels.is_empty()
                        && let Err(errno) = descent.leave()
                    {
                        return (bytes, Err(errno));
                    }
                }
            }
        }
    }
}
