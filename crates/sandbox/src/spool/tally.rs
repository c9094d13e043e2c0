//! How far a spool has been written, and where its streams change.

use outfitter_core::Stream;

use super::gap::Gap;

/// One change of stream: where it is, and in the lowest bit to which.
pub(crate) const RECORD: u64 = 8;

/// How far a spool has been written: all that a reader must know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Bytes that were printed, those in the gap among them.
    pub(crate) written: u64,
    pub(super) changes: u64,
    pub(super) last: Option<Which>,
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
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
    pub(super) fn add(&mut self, from: Option<(u64, Which)>, to: u64) {
        match from {
            Some((at, Which::Stdout)) => self.stdout += to - at,
            Some((at, Which::Stderr)) => self.stderr += to - at,
            None => {}
        }
    }

    /// Counts what lies behind the last change.
    pub(super) fn end_at(&mut self, last: Option<(u64, Which)>) {
        self.add(last, self.written);
        self.last = last.map(|(_, which)| which);
    }

    /// What the files hold of it.
    pub(super) fn held(&self, gap: Option<&Gap>) -> u64 {
        let bytes = self.written - gap.map_or(0, Gap::bytes);
        let changes = self.changes - gap.map_or(0, Gap::changes);
        bytes + changes * RECORD
    }
}

/// Where a change is, and to which stream.
pub(crate) fn change_of(record: &[u8]) -> (u64, Which) {
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
