//! Finding files by name.

use std::cmp::Reverse;

use outfitter_core::{FileEntry, FileKind, FileRef, FilesError, Glob, GlobFound};

use super::cancel::Gone;
use super::limits::MAX_RESULTS;
use super::machine::Machine;
use super::pattern::NamePattern;
use super::place::Place;
use super::scan::{Rules, Scanner, Start};
use super::session::Inner;
use super::walk::Walk;

/// How many more than the limit are kept before the oldest are let go.
const SLACK: usize = 4096;

/// Regular files only, links not followed, as in ripgrep. A directory that the pattern names
/// outright is entered even where an ignore file leaves it out.
pub(super) fn glob<M: Machine>(
    files: &Inner<M>,
    directory: FileRef<'_>,
    glob: &Glob,
    gone: &Gone,
) -> Result<GlobFound, FilesError> {
    let pattern = NamePattern::new(&glob.pattern)?;
    let reach = directory.reach;
    let at = if pattern.directory.starts_with('/') {
        pattern.directory.clone()
    } else if pattern.directory.is_empty() {
        directory.path.to_owned()
    } else {
        format!(
            "{}/{}",
            directory.path.trim_end_matches('/'),
            pattern.directory
        )
    };
    let place = Place::of(files, FileRef { path: &at, reach })?;
    let start = match Start::of(&place) {
        Ok(start) => start,
        // The directory itself must be there; one that only the pattern names need not.
        Err(FilesError::NotFound { .. }) if !pattern.directory.is_empty() => {
            let place = Place::of(files, directory)?;
            Start::of(&place)?
                .pinned
                .must_be_directory(directory.path)?;
            return Ok(GlobFound::default());
        }
        Err(error) => return Err(error),
    };
    start.pinned.must_be_directory(&at)?;
    let rules = Rules {
        hidden: pattern.hidden,
        ignored: false,
    };
    let below = start.prefix.len();
    let matches = |path: &str| pattern.matcher.is_match(path.get(below..).unwrap_or(path));
    let needs = |path: &str, kind: FileKind| kind == FileKind::File && matches(path);
    let mut walk = Walk::new(Scanner::new(&place, &start, rules, gone), &needs);
    let limit = glob.limit.min(MAX_RESULTS);
    let mut newest = Newest::new(limit);
    let mut count: u64 = 0;
    while let Some(found) = walk.next()? {
        let Some(facts) = found.facts else { continue };
        if !matches(&found.path) {
            continue;
        }
        count += 1;
        newest.add(facts.modified, found.entry());
    }
    let mut notes = walk.scanner.notes;
    notes.truncated |= count > limit as u64;
    Ok(GlobFound {
        files: newest.finish(),
        count,
        walked: notes.finish(count > 0),
    })
}

/// The last changed of any number of files, in bounded memory.
struct Newest {
    limit: usize,
    kept: Vec<((i64, i64), FileEntry)>,
}

impl Newest {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
        }
    }

    fn add(&mut self, modified: (i64, i64), entry: FileEntry) {
        self.kept.push((modified, entry));
        if self.kept.len() >= self.limit + SLACK {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.kept
            .sort_by(|a, b| (Reverse(a.0), &a.1.path).cmp(&(Reverse(b.0), &b.1.path)));
        self.kept.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<FileEntry> {
        self.prune();
        self.kept.into_iter().map(|(_, entry)| entry).collect()
    }
}
