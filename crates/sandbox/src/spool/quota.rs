//! How much output is kept of all jobs of a session, and of all sessions.

use std::sync::atomic::{AtomicU64, Ordering};

use super::SPOOL_BYTES;

/// The most that is kept of the output of all jobs of a session that can still be read. The output
/// of the oldest that have ended goes first.
pub const SESSION_SPOOL_BYTES: u64 = 1024 * 1024 * 1024;

/// The same of all sessions of this program.
pub const ALL_SPOOL_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// What all sessions of this program hold.
static ALL: AtomicU64 = AtomicU64::new(0);

/// What the spools of a session hold.
#[derive(Debug, Default)]
pub(crate) struct Quota(pub(crate) AtomicU64);

impl Quota {
    /// Whether a job's whole output would still fit.
    pub(crate) fn has_room_without(&self, freed: u64) -> bool {
        let free = |used: &AtomicU64, most: u64| {
            used.load(Ordering::Relaxed).saturating_sub(freed) + SPOOL_BYTES <= most
        };
        free(&self.0, SESSION_SPOOL_BYTES) && free(&ALL, ALL_SPOOL_BYTES)
    }

    /// As much of it as there is room for.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let session = take(&self.0, wanted, SESSION_SPOOL_BYTES);
        let all = take(&ALL, session, ALL_SPOOL_BYTES);
        self.0.fetch_sub(session - all, Ordering::Relaxed);
        all
    }

    pub(crate) fn give_back(&self, taken: u64) {
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
