//! One directory at a time, seen through a handle of where the walk starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{FileEntry, FileKind, FilesError};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{Failure, failed, invalid};
use super::facts::Facts;
use super::ignored::{Level, Signs};
use super::limits::{MAX_DEPTH, MAX_WALKED};
use super::machine::{Entry, Machine, Pin};
use super::notes::Notes;
use super::place::{Place, removed};
use super::root::{LastLink, Root};
use super::temporary::is_temporary;
use crate::protected::Protected;

/// Where a walk starts.
pub(super) struct Start<M: Machine> {
    pub(super) pinned: Pin<M>,
    /// Where it really is.
    pub(super) real: PathBuf,
    /// What stands before a name beneath it in every path shown: empty, or ends with `/`.
    pub(super) prefix: String,
}

impl<M: Machine> Start<M> {
    /// Pins what a walk starts at: relative to the workspace in what is shown, absolute outside.
    pub(super) fn of(place: &Place<'_, M>) -> Result<Self, FilesError> {
        let pinned = place.pin(LastLink::Follow)?;
        let real = place.machine().real_path(&pinned.handle);
        let real = real.map_err(|failure| place.failed(failure))?;
        let prefix = prefix_of(place, &real).ok_or_else(|| invalid(&place.shown, NOT_UTF8))?;
        Ok(Self {
            pinned,
            real,
            prefix,
        })
    }

    /// The start itself, as it is shown.
    pub(super) fn shown(&self) -> &str {
        match self.prefix.strip_suffix('/') {
            Some("") => "/",
            Some(shown) => shown,
            None => ".",
        }
    }
}

/// What stands in a shown path before the names in a directory that is really here.
fn prefix_of<M: Machine>(place: &Place<'_, M>, real: &Path) -> Option<String> {
    let mut prefix = place.files.shown(real)?.to_owned();
    if !prefix.is_empty() && !prefix.ends_with('/') {
        prefix.push('/');
    }
    Some(prefix)
}

const NOT_UTF8: &str = "its name is not UTF-8, so that no tool can name it";

/// What a walk leaves out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) hidden: bool,
    pub(super) ignored: bool,
}

/// An entry of a directory.
#[derive(Debug)]
pub(super) struct Found {
    /// As it is shown.
    pub(super) path: String,
    pub(super) kind: FileKind,
    /// Its facts, where they were needed or told.
    pub(super) facts: Option<Facts>,
    /// Whether it is a directory to go into.
    pub(super) enters: bool,
    pub(super) depth: u32,
    pub(super) level: Option<Arc<Level>>,
    /// Whether the path is the name itself and not a likeness of it.
    pub(super) exact: bool,
}

impl Found {
    pub(super) fn entry(self) -> FileEntry {
        FileEntry {
            kind: self.kind,
            size: self.facts.as_ref().map_or(0, Facts::size),
            modified_ms: self.facts.as_ref().map_or(0, Facts::modified_ms),
            path: self.path,
        }
    }
}

/// Which entries need their facts looked up.
pub(super) type NeedsFacts<'a> = &'a dyn Fn(&str, FileKind) -> bool;

/// Reads directories beneath a start, and keeps what no tool may see to itself.
pub(super) struct Scanner<'a, M: Machine> {
    machine: &'a M,
    root: &'a Root<M>,
    pub(super) start: &'a Start<M>,
    rules: Rules,
    protected: Option<&'a Protected>,
    pub(super) notes: Notes,
    gone: &'a Gone,
    seen: u64,
    top: Option<Arc<Level>>,
}

/// A directory that is being read.
struct Reading<'a, H> {
    directory: &'a H,
    prefix: &'a str,
    depth: u32,
    level: Option<Arc<Level>>,
}

impl<'a, M: Machine> Scanner<'a, M> {
    pub(super) fn new(
        place: &Place<'a, M>,
        start: &'a Start<M>,
        rules: Rules,
        gone: &'a Gone,
    ) -> Self {
        let protected = &place.files.protected;
        let mut notes = Notes::default();
        let top = match rules.ignored {
            true => None,
            false => levels_above(place, start, &mut notes),
        };
        Self {
            machine: place.machine(),
            root: place.root,
            start,
            rules,
            protected: protected.reaches_below(&start.real).then_some(protected),
            notes,
            gone,
            seen: 0,
            top,
        }
    }

    /// The directory the walk starts at.
    pub(super) fn first(&mut self, needs: NeedsFacts<'_>) -> Result<Vec<Found>, FilesError> {
        let top = self.top.clone();
        let prefix = self.start.prefix.clone();
        self.scan(".", &prefix, 1, top.as_ref(), needs)
    }

    /// A directory met on the way.
    pub(super) fn below(
        &mut self,
        directory: &Found,
        needs: NeedsFacts<'_>,
    ) -> Result<Vec<Found>, FilesError> {
        if directory.depth >= MAX_DEPTH {
            self.notes.skipped(
                &directory.path,
                format_args!("deeper than {MAX_DEPTH} levels"),
            );
            return Ok(Vec::new());
        }
        let relative = self.relative(&directory.path).to_owned();
        let prefix = format!("{}/", directory.path);
        let level = directory.level.clone();
        self.scan(
            &relative,
            &prefix,
            directory.depth + 1,
            level.as_ref(),
            needs,
        )
    }

    /// The part of a shown path beneath the start.
    pub(super) fn relative<'p>(&self, path: &'p str) -> &'p str {
        path.get(self.start.prefix.len()..).unwrap_or(path)
    }

    fn scan(
        &mut self,
        relative: &str,
        prefix: &str,
        depth: u32,
        above: Option<&Arc<Level>>,
        needs: NeedsFacts<'_>,
    ) -> Result<Vec<Found>, FilesError> {
        self.gone.check()?;
        let shown = prefix.strip_suffix('/').unwrap_or(prefix);
        let most = MAX_WALKED.saturating_sub(self.seen);
        let listing = self.machine.list(&self.start.pinned.handle, relative, most);
        let mut listing = match listing {
            Ok(listing) => listing,
            Err(failure @ Failure::Unavailable(_)) => return Err(failed(shown, failure)),
            // Then nothing of it can be read, which is not the same as that nothing is in it.
            Err(failure) if failure.is(Errno::NOENT) && self.machine.is_gone(self.root) => {
                return Err(removed(self.root));
            }
            Err(failure) => {
                self.notes.skipped(shown, failure);
                return Ok(Vec::new());
            }
        };
        self.seen += listing.entries.len() as u64;
        self.notes.truncated |= listing.is_cut;
        let entries = &mut listing.entries;
        entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        let level = if self.rules.ignored {
            None
        } else {
            let has = |name: &str| entries.iter().any(|entry| entry.name == name);
            let signs = Signs {
                ignore_file: has(".gitignore"),
                repository: has(".git"),
            };
            let (directory, notes) = (&listing.directory, &mut self.notes);
            Level::of(self.machine, directory, prefix, above, signs, notes)
        };
        let reading = Reading {
            directory: &listing.directory,
            prefix,
            depth,
            level,
        };
        let entries = listing.entries.iter();
        Ok(entries
            .filter_map(|entry| self.judge(entry, &reading, needs))
            .collect())
    }

    fn judge(
        &mut self,
        entry: &Entry,
        reading: &Reading<'_, M::Handle>,
        needs: NeedsFacts<'_>,
    ) -> Option<Found> {
        if (!self.rules.hidden && entry.name.starts_with('.')) || is_temporary(&entry.name) {
            return None;
        }
        let path = format!("{}{}", reading.prefix, entry.name);
        let mut facts = entry.facts;
        let is_needed = || entry.kind.is_none_or(|kind| needs(&path, kind));
        if entry.exact && facts.is_none() && is_needed() {
            // Gone since: then it is not there.
            facts = Some(self.machine.stat(reading.directory, &entry.name).ok()?);
        }
        let kind = facts.map_or(entry.kind, |facts| Some(facts.kind()))?;
        let is_directory = kind == FileKind::Directory;
        let level = reading.level.as_ref();
        if level.is_some_and(|level| level.leaves_out(&path, is_directory)) {
            self.notes.ignored();
            return None;
        }
        if let Some(protected) = self.protected
            && let Some(why) = protected.covers(&self.start.real.join(self.relative(&path)))
        {
            self.notes.skipped(&path, why);
            return None;
        }
        if !entry.exact {
            self.notes.skipped(&path, NOT_UTF8);
        }
        Some(Found {
            // The metadata of a repository is named where hidden names are wanted, not laid out.
            enters: is_directory && entry.exact && entry.name != ".git",
            path,
            kind,
            facts,
            depth: reading.depth,
            level: level.cloned(),
            exact: entry.exact,
        })
    }
}

/// The ignore rules of the directories between the root and where a walk starts.
fn levels_above<M: Machine>(
    place: &Place<'_, M>,
    start: &Start<M>,
    notes: &mut Notes,
) -> Option<Arc<Level>> {
    let machine = place.machine();
    let mut real = place.files.now_at(place.root);
    let below = start.real.strip_prefix(&real).ok()?.to_owned();
    let mut relative = String::from(".");
    let mut level = None;
    for part in &below {
        let shown = prefix_of(place, &real)?;
        let directory = machine.beneath(&place.root.handle, &relative).ok()?;
        let signs = Level::signs_of(machine, &directory);
        level = Level::of(machine, &directory, &shown, level.as_ref(), signs, notes);
        let part = part.to_str()?;
        relative = format!("{relative}/{part}");
        real.push(part);
    }
    level
}
