//! What is looked for, and what of it one file has.

use std::io::{self, Read};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::Override;
use ignore::types::Types;
use outfitter_core::{FilesError, Search, SearchFound, SearchHit, SearchMode};

use super::cancel::Gone;
use super::decoded::{Decoded, Room};
use super::error::invalid;
use super::hits::{Hits, Wanted, weight};
use super::limits::{
    MAX_CONTEXT_LINES, MAX_FOUND_BYTES, MAX_GROWTH_BYTES, MAX_RESULTS, MAX_SEARCH_HEAP,
};
use super::notes::Notes;
use super::terms::{matcher, names, types};

/// Why a file was left.
const GROWS: &str = "it grew faster than it was searched";

/// A search made ready: what cannot be understood is refused before anything is opened.
pub(super) struct Job<'a> {
    matcher: RegexMatcher,
    searcher: SearcherBuilder,
    wanted: Wanted,
    names: Override,
    types: Types,
    pub(super) gone: &'a Gone,
}

/// What one thread searches files with, one after the other.
pub(super) struct Tools {
    searcher: Searcher,
    room: Room,
}

/// What one file gave.
pub(super) enum Outcome {
    Hits {
        hits: Vec<SearchHit>,
        count: u64,
        over: bool,
        /// Whether it was left because it grew faster than it was searched.
        grows: bool,
    },
    Binary,
    Skipped(String),
    Nothing,
}

impl<'a> Job<'a> {
    pub(super) fn new(search: &Search, gone: &'a Gone) -> Result<Self, FilesError> {
        for lines in [search.before, search.after] {
            if lines > MAX_CONTEXT_LINES {
                return Err(invalid(
                    &format!("{lines} lines of context"),
                    format!("at most {MAX_CONTEXT_LINES} are given"),
                ));
            }
        }
        let (before, after) = match search.mode {
            SearchMode::Content => (search.before as usize, search.after as usize),
            SearchMode::Files | SearchMode::Count => (0, 0),
        };
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_number(search.mode == SearchMode::Content)
            .multi_line(search.multiline)
            .before_context(before)
            .after_context(after)
            .heap_limit(Some(MAX_SEARCH_HEAP))
            .binary_detection(BinaryDetection::quit(0));
        Ok(Self {
            matcher: matcher(search)?,
            searcher,
            wanted: Wanted {
                mode: search.mode,
                limit: search.limit.min(MAX_RESULTS),
                before,
                after,
            },
            names: names(search.glob.as_deref())?,
            types: types(search.file_type.as_deref())?,
            gone,
        })
    }

    pub(super) fn tools(&self) -> Tools {
        Tools {
            searcher: self.searcher.build(),
            room: Room::default(),
        }
    }

    /// Whether a file of this path beneath the start is to be searched.
    pub(super) fn wants(&self, relative: &str) -> bool {
        !self.names.matched(relative, false).is_ignore()
            && !self.types.matched(relative, false).is_ignore()
    }

    /// What a file gives that had this size when it was opened. Whoever writes it faster than it is
    /// searched does not keep the search.
    pub(super) fn of_growing(
        &self,
        path: &str,
        file: impl Read,
        size: u64,
        tools: &mut Tools,
    ) -> Outcome {
        let mut file = file.take(size.saturating_add(MAX_GROWTH_BYTES));
        let outcome = self.of_file(path, &mut file, tools);
        if file.limit() > 0 {
            return outcome;
        }
        match outcome {
            Outcome::Hits {
                hits, count, over, ..
            } => Outcome::Hits {
                hits,
                count,
                over,
                grows: true,
            },
            Outcome::Nothing => Outcome::Skipped(GROWS.to_owned()),
            Outcome::Binary | Outcome::Skipped(_) => outcome,
        }
    }

    fn of_file(&self, path: &str, file: impl Read, tools: &mut Tools) -> Outcome {
        let mut hits = Hits::new(path, &self.matcher, self.wanted, self.gone);
        let file = UntilGone {
            file,
            gone: self.gone,
        };
        let mut reader = Decoded::new(file, &mut tools.room);
        let searched = tools
            .searcher
            .search_reader(&self.matcher, &mut reader, &mut hits);
        if let Err(error) = searched {
            return Outcome::Skipped(error.to_string());
        }
        hits.encoding = reader.encoding();
        if hits.binary {
            return Outcome::Binary;
        }
        let (count, over) = (hits.count, hits.over);
        let hits = hits.finish();
        if hits.is_empty() && !over {
            return Outcome::Nothing;
        }
        Outcome::Hits {
            hits,
            count,
            over,
            grows: false,
        }
    }

    /// Adds what one file gave. False once there is more than the limit takes.
    pub(super) fn take(
        &self,
        outcome: Outcome,
        path: &str,
        found: &mut SearchFound,
        notes: &mut Notes,
    ) -> bool {
        let (hits, count, over) = match outcome {
            Outcome::Hits {
                hits,
                count,
                over,
                grows,
            } => {
                if grows {
                    notes.skipped(path, GROWS);
                }
                (hits, count, over)
            }
            Outcome::Nothing => return true,
            Outcome::Binary => {
                notes.binary(path);
                return true;
            }
            Outcome::Skipped(why) => {
                notes.skipped(path, why);
                return true;
            }
        };
        let room = self.wanted.limit - found.hits.len();
        let mut taken = 0;
        for hit in hits.iter().take(room) {
            if notes.given >= MAX_FOUND_BYTES {
                break;
            }
            notes.given += weight(hit);
            taken += 1;
        }
        let fits = !over && taken == hits.len();
        found.count += match self.wanted.mode {
            SearchMode::Content | SearchMode::Files => taken as u64,
            SearchMode::Count if taken == 0 => 0,
            SearchMode::Count => count,
        };
        found.hits.extend(hits.into_iter().take(taken));
        notes.truncated |= !fits;
        fits
    }
}

/// A file that reads as ended when nobody waits any more.
struct UntilGone<'a, R> {
    file: R,
    gone: &'a Gone,
}

impl<R: Read> Read for UntilGone<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.gone.is_set() {
            return Ok(0);
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
