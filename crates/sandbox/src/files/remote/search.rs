//! Searching the content of files. They are read here and searched here, so that an expression means
//! what it means on this machine.

use outfitter_core::{FileKind, FilesError, Search, SearchFound};

use super::place::{Place, Seen, said};
use super::read::{Reader, open_seen};
use super::scan::{Scanner, Start, Walk};
use crate::files::cancel::Gone;
use crate::files::notes::Notes;
use crate::files::pattern::means_hidden;
use crate::files::scan::Rules;
use crate::files::search::{Job, Outcome};
use crate::protected::{Identities, SECRET};
use crate::ssh::sftp::Fault;

/// What one search may still fetch. What comes after is not searched, and that is said.
struct Budget {
    most: u64,
    left: u64,
}

impl Budget {
    fn of(place: &Place<'_>) -> Self {
        let most = place.files.limits.max_fetched_bytes;
        Self { most, left: most }
    }

    /// Whether it is used up: then this file was not searched to its end.
    fn is_over(&self, path: &str, notes: &mut Notes) -> bool {
        if self.left > 0 {
            return false;
        }
        let most = self.most;
        notes.truncated = true;
        notes.skipped(
            path,
            format!("not searched to its end: more than {most} bytes would be fetched"),
        );
        true
    }
}

pub(super) fn search(
    place: &Place<'_>,
    search: &Search,
    gone: &Gone,
) -> Result<SearchFound, FilesError> {
    let job = Job::new(Identities::of(SECRET), search, gone)?;
    let start = Start::of(place)?;
    let mut found = SearchFound::default();
    let mut budget = Budget::of(place);
    match start.seen.attrs.kind() {
        FileKind::File => {
            let mut notes = Notes::default();
            let outcome = of_file(&job, place, &start.seen, start.shown(), &mut budget)?;
            job.take(outcome, start.shown(), &mut found, &mut notes);
            gone.check()?;
            budget.is_over(start.shown(), &mut notes);
            found.walked = notes.finish(!found.hits.is_empty());
        }
        FileKind::Directory => {
            let rules = Rules {
                hidden: search.glob.as_deref().is_some_and(means_hidden),
                ignored: false,
            };
            let mut walk = Walk::new(Scanner::new(place, &start, rules, gone));
            while let Some(file) = walk.next()? {
                if !job.wants(walk.scanner.relative(&file.path)) {
                    continue;
                }
                let seen = Seen {
                    real: walk.scanner.real(&file.path),
                    attrs: file.attrs,
                };
                let outcome = of_file(&job, place, &seen, &file.path, &mut budget)?;
                gone.check()?;
                let notes = &mut walk.scanner.notes;
                if !job.take(outcome, &file.path, &mut found, notes)
                    || budget.is_over(&file.path, notes)
                {
                    break;
                }
            }
            found.walked = walk.scanner.notes.finish(!found.hits.is_empty());
        }
        FileKind::Symlink | FileKind::Special => start.seen.must_be_file(&place.shown)?,
    }
    Ok(found)
}

fn of_file(
    job: &Job<'_>,
    place: &Place<'_>,
    seen: &Seen,
    shown: &str,
    budget: &mut Budget,
) -> Result<Outcome, FilesError> {
    if seen.attrs.size == 0 {
        return Ok(Outcome::Nothing);
    }
    let file = match open_seen(place.sftp(), seen) {
        Ok(file) => file,
        Err(fault @ Fault::Lost(_)) => return Err(said(shown, fault)),
        Err(fault) => return Ok(Outcome::Skipped(said(shown, fault).to_string())),
    };
    // Its size is what it was; whoever writes it may write faster than it is fetched.
    let mut reader = Reader::new(&file, shown, budget.left);
    let outcome = job.of_growing(
        shown,
        &mut reader,
        seen.attrs.size,
        &mut job.searcher.build(),
    );
    budget.left = reader.left;
    Ok(outcome)
}
