//! The files of a spool, while they are open.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::tally::{RECORD, Which, change_of};

/// The files of a spool while they are open.
#[derive(Debug)]
pub(crate) struct Handles {
    pub(crate) bytes: File,
    pub(crate) changes: File,
    /// Where the gap is written down; none where an older program kept it, and for who only reads.
    pub(crate) gone: Option<File>,
}

impl Handles {
    /// Only to be read.
    pub(crate) fn to_read(names: &[PathBuf; 3]) -> io::Result<Self> {
        Ok(Self {
            bytes: open(&names[0])?,
            changes: open(&names[1])?,
            gone: None,
        })
    }

    /// New ones.
    pub(crate) fn create(names: &[PathBuf; 3]) -> io::Result<Self> {
        Ok(Self {
            bytes: create(&names[0])?,
            changes: create(&names[1])?,
            gone: Some(create(&names[2])?),
        })
    }

    /// The last of these changes that is at or before an offset.
    pub(crate) fn change_in(&self, mut low: u64, mut high: u64, offset: u64) -> io::Result<u64> {
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            if self.change(middle)?.0 <= offset {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    pub(crate) fn change(&self, index: u64) -> io::Result<(u64, Which)> {
        let mut record = [0; 8];
        self.changes.read_exact_at(&mut record, index * RECORD)?;
        Ok(change_of(&record))
    }
}

fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, PRIVATE)?))
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(file)
}

const PRIVATE: Mode = Mode::from_raw_mode(0o600);
