//! Searching the content of files, with ripgrep's matcher and searcher over our own handles.
//!
//! Files come in the order of their paths, in batches; the files of a batch are searched by a few
//! threads while the next batch is collected, and their results are put back in order. So the
//! result is the same however many threads there are.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use outfitter_core::{FileKind, FilesError, Search, SearchFound};

use super::cancel::Gone;
use super::error::{Failure, failed};
use super::hits::weight;
use super::job::{Job, Outcome, Tools};
use super::limits::MAX_AHEAD_BYTES;
use super::machine::{Below, Machine};
use super::notes::Notes;
use super::pattern::means_hidden;
use super::place::Place;
use super::scan::{Found, Rules, Scanner, Start};
use super::walk::Walk;
use crate::protected::Identities;

/// The first batch is small, so that a search with a low limit ends early.
const FIRST_BATCH: usize = 64;
const BATCH: usize = 1024;
/// Fewer files than this are not worth a thread.
const WORTH_THREADS: usize = 16;

/// What a file gave, and whether nothing may be fetched after it.
type Searched = Result<(Outcome, bool), FilesError>;

/// What the files of a batch gave, as far as they were searched, and the next batch, where it was
/// collected meanwhile.
type OfBatch = (Vec<Option<Searched>>, Option<Vec<Found>>);

pub(super) fn search<M: Machine>(
    place: &Place<'_, M>,
    search: &Search,
    gone: &Gone,
) -> Result<SearchFound, FilesError> {
    let job = Job::new(search, gone)?;
    let start = Start::of(place)?;
    let most = M::may_fetch(&place.files.limits);
    let searching = Searching {
        job,
        place,
        start: &start,
        identities: M::identities(&place.files.protected),
        most,
        left: AtomicU64::new(most),
    };
    match start.pinned.kind() {
        FileKind::File => searching.in_file(),
        FileKind::Directory => searching.in_directory(search),
        FileKind::Symlink | FileKind::Special => {
            start.pinned.must_be_file(&place.shown)?;
            Ok(SearchFound::default())
        }
    }
}

/// A search where it takes place.
struct Searching<'a, M: Machine> {
    job: Job<'a>,
    place: &'a Place<'a, M>,
    start: &'a Start<M>,
    identities: Identities,
    /// What may be fetched in all, if files are fetched,
    most: u64,
    /// and what may be yet. What comes after is not searched, and that is said.
    left: AtomicU64,
}

impl<M: Machine> Searching<'_, M> {
    fn in_file(&self) -> Result<SearchFound, FilesError> {
        let (place, shown) = (self.place, self.start.shown());
        let mut found = SearchFound::default();
        let mut notes = Notes::default();
        let facts = &self.start.pinned.facts;
        let file = place.machine().open(&self.start.pinned);
        let file = file.map_err(|failure| place.failed(failure))?;
        let mut tools = self.job.tools();
        let (outcome, is_cut) = self.of_open(shown, file, facts.size(), &mut tools);
        self.job.take(outcome, shown, &mut found, &mut notes);
        self.job.gone.check()?;
        if is_cut {
            self.cut(shown, &mut notes);
        }
        found.walked = notes.finish(!found.hits.is_empty());
        Ok(found)
    }

    fn in_directory(&self, search: &Search) -> Result<SearchFound, FilesError> {
        let rules = Rules {
            hidden: search.glob.as_deref().is_some_and(means_hidden),
            ignored: false,
        };
        let scanner = Scanner::new(self.place, self.start, rules, self.job.gone);
        let mut walk = Walk::new(scanner, &|_, _| false);
        let mut found = SearchFound::default();
        let mut batch = self.collect(&mut walk, FIRST_BATCH)?;
        while !batch.is_empty() {
            let (outcomes, next) = self.of_batch(&batch, &mut walk)?;
            self.job.gone.check()?;
            let mut tools = self.job.tools();
            let notes = &mut walk.scanner.notes;
            let mut has_room = true;
            for (file, searched) in batch.iter().zip(outcomes) {
                let searched = searched.unwrap_or_else(|| self.of_found(file, &mut tools));
                let (outcome, is_cut) = searched?;
                has_room = self.job.take(outcome, &file.path, &mut found, notes) && !is_cut;
                if is_cut {
                    self.cut(&file.path, notes);
                }
                if !has_room {
                    break;
                }
            }
            self.job.gone.check()?;
            if !has_room {
                break;
            }
            batch = match next {
                Some(next) => next,
                None => self.collect(&mut walk, FIRST_BATCH)?,
            };
        }
        found.walked = walk.scanner.notes.finish(!found.hits.is_empty());
        Ok(found)
    }

    fn cut(&self, path: &str, notes: &mut Notes) {
        let most = self.most;
        notes.truncated = true;
        notes.skipped(
            path,
            format!("not searched to its end: more than {most} bytes would be fetched"),
        );
    }

    /// The next files whose names fit.
    fn collect(&self, walk: &mut Walk<'_, M>, size: usize) -> Result<Vec<Found>, FilesError> {
        let mut batch = Vec::with_capacity(size);
        while batch.len() < size {
            let Some(found) = walk.next()? else { break };
            if self.job.wants(walk.scanner.relative(&found.path)) {
                batch.push(found);
            }
        }
        Ok(batch)
    }

    /// Searches a batch and meanwhile collects the next one. A file for whose hits there is no
    /// room yet has no outcome. Where one thread does all, each file is searched in its turn, and
    /// the next batch is not collected before it is wanted.
    fn of_batch(&self, batch: &[Found], walk: &mut Walk<'_, M>) -> Result<OfBatch, FilesError> {
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(M::SEARCH_THREADS);
        if threads == 1 || batch.len() < WORTH_THREADS {
            return Ok((batch.iter().map(|_| None).collect(), None));
        }
        let ahead = AtomicU64::new(0);
        let search_one = |found: &Found, tools: &mut Tools| {
            if ahead.load(Ordering::Relaxed) >= MAX_AHEAD_BYTES {
                return None;
            }
            let searched = self.of_found(found, tools);
            if let Ok((Outcome::Hits { hits, .. }, _)) = &searched {
                ahead.fetch_add(hits.iter().map(weight).sum(), Ordering::Relaxed);
            }
            Some(searched)
        };
        let next_file = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(batch.len()));
        let next_batch = std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut tools = self.job.tools();
                    let mut own = Vec::new();
                    loop {
                        let at = next_file.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = batch.get(at) else { break };
                        own.push((at, search_one(found, &mut tools)));
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
        Ok((outcomes, Some(next_batch)))
    }

    fn of_found(&self, found: &Found, tools: &mut Tools) -> Searched {
        // What a listing has told to be empty is not opened for that.
        if self.job.gone.is_set() || found.facts.is_some_and(|facts| facts.size() == 0) {
            return Ok((Outcome::Nothing, false));
        }
        let below = self.start.prefix.len();
        let below = Below {
            path: found.path.get(below..).unwrap_or(&found.path),
            seen: found.facts,
        };
        let skipped = |why: String| Ok((Outcome::Skipped(why), false));
        let machine = self.place.machine();
        let (file, facts) = match machine.open_below(&self.start.pinned.handle, below) {
            Ok(opened) => opened,
            Err(failure @ Failure::Unavailable(_)) => return Err(failed(&found.path, failure)),
            Err(failure) => return skipped(failure.to_string()),
        };
        if facts.kind() != FileKind::File {
            return skipped(format!("it is {} now", facts.word()));
        }
        if let Some(why) = self.identities.has(facts.identity) {
            return skipped(why.to_owned());
        }
        Ok(self.of_open(&found.path, file, facts.size(), tools))
    }

    fn of_open<'f>(
        &'f self,
        path: &str,
        file: M::File<'f>,
        size: u64,
        tools: &mut Tools,
    ) -> (Outcome, bool) {
        let reader = M::reader(file, &self.left);
        let outcome = self.job.of_growing(path, reader, size, tools);
        (outcome, self.left.load(Ordering::Relaxed) == 0)
    }
}
