//! Searching the content of files, with ripgrep's matcher and searcher over our own handles.
//!
//! Files come in the order of their paths, in batches; the files of a batch are searched by a few
//! threads while the next batch is collected, and their results are put back in order. So the
//! result is the same however many threads there are.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::Override;
use ignore::types::Types;
use outfitter_core::{FileKind, FilesError, Search, SearchFound, SearchHit, SearchMode};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;

use super::cancel::Gone;
use super::error::invalid;
use super::handle::{kind_of, size_of, word_of};
use super::hits::{Hits, Wanted, weight};
use super::limits::{
    MAX_AHEAD_BYTES, MAX_CONTEXT_LINES, MAX_FOUND_BYTES, MAX_GROWTH_BYTES, MAX_RESULTS,
    MAX_SEARCH_HEAP, MAX_SEARCH_THREADS,
};
use super::notes::Notes;
use super::pattern::means_hidden;
use super::place::Place;
use super::read::open_pinned;
use super::root::{NO_LINKS, open_beneath};
use super::scan::{Found, Rules, Scanner, Start, why};
use super::terms::{matcher, names, types};
use super::walk::Walk;
use crate::protected::Identities;

/// The first batch is small, so that a search with a low limit ends early.
const FIRST_BATCH: usize = 64;
const BATCH: usize = 1024;
/// Why a file was left.
const GROWS: &str = "it grew faster than it was searched";
/// Fewer files than this are not worth a thread.
const WORTH_THREADS: usize = 16;

/// A search made ready: what cannot be understood is refused before anything is opened.
pub(super) struct Job<'a> {
    matcher: RegexMatcher,
    pub(super) searcher: SearcherBuilder,
    wanted: Wanted,
    names: Override,
    types: Types,
    identities: Identities,
    gone: &'a Gone,
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

pub(super) fn search(
    place: &Place<'_>,
    search: &Search,
    gone: &Gone,
) -> Result<SearchFound, FilesError> {
    let job = Job::new(place.identities(), search, gone)?;
    let start = Start::of(place)?;
    match start.pinned.kind() {
        FileKind::File => job.in_file(&start, place),
        FileKind::Directory => job.in_directory(&start, place, search),
        FileKind::Symlink | FileKind::Special => {
            start.pinned.must_be_file(&place.shown)?;
            Ok(SearchFound::default())
        }
    }
}

impl<'a> Job<'a> {
    pub(super) fn new(
        identities: Identities,
        search: &Search,
        gone: &'a Gone,
    ) -> Result<Self, FilesError> {
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
            identities,
            gone,
        })
    }

    fn in_file(&self, start: &Start, place: &Place<'_>) -> Result<SearchFound, FilesError> {
        let file = open_pinned(&start.pinned, &place.shown)?;
        let mut found = SearchFound::default();
        let mut notes = Notes::default();
        let size = size_of(&start.pinned.stat);
        let outcome = self.of_growing(start.shown(), &file, size, &mut self.searcher.build());
        self.take(outcome, start.shown(), &mut found, &mut notes);
        self.gone.check()?;
        found.walked = notes.finish(!found.hits.is_empty());
        Ok(found)
    }

    fn in_directory(
        &self,
        start: &Start,
        place: &Place<'_>,
        search: &Search,
    ) -> Result<SearchFound, FilesError> {
        let rules = Rules {
            hidden: search.glob.as_deref().is_some_and(means_hidden),
            ignored: false,
        };
        let scanner = Scanner::new(place, start, rules, self.gone);
        let mut walk = Walk::new(scanner, &|_, _| false);
        let mut found = SearchFound::default();
        let mut batch = self.collect(&mut walk, FIRST_BATCH)?;
        while !batch.is_empty() {
            let (outcomes, next) = self.of_batch(start, &batch, &mut walk)?;
            self.gone.check()?;
            let notes = &mut walk.scanner.notes;
            let mut searcher = self.searcher.build();
            let has_room = batch.iter().zip(outcomes).all(|(file, outcome)| {
                let outcome = outcome.unwrap_or_else(|| self.of_found(start, file, &mut searcher));
                self.take(outcome, &file.path, &mut found, notes)
            });
            self.gone.check()?;
            if !has_room {
                break;
            }
            batch = next;
        }
        found.walked = walk.scanner.notes.finish(!found.hits.is_empty());
        Ok(found)
    }

    /// The next files whose names fit.
    fn collect(&self, walk: &mut Walk<'_>, size: usize) -> Result<Vec<Found>, FilesError> {
        let mut batch = Vec::with_capacity(size);
        while batch.len() < size {
            let Some(found) = walk.next()? else { break };
            let relative = walk.scanner.relative(&found.path);
            if self.wants(relative) {
                batch.push(found);
            }
        }
        Ok(batch)
    }

    /// Whether a file of this path beneath the start is to be searched.
    pub(super) fn wants(&self, relative: &str) -> bool {
        !self.names.matched(relative, false).is_ignore()
            && !self.types.matched(relative, false).is_ignore()
    }

    /// Searches a batch and meanwhile collects the next one. A file for whose hits there is no
    /// room yet has no outcome.
    fn of_batch(
        &self,
        start: &Start,
        batch: &[Found],
        walk: &mut Walk<'_>,
    ) -> Result<(Vec<Option<Outcome>>, Vec<Found>), FilesError> {
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MAX_SEARCH_THREADS);
        let ahead = AtomicU64::new(0);
        let search_one = |found: &Found, searcher: &mut Searcher| {
            if ahead.load(Ordering::Relaxed) >= MAX_AHEAD_BYTES {
                return None;
            }
            let outcome = self.of_found(start, found, searcher);
            if let Outcome::Hits { hits, .. } = &outcome {
                ahead.fetch_add(hits.iter().map(weight).sum(), Ordering::Relaxed);
            }
            Some(outcome)
        };
        if threads == 1 || batch.len() < WORTH_THREADS {
            let mut searcher = self.searcher.build();
            let outcomes = batch
                .iter()
                .map(|found| search_one(found, &mut searcher))
                .collect();
            return Ok((outcomes, self.collect(walk, BATCH)?));
        }
        let next_file = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(batch.len()));
        let next_batch = std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut searcher = self.searcher.build();
                    let mut own = Vec::new();
                    loop {
                        let at = next_file.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = batch.get(at) else { break };
                        own.push((at, search_one(found, &mut searcher)));
                    }
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .append(&mut own);
                });
            }
            self.collect(walk, BATCH)
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(at, _)| *at);
        let outcomes = done.into_iter().map(|(_, outcome)| outcome).collect();
        Ok((outcomes, next_batch))
    }

    fn of_found(&self, start: &Start, found: &Found, searcher: &mut Searcher) -> Outcome {
        if self.gone.is_set() {
            return Outcome::Nothing;
        }
        let base: &OwnedFd = &start.pinned.fd;
        let below = start.prefix.len();
        let relative = found.path.get(below..).unwrap_or(&found.path);
        // Non-blocking, in case a pipe has taken the name since it was read.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match open_beneath(base, relative, flags, NO_LINKS) {
            Ok(fd) => fd,
            Err(errno) => return Outcome::Skipped(why(errno)),
        };
        let size = match rustix::fs::fstat(&file) {
            Ok(stat) => {
                let kind = kind_of(&stat);
                if kind != FileKind::File {
                    return Outcome::Skipped(format!("it is {} now", word_of(&stat, kind)));
                }
                if let Some(why) = self.identities.has(&stat) {
                    return Outcome::Skipped(why.to_owned());
                }
                size_of(&stat)
            }
            Err(errno) => return Outcome::Skipped(why(errno)),
        };
        self.of_growing(&found.path, File::from(file), size, searcher)
    }

    /// What a file gives that had this size when it was opened. Whoever writes it faster than it is
    /// searched does not keep the search.
    pub(super) fn of_growing(
        &self,
        path: &str,
        file: impl Read,
        size: u64,
        searcher: &mut Searcher,
    ) -> Outcome {
        let mut file = file.take(size.saturating_add(MAX_GROWTH_BYTES));
        let outcome = self.of_file(path, &mut file, searcher);
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

    fn of_file(&self, path: &str, file: impl Read, searcher: &mut Searcher) -> Outcome {
        let mut hits = Hits::new(path, &self.matcher, self.wanted, self.gone);
        let reader = UntilGone {
            file,
            gone: self.gone,
        };
        if let Err(error) = searcher.search_reader(&self.matcher, reader, &mut hits) {
            return Outcome::Skipped(error.to_string());
        }
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
