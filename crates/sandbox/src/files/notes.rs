//! What a walk saw besides what it gives: bounded, and never silent.

use outfitter_core::Walked;

use super::limits::MAX_REMARKS;

#[derive(Debug, Default)]
pub(super) struct Notes {
    remarks: Vec<String>,
    more: u64,
    binary: u64,
    first_binary: Option<String>,
    ignored: u64,
    /// How much text of hits was given.
    pub(super) given: u64,
    pub(super) truncated: bool,
}

impl Notes {
    /// Something was skipped, and why.
    pub(super) fn skipped(&mut self, path: &str, why: impl std::fmt::Display) {
        if self.remarks.len() < MAX_REMARKS {
            let path = if path.is_empty() { "." } else { path };
            self.remarks.push(format!("{path}: {why}"));
        } else {
            self.more += 1;
        }
    }

    /// A file was not searched because it is not text.
    pub(super) fn binary(&mut self, path: &str) {
        self.binary += 1;
        self.first_binary.get_or_insert_with(|| path.to_owned());
    }

    /// An ignore file left something out. Only said where nothing was found.
    pub(super) fn ignored(&mut self) {
        self.ignored += 1;
    }

    /// The end: `found` is whether the caller gets anything.
    pub(super) fn finish(self, found: bool) -> Walked {
        let mut skipped = self.remarks;
        if self.more > 0 {
            skipped.push(format!("and {} more", self.more));
        }
        match (self.binary, self.first_binary) {
            (0, _) | (_, None) => {}
            (1, Some(path)) => skipped.push(format!("{path}: binary")),
            (count, Some(path)) => skipped.push(format!("{count} binary files, first {path}")),
        }
        if !found && self.ignored > 0 {
            let entries = if self.ignored == 1 {
                "entry"
            } else {
                "entries"
            };
            skipped.push(format!("{} {entries} left out by .gitignore", self.ignored));
        }
        Walked {
            truncated: self.truncated,
            skipped,
        }
    }
}
