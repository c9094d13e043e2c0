//! What of a job's output is not kept any more: one range in its middle. What came first stays, and
//! what came last; offsets are those of all that was printed.
//!
//! The range grows at its end as more is printed than is kept. It is written down before the files
//! let go of it, so that a later program reads nothing there that is not output.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// The range, and the changes of stream around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Its first byte.
    pub(crate) start: u64,
    /// The first byte behind it.
    pub(crate) end: u64,
    /// How many changes are kept ahead of it.
    pub(crate) ahead: u64,
    /// The change in which its end lies: the first that is kept behind it, or the last ahead where one
    /// stream goes on over it.
    pub(crate) behind: u64,
}

/// How many numbers a gap is.
const NUMBERS: usize = 4;

impl Gap {
    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn changes(&self) -> u64 {
        self.behind.saturating_sub(self.ahead)
    }

    pub(crate) fn holds(&self, offset: u64) -> bool {
        (self.start..self.end).contains(&offset)
    }

    /// What stands in its place for who reads over it.
    pub(crate) fn words(&self) -> String {
        format!(
            "\n[{} bytes of output, from byte {} on, are not kept]\n",
            self.bytes(),
            self.start
        )
    }

    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        let numbers = [self.start, self.end, self.ahead, self.behind];
        let bytes: Vec<u8> = numbers.iter().flat_map(|one| one.to_le_bytes()).collect();
        file.write_all_at(&bytes, 0)
    }

    /// The one that was written down; none where none was, an error where it makes no sense.
    pub(crate) fn read(file: &File) -> io::Result<Option<Self>> {
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        let mut bytes = [0; 8 * NUMBERS];
        file.read_exact_at(&mut bytes, 0)?;
        let mut numbers = bytes.chunks_exact(8).map(|eight| {
            let mut number = [0; 8];
            number.copy_from_slice(eight);
            u64::from_le_bytes(number)
        });
        let mut next = || numbers.next().unwrap_or_default();
        let gap = Self {
            start: next(),
            end: next(),
            ahead: next(),
            behind: next(),
        };
        if gap.start > gap.end || gap.ahead > gap.behind.saturating_add(1) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Some(gap))
    }
}

/// Gives back the room of a range of a file, whose length and offsets stay.
pub(crate) fn let_go(file: &File, from: u64, to: u64) -> Result<(), Errno> {
    if from >= to {
        return Ok(());
    }
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, how, from, to - from)
}
