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

/// The most bytes that one search fetches; what comes after is not searched, and that is said.
const MAX_SEARCHED_BYTES: u64 = 1 << 30;

pub(super) fn search(
    place: &Place<'_>,
    search: &Search,
    gone: &Gone,
) -> Result<SearchFound, FilesError> {
    let job = Job::new(Identities::of(SECRET), search, gone)?;
    let start = Start::of(place)?;
    let mut found = SearchFound::default();
    match start.seen.attrs.kind() {
        FileKind::File => {
            let mut notes = Notes::default();
            let outcome = of_file(&job, place, &start.seen, start.shown())?;
            job.take(outcome, start.shown(), &mut found, &mut notes);
            gone.check()?;
            found.walked = notes.finish(!found.hits.is_empty());
        }
        FileKind::Directory => {
            let rules = Rules {
                hidden: search.glob.as_deref().is_some_and(means_hidden),
                ignored: false,
            };
            let mut walk = Walk::new(Scanner::new(place, &start, rules, gone));
            let mut fetched = 0_u64;
            while let Some(file) = walk.next()? {
                if !job.wants(walk.scanner.relative(&file.path)) {
                    continue;
                }
                fetched = fetched.saturating_add(file.attrs.size);
                if fetched > MAX_SEARCHED_BYTES {
                    walk.scanner.notes.truncated = true;
                    let most = MAX_SEARCHED_BYTES >> 20;
                    let why = format!("not searched: more than {most} MiB would be fetched");
                    walk.scanner.notes.skipped(&file.path, why);
                    break;
                }
                let seen = Seen {
                    real: walk.scanner.real(&file.path),
                    attrs: file.attrs,
                };
                let outcome = of_file(&job, place, &seen, &file.path)?;
                gone.check()?;
                if !job.take(outcome, &file.path, &mut found, &mut walk.scanner.notes) {
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
) -> Result<Outcome, FilesError> {
    if seen.attrs.size == 0 {
        return Ok(Outcome::Nothing);
    }
    let file = match open_seen(place.sftp(), seen) {
        Ok(file) => file,
        Err(fault @ Fault::Lost(_)) => return Err(said(shown, fault)),
        Err(fault) => return Ok(Outcome::Skipped(said(shown, fault).to_string())),
    };
    let reader = Reader::new(&file, shown);
    Ok(job.of_file(shown, reader, &mut job.searcher.build()))
}
