//! What a job prints, on disk: one file of merged bytes, one of where the streams change.
//!
//! Both lie in the session's own directory: outside the workspace, and for nobody else to open.
//! They have the name of their job, so that a program that is started anew can still read what was
//! printed before; they go when their job is let go. What is held in memory is a few numbers. They
//! are open while their job writes, and afterwards as long as somebody reads.
//!
//! Of a job that prints more than is kept, the beginning and the end are: what lies between is a
//! [`Gap`], and everything keeps its offset.

mod files;
mod gap;
mod names;
mod quota;
mod tally;

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use outfitter_core::{JobId, Offset, Stream};

use files::{Handles, open};
use gap::{Gap, let_go};
use names::names;
pub(crate) use names::{job_of, remove_stray};
pub(crate) use quota::Quota;
pub use quota::{ALL_SPOOL_BYTES, SESSION_SPOOL_BYTES};
pub(crate) use tally::Tally;
use tally::{RECORD, Which, change_of};

/// The most that is kept of a job's output, its index included: a quarter of it of the beginning, the
/// rest of the end.
pub const SPOOL_BYTES: u64 = 256 * 1024 * 1024;

/// What a session that ends leaves of the output of its last jobs, for whoever opens it again.
pub const LEFT_SPOOL_BYTES: u64 = 64 * 1024 * 1024;

/// What part of the bound is the beginning.
const HEAD_PART: u64 = 4;

/// The least that is let go at a time, where that is not most of what is kept.
const LET_GO_BYTES: u64 = 1024 * 1024;

/// How much of the changes is read at a time when they are counted.
const COUNTED: usize = 64 * 1024;

/// The files of a spool. Cheap reads from anywhere; one writer, which keeps a [`Tally`].
#[derive(Debug)]
pub(crate) struct Spool {
    /// While it is written.
    open: RwLock<Option<Arc<Handles>>>,
    /// Held while it grows, so that nobody reads where it does.
    gap: RwLock<Option<Gap>>,
    names: [PathBuf; 3],
    quota: Arc<Quota>,
    taken: AtomicU64,
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.quota.give_back(*self.taken.get_mut());
    }
}

impl Spool {
    /// The files of a new job.
    pub(crate) fn create(dir: &Path, job: &JobId, quota: Arc<Quota>) -> io::Result<Self> {
        let names = names(dir, job);
        let handles = Handles::create(&names)?;
        let spool = Self {
            open: RwLock::new(Some(Arc::new(handles))),
            gap: RwLock::new(None),
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
        let gone = open(&names[2]).ok();
        let gap = gone.as_ref().map(Gap::read).transpose().ok()?.flatten();
        let handles = Handles::to_read(&names).ok()?;
        let spool = Self {
            open: RwLock::default(),
            gap: RwLock::new(gap),
            names,
            quota,
            taken: AtomicU64::new(0),
        };
        let tally = spool.count(&handles).ok().flatten()?;
        let kept = spool.kept(&tally);
        let taken = spool.quota.take(kept);
        spool.taken.store(taken, Ordering::Relaxed);
        (taken == kept).then_some((spool, tally))
    }

    /// The files, as they are open or for this once.
    fn handles(&self) -> io::Result<Arc<Handles>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        match &*open {
            Some(handles) => Ok(handles.clone()),
            None => Handles::to_read(&self.names).map(Arc::new),
        }
    }

    /// Nothing more is written. What is read from now on is opened for it.
    pub(crate) fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Takes their names: they are gone with the last handle.
    pub(crate) fn remove(&self) {
        for name in &self.names {
            // What is gone already is gone.
            let _ = std::fs::remove_file(name);
        }
    }

    /// What is not kept any more.
    pub(crate) fn gap(&self) -> Option<Gap> {
        *self.gap.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes that were printed are not kept.
    pub(crate) fn dropped(&self) -> u64 {
        self.gap().map_or(0, |gap| gap.bytes())
    }

    /// How many are.
    pub(crate) fn kept(&self, tally: &Tally) -> u64 {
        tally.written.saturating_sub(self.dropped())
    }

    /// How far it was written, by what the files say.
    fn count(&self, files: &Handles) -> io::Result<Option<Tally>> {
        let gap = self.gap();
        let length = files.bytes.metadata()?.len();
        let mut tally = Tally {
            // What was printed last may have been left out.
            written: gap.map_or(length.min(SPOOL_BYTES), |gap| gap.end.max(length)),
            ..Tally::default()
        };
        let records = files.changes.metadata()?.len() / RECORD;
        let mut buffer = vec![0; COUNTED];
        let mut before = None;
        while tally.changes < records {
            let left = usize::try_from((records - tally.changes) * RECORD).unwrap_or(COUNTED);
            let piece = &mut buffer[..left.min(COUNTED)];
            files.changes.read_exact_at(piece, tally.changes * RECORD)?;
            for record in piece.chunks_exact(8) {
                if gap.is_some_and(|gap| (gap.ahead..gap.behind).contains(&tally.changes)) {
                    tally.changes += 1;
                    continue;
                }
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

    /// Appends a piece. Where there is no room for it, what came before it and after the beginning
    /// makes room, and what that is not enough for is left out.
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
        if length == 0 {
            return Ok(());
        }
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
        let kept = self.make_room(tally, length, limit);
        let kept = kept.and_then(|has_room| {
            if has_room {
                self.write(tally, which, piece)?;
            }
            Ok(has_room)
        });
        match kept {
            Ok(true) => {
                tally.written += length;
                Ok(())
            }
            Ok(false) => self.leave_out(tally, length, limit),
            Err(error) => {
                self.leave_out(tally, length, limit)?;
                Err(error)
            }
        }
    }

    /// Whether there is room for so much more now.
    fn make_room(&self, tally: &Tally, length: u64, limit: u64) -> io::Result<bool> {
        let held = tally.held(self.gap().as_ref());
        let surplus = (held + length + RECORD).saturating_sub(limit);
        if surplus > 0 {
            self.widen(tally, surplus, limit)?;
            let held = tally.held(self.gap().as_ref());
            if held + length + RECORD > limit {
                return Ok(false);
            }
        }
        let mut taken = self.quota.take(length);
        if taken < length {
            // Others hold the rest: then this one has to do with less.
            self.quota.give_back(taken);
            self.widen(tally, length, limit)?;
            taken = self.quota.take(length);
            if taken < length {
                self.quota.give_back(taken);
                return Ok(false);
            }
        }
        self.taken.fetch_add(taken, Ordering::Relaxed);
        Ok(true)
    }

    fn write(&self, tally: &mut Tally, which: Which, piece: &[u8]) -> io::Result<()> {
        let files = self.handles()?;
        files.bytes.write_all_at(piece, tally.written)?;
        if tally.last != Some(which) {
            let record = tally.written << 1 | u64::from(which == Which::Stderr);
            let at = tally.changes * RECORD;
            files.changes.write_all_at(&record.to_le_bytes(), at)?;
            tally.changes += 1;
            tally.last = Some(which);
        }
        Ok(())
    }

    /// Lets go of so many bytes at least behind the beginning, as far as there are so many.
    fn widen(&self, tally: &Tally, least: u64, limit: u64) -> io::Result<()> {
        let now = self.gap();
        let start = now.map_or((limit / HEAD_PART).min(tally.written), |gap| gap.start);
        let end = now.map_or(start, |gap| gap.end);
        let step = least.max(LET_GO_BYTES.min(limit / HEAD_PART));
        let to = end.saturating_add(step).min(tally.written);
        self.set_gap(tally, start, to, to.saturating_sub(end))
    }

    /// The piece that was printed last is in the gap, with all behind the beginning.
    fn leave_out(&self, tally: &mut Tally, length: u64, limit: u64) -> io::Result<()> {
        let now = self.gap();
        let start = now.map_or((limit / HEAD_PART).min(tally.written), |gap| gap.start);
        // It was never kept, unlike what is behind the gap.
        let kept = tally.written - now.map_or(start, |gap| gap.end);
        tally.written += length;
        // What comes next begins anew, of whichever stream it is.
        tally.last = None;
        self.set_gap(tally, start, tally.written, kept)
    }

    /// Makes it this range, which lets go of so many bytes that were kept.
    fn set_gap(&self, tally: &Tally, start: u64, end: u64, freed: u64) -> io::Result<()> {
        let mut gap = self.gap.write().unwrap_or_else(PoisonError::into_inner);
        let before = *gap;
        let (from, from_change) = before.map_or((start, None), |gap| (gap.end, Some(gap.behind)));
        if end <= from && before.is_some() || end == start {
            return Ok(());
        }
        let files = self.handles()?;
        let ahead = match before {
            Some(before) => before.ahead,
            None if start == 0 => 0,
            None => files.change_in(0, tally.changes, start - 1)? + 1,
        };
        let behind = if tally.last.is_none() && end == tally.written {
            // The next one that is written.
            tally.changes
        } else {
            // Perhaps the last that is kept ahead: one stream may go on over the gap.
            let low = from_change.unwrap_or_else(|| ahead.saturating_sub(1));
            files.change_in(low, tally.changes, end)?
        };
        let new = Gap {
            start,
            end,
            ahead,
            behind,
        };
        files
            .gone
            .as_ref()
            .map(|file| new.write(file))
            .transpose()?;
        *gap = Some(new);
        let let_go = let_go(&files.bytes, from, end)
            .and_then(|()| let_go(&files.changes, ahead * RECORD, behind * RECORD));
        let held = self.taken.load(Ordering::Relaxed).min(freed);
        self.taken.fetch_sub(held, Ordering::Relaxed);
        self.quota.give_back(held);
        let_go.map_err(io::Error::from)
    }

    /// At most `max` bytes from `from` on, each piece of one stream, and where to read on. Where they
    /// are not kept any more, the words for that come first, as a piece of no stream.
    pub(crate) fn read(
        &self,
        tally: &Tally,
        from: Offset,
        max: usize,
    ) -> io::Result<(Vec<(Stream, Bytes)>, Offset)> {
        // Nobody lets go of it meanwhile.
        let gap = self.gap.read().unwrap_or_else(PoisonError::into_inner);
        let mut pieces = Vec::new();
        let mut start = from.0.min(tally.written);
        if let Some(gap) = gap.filter(|gap| gap.holds(start)) {
            pieces.push((Stream::Info, Bytes::from(gap.words())));
            start = gap.end;
        }
        let mut end = tally
            .written
            .min(start.saturating_add(max as u64))
            .max(start);
        if let Some(gap) = gap.filter(|gap| start < gap.start) {
            end = end.min(gap.start);
        }
        if start == end {
            return Ok((pieces, Offset(end)));
        }
        let mut buffer = vec![0; usize::try_from(end - start).unwrap_or(0)];
        let files = self.handles()?;
        files.bytes.read_exact_at(&mut buffer, start)?;
        let buffer = Bytes::from(buffer);

        let (low, high) = match *gap {
            Some(gap) if start < gap.start => (0, gap.ahead.min(tally.changes)),
            Some(gap) => (gap.behind, tally.changes),
            None => (0, tally.changes),
        };
        let mut at = start;
        let mut index = files.change_in(low, high, start)?;
        while at < end {
            let (_, which) = files.change(index)?;
            let until = if index + 1 < high {
                files.change(index + 1)?.0.min(end)
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
}

#[cfg(test)]
mod tests;
