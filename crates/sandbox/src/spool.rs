//! What a job prints, on disk: one file of merged bytes, one of where the streams change.
//!
//! Both are nameless files in the session's own directory: outside the workspace, for nobody else
//! to open, and gone with the last handle, also after a crash. What is held in memory is two
//! numbers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use outfitter_core::{Offset, Stream};
use rustix::fs::{Mode, OFlags};

/// The most that is kept of a job's output, its index included. What comes after is counted.
pub const SPOOL_BYTES: u64 = 256 * 1024 * 1024;

/// The most that is kept of the output of all jobs of a session that can still be read. The output
/// of the oldest that have ended goes first.
pub const SESSION_SPOOL_BYTES: u64 = 1024 * 1024 * 1024;

/// The same of all sessions of this program.
pub const ALL_SPOOL_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// What all sessions of this program hold.
static ALL: AtomicU64 = AtomicU64::new(0);

/// One change of stream: where it is, and in the lowest bit to which.
const RECORD: u64 = 8;

/// The files of a spool. Cheap reads from anywhere; one writer, which keeps a [`Tally`].
#[derive(Debug)]
pub(crate) struct Spool {
    bytes: File,
    changes: File,
    quota: Arc<Quota>,
    taken: AtomicU64,
}

/// What the spools of a session hold.
#[derive(Debug, Default)]
pub(crate) struct Quota(AtomicU64);

impl Quota {
    /// Whether a job's whole output would still fit.
    pub(crate) fn has_room_without(&self, freed: u64) -> bool {
        let free = |used: &AtomicU64, most: u64| {
            used.load(Ordering::Relaxed).saturating_sub(freed) + SPOOL_BYTES <= most
        };
        free(&self.0, SESSION_SPOOL_BYTES) && free(&ALL, ALL_SPOOL_BYTES)
    }

    /// As much of it as there is room for.
    fn take(&self, wanted: u64) -> u64 {
        let session = take(&self.0, wanted, SESSION_SPOOL_BYTES);
        let all = take(&ALL, session, ALL_SPOOL_BYTES);
        self.0.fetch_sub(session - all, Ordering::Relaxed);
        all
    }

    fn give_back(&self, taken: u64) {
        self.0.fetch_sub(taken, Ordering::Relaxed);
        ALL.fetch_sub(taken, Ordering::Relaxed);
    }
}

fn take(used: &AtomicU64, wanted: u64, most: u64) -> u64 {
    let mut got = 0;
    // Always some: the closure never refuses, it only takes less.
    let _ = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
        got = wanted.min(most.saturating_sub(now));
        Some(now + got)
    });
    got
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.quota.give_back(*self.taken.get_mut());
    }
}

/// How far a spool has been written: all that a reader must know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Bytes that are kept.
    pub(crate) written: u64,
    changes: u64,
    last: Option<Which>,
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
    /// Bytes that were not kept.
    pub(crate) dropped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Stdout,
    Stderr,
}

impl From<Which> for Stream {
    fn from(which: Which) -> Self {
        match which {
            Which::Stdout => Self::Stdout,
            Which::Stderr => Self::Stderr,
        }
    }
}

impl Tally {
    fn room(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.written + (self.changes + 1) * RECORD)
    }
}

impl Spool {
    pub(crate) fn create(dir: &Path, quota: Arc<Quota>) -> io::Result<Self> {
        Ok(Self {
            bytes: nameless(dir)?,
            changes: nameless(dir)?,
            quota,
            taken: AtomicU64::new(0),
        })
    }

    /// Appends a piece, or as much of it as there is room for.
    pub(crate) fn append(
        &self,
        tally: &mut Tally,
        stream: outfitter_process::Stream,
        piece: &[u8],
    ) -> io::Result<()> {
        self.append_within(tally, stream, piece, SPOOL_BYTES)
    }

    fn append_within(
        &self,
        tally: &mut Tally,
        stream: outfitter_process::Stream,
        piece: &[u8],
        limit: u64,
    ) -> io::Result<()> {
        let length = piece.len() as u64;
        let which = match stream {
            outfitter_process::Stream::Stdout => {
                tally.stdout += length;
                Which::Stdout
            }
            outfitter_process::Stream::Stderr => {
                tally.stderr += length;
                Which::Stderr
            }
        };
        // Once something is lost nothing more is kept: a gap inside would look like output.
        let kept = if tally.dropped > 0 {
            0
        } else {
            self.quota.take(length.min(tally.room(limit)))
        };
        self.taken.fetch_add(kept, Ordering::Relaxed);
        if kept > 0 {
            if tally.last != Some(which) {
                let record = tally.written << 1 | u64::from(which == Which::Stderr);
                self.changes
                    .write_all_at(&record.to_le_bytes(), tally.changes * RECORD)?;
                tally.changes += 1;
                tally.last = Some(which);
            }
            let kept = usize::try_from(kept).unwrap_or(piece.len());
            self.bytes.write_all_at(&piece[..kept], tally.written)?;
            tally.written += kept as u64;
        }
        tally.dropped += length - kept;
        Ok(())
    }

    /// At most `max` bytes from `from` on, each piece of one stream, and where to read on.
    pub(crate) fn read(
        &self,
        tally: &Tally,
        from: Offset,
        max: usize,
    ) -> io::Result<(Vec<(Stream, Bytes)>, Offset)> {
        let start = from.0.min(tally.written);
        let end = tally.written.min(start.saturating_add(max as u64));
        let mut buffer = vec![0; usize::try_from(end - start).unwrap_or(0)];
        self.bytes.read_exact_at(&mut buffer, start)?;
        let buffer = Bytes::from(buffer);

        let mut pieces = Vec::new();
        let mut at = start;
        let mut index = self.change_at(tally, start)?;
        while at < end {
            let (_, which) = self.change(index)?;
            let until = if index + 1 < tally.changes {
                self.change(index + 1)?.0.min(end)
            } else {
                end
            };
            let range = |offset: u64| usize::try_from(offset - start).unwrap_or(buffer.len());
            pieces.push((which.into(), buffer.slice(range(at)..range(until))));
            at = until;
            index += 1;
        }
        Ok((pieces, Offset(end)))
    }

    /// The last change at or before an offset.
    fn change_at(&self, tally: &Tally, offset: u64) -> io::Result<u64> {
        let (mut low, mut high) = (0, tally.changes);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.change(middle)?.0 <= offset {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn change(&self, index: u64) -> io::Result<(u64, Which)> {
        let mut record = [0; 8];
        self.changes.read_exact_at(&mut record, index * RECORD)?;
        let record = u64::from_le_bytes(record);
        let which = if record & 1 == 0 {
            Which::Stdout
        } else {
            Which::Stderr
        };
        Ok((record >> 1, which))
    }
}

/// A file without a name; where the file system has none, one whose name is removed at once.
fn nameless(dir: &Path) -> io::Result<File> {
    let private = Mode::from_raw_mode(0o600);
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    if let Ok(fd) = rustix::fs::open(dir, flags | OFlags::TMPFILE, private) {
        return Ok(File::from(fd));
    }
    let name = format!(
        ".spool-{}",
        outfitter_core::JobId::mint(&outfitter_core::SystemClock)
    );
    let path = dir.join(name);
    let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(&path, flags, private)?);
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_process::Stream::{Stderr, Stdout};
    use proptest::prelude::*;

    fn spool() -> (tempfile::TempDir, Spool) {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::create(dir.path(), Arc::default()).unwrap();
        (dir, spool)
    }

    #[test]
    fn it_leaves_no_name_behind() {
        let (dir, _spool) = spool();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nothing_is_kept_after_it() {
        let (_dir, spool) = spool();
        let mut tally = Tally::default();
        let limit = 10 + RECORD * 2;
        for (stream, piece) in [
            (Stdout, "0123"),
            (Stderr, "456789"),
            (Stderr, "x"),
            (Stdout, "y"),
        ] {
            spool
                .append_within(&mut tally, stream, piece.as_bytes(), limit)
                .unwrap();
        }
        let (pieces, next) = spool.read(&tally, Offset(0), 100).unwrap();
        let kept: Vec<u8> = pieces
            .iter()
            .flat_map(|(_, bytes)| bytes.to_vec())
            .collect();
        assert_eq!(kept.len() as u64, tally.written);
        assert_eq!(next, Offset(tally.written));
        assert!(b"0123456789".starts_with(&kept), "{kept:?}");
        assert_eq!(tally.written + tally.dropped, 12);
        assert!(tally.dropped > 0);
        assert_eq!((tally.stdout, tally.stderr), (5, 7));
    }

    proptest! {
        #[test]
        fn every_range_is_exact_and_ordered(
            written in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..20)), 0..40),
            from in 0_u64..500,
            max in 1_usize..100,
        ) {
            let (_dir, spool) = spool();
            let mut tally = Tally::default();
            let mut expected: Vec<(Stream, u8)> = Vec::new();
            for (is_err, piece) in &written {
                let stream = if *is_err { Stderr } else { Stdout };
                spool.append(&mut tally, stream, piece).unwrap();
                let stream = if *is_err { Stream::Stderr } else { Stream::Stdout };
                expected.extend(piece.iter().map(|byte| (stream, *byte)));
            }
            let (pieces, next) = spool.read(&tally, Offset(from), max).unwrap();
            let got: Vec<(Stream, u8)> = pieces
                .iter()
                .flat_map(|(stream, bytes)| bytes.iter().map(|byte| (*stream, *byte)))
                .collect();
            let start = usize::try_from(from).unwrap().min(expected.len());
            let end = expected.len().min(start + max);
            prop_assert_eq!(&got[..], &expected[start..end]);
            prop_assert_eq!(next, Offset(end as u64));
            prop_assert!(pieces.iter().all(|(_, bytes)| !bytes.is_empty()));
            prop_assert!(pieces.windows(2).all(|two| two[0].0 != two[1].0));
        }
    }
}
