//! What a job prints, on disk: one file of merged bytes, one of where the streams change.
//!
//! Both lie in the session's own directory: outside the workspace, and for nobody else to open.
//! They have the name of their job, so that a program that is started anew can still read what was
//! printed before; they go when their job is let go. What is held in memory is two numbers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use outfitter_core::{JobId, Offset, Stream};
use rustix::fs::{Mode, OFlags};

/// The most that is kept of a job's output, its index included. What comes after is counted.
pub const SPOOL_BYTES: u64 = 256 * 1024 * 1024;

/// The most that is kept of the output of all jobs of a session that can still be read. The output
/// of the oldest that have ended goes first.
pub const SESSION_SPOOL_BYTES: u64 = 1024 * 1024 * 1024;

/// The same of all sessions of this program.
pub const ALL_SPOOL_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// What a session that ends leaves of the output of its last jobs, for whoever opens it again.
pub const LEFT_SPOOL_BYTES: u64 = 64 * 1024 * 1024;

/// The ends of the two files' names.
const BYTES: &str = "out";
const CHANGES: &str = "streams";

/// How much of the changes is read at a time when they are counted.
const COUNTED: usize = 64 * 1024;

/// What all sessions of this program hold.
static ALL: AtomicU64 = AtomicU64::new(0);

/// One change of stream: where it is, and in the lowest bit to which.
const RECORD: u64 = 8;

/// The files of a spool. Cheap reads from anywhere; one writer, which keeps a [`Tally`].
#[derive(Debug)]
pub(crate) struct Spool {
    bytes: File,
    changes: File,
    names: [PathBuf; 2],
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
    /// Counts what lies between a change and where the next one is.
    fn add(&mut self, from: Option<(u64, Which)>, to: u64) {
        match from {
            Some((at, Which::Stdout)) => self.stdout += to - at,
            Some((at, Which::Stderr)) => self.stderr += to - at,
            None => {}
        }
    }

    /// Counts what lies behind the last change.
    fn end_at(&mut self, last: Option<(u64, Which)>) {
        self.add(last, self.written);
        self.last = last.map(|(_, which)| which);
    }

    fn room(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.written + (self.changes + 1) * RECORD)
    }
}

impl Spool {
    /// The files of a new job.
    pub(crate) fn create(dir: &Path, job: &JobId, quota: Arc<Quota>) -> io::Result<Self> {
        let names = names(dir, job);
        let spool = Self {
            bytes: create(&names[0])?,
            changes: create(&names[1])?,
            names,
            quota,
            taken: AtomicU64::new(0),
        };
        Ok(spool)
    }

    /// The files that an earlier program left of a job; none where there are none that make sense,
    /// or no room for them.
    pub(crate) fn reopen(dir: &Path, job: &JobId, quota: Arc<Quota>) -> Option<(Self, Tally)> {
        let names = names(dir, job);
        let spool = Self {
            bytes: open(&names[0]).ok()?,
            changes: open(&names[1]).ok()?,
            names,
            quota,
            taken: AtomicU64::new(0),
        };
        let tally = spool.count().ok().flatten()?;
        let taken = spool.quota.take(tally.written);
        spool.taken.store(taken, Ordering::Relaxed);
        (taken == tally.written).then_some((spool, tally))
    }

    /// Takes their names: they are gone with the last handle.
    pub(crate) fn remove(&self) {
        for name in &self.names {
            // What is gone already is gone.
            let _ = std::fs::remove_file(name);
        }
    }

    /// How far it was written, by what the files say.
    fn count(&self) -> io::Result<Option<Tally>> {
        let mut tally = Tally {
            written: self.bytes.metadata()?.len().min(SPOOL_BYTES),
            ..Tally::default()
        };
        let records = self.changes.metadata()?.len() / RECORD;
        let mut buffer = vec![0; COUNTED];
        let mut before = None;
        while tally.changes < records {
            let left = usize::try_from((records - tally.changes) * RECORD).unwrap_or(COUNTED);
            let piece = &mut buffer[..left.min(COUNTED)];
            self.changes.read_exact_at(piece, tally.changes * RECORD)?;
            for record in piece.chunks_exact(8) {
                let (at, which) = change_of(record);
                if at >= tally.written {
                    // The program ended between the two files.
                    tally.end_at(before);
                    return Ok(Some(tally));
                }
                let follows = before.map_or(at == 0, |(last, _)| at > last);
                if !follows {
                    return Ok(None);
                }
                tally.add(before, at);
                before = Some((at, which));
                tally.changes += 1;
            }
        }
        if before.is_none() {
            tally.written = 0;
        }
        tally.end_at(before);
        Ok(Some(tally))
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
        Ok(change_of(&record))
    }
}

/// Where a change is, and to which stream.
fn change_of(record: &[u8]) -> (u64, Which) {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(record);
    let record = u64::from_le_bytes(bytes);
    let which = if record & 1 == 0 {
        Which::Stdout
    } else {
        Which::Stderr
    };
    (record >> 1, which)
}

fn names(dir: &Path, job: &JobId) -> [PathBuf; 2] {
    [BYTES, CHANGES].map(|end| dir.join(format!("{job}.{end}")))
}

/// Removes the files of jobs that are none.
pub(crate) fn remove_stray(dir: &Path, is_known: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some((job, BYTES | CHANGES)) = name.rsplit_once('.') else {
            continue;
        };
        if !is_known(job) {
            // Somebody else may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, PRIVATE)?))
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(file)
}

const PRIVATE: Mode = Mode::from_raw_mode(0o600);

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
