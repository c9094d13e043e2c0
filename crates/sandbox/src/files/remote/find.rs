//! Listing directories, and finding files by name.

use std::collections::VecDeque;

use outfitter_core::{FileRef, FilesError, Glob, GlobFound, List, Listed, Reach};

use super::Inner;
use super::place::Place;
use super::scan::{Scanner, Start, Walk};
use crate::files::cancel::Gone;
use crate::files::find::Newest;
use crate::files::limits::MAX_RESULTS;
use crate::files::list::by_path;
use crate::files::pattern::NamePattern;
use crate::files::scan::Rules;

/// Level by level, so that a limit cuts the depths and not the names beside the first big
/// directory; then in the order of the paths.
pub(super) fn list(place: &Place<'_>, list: &List, gone: &Gone) -> Result<Listed, FilesError> {
    let start = Start::of(place)?;
    start.seen.must_be_directory(&place.shown)?;
    let rules = Rules {
        hidden: list.hidden,
        ignored: list.ignored,
    };
    let mut scanner = Scanner::new(place, &start, rules, gone);
    let limit = list.max_items.min(MAX_RESULTS);
    let mut entries = Vec::new();
    let mut waiting = VecDeque::new();
    let mut found = scanner.first()?;
    loop {
        for entry in found {
            if entries.len() >= limit {
                scanner.notes.truncated = true;
                break;
            }
            entries.push(entry.entry());
            if entry.enters && entry.depth < list.depth {
                waiting.push_back(entry);
            }
        }
        if scanner.notes.truncated {
            break;
        }
        let Some(directory) = waiting.pop_front() else {
            break;
        };
        found = scanner.below(&directory)?;
    }
    entries.sort_by(|a, b| by_path(&a.path, &b.path));
    Ok(Listed {
        walked: scanner.notes.finish(!entries.is_empty()),
        entries,
    })
}

/// Regular files only, links not followed. A directory that the pattern names outright is entered
/// even where an ignore file leaves it out.
pub(super) fn glob(
    files: &Inner,
    directory: &str,
    reach: Reach,
    glob: &Glob,
    gone: &Gone,
) -> Result<GlobFound, FilesError> {
    let pattern = NamePattern::new(&glob.pattern)?;
    let at = if pattern.directory.starts_with('/') {
        pattern.directory.clone()
    } else if pattern.directory.is_empty() {
        directory.to_owned()
    } else {
        format!("{}/{}", directory.trim_end_matches('/'), pattern.directory)
    };
    let place = Place::of(files, FileRef { path: &at, reach })?;
    let start = match Start::of(&place) {
        Ok(start) => start,
        // The directory itself must be there; one that only the pattern names need not.
        Err(FilesError::NotFound { .. }) if !pattern.directory.is_empty() => {
            let path = directory;
            let place = Place::of(files, FileRef { path, reach })?;
            Start::of(&place)?.seen.must_be_directory(directory)?;
            return Ok(GlobFound::default());
        }
        Err(error) => return Err(error),
    };
    start.seen.must_be_directory(&at)?;
    let rules = Rules {
        hidden: pattern.hidden,
        ignored: false,
    };
    let mut walk = Walk::new(Scanner::new(&place, &start, rules, gone));
    let limit = glob.limit.min(MAX_RESULTS);
    let mut newest = Newest::new(limit);
    let mut count: u64 = 0;
    while let Some(found) = walk.next()? {
        if !pattern.matcher.is_match(walk.scanner.relative(&found.path)) {
            continue;
        }
        count += 1;
        newest.add((i64::from(found.attrs.modified), 0), found.entry());
    }
    let mut notes = walk.scanner.notes;
    notes.truncated |= count > limit as u64;
    Ok(GlobFound {
        files: newest.finish(),
        count,
        walked: notes.finish(count > 0),
    })
}
