//! One directory at a time, seen through a handle of where the walk starts.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{FileEntry, FileKind, FilesError};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, OFlags, RawDir, Stat};
use rustix::io::Errno;

use super::cancel::Gone;
use super::handle::{Pinned, kind_of, kind_of_type, modified_ms, size_of};
use super::ignored::{Level, Signs};
use super::limits::{MAX_DEPTH, MAX_WALKED};
use super::notes::Notes;
use super::place::Place;
use super::root::{LastLink, NO_LINKS, open_beneath};
use crate::protected::Protected;

/// Room for the names of one read of a directory.
const NAMES_BYTES: usize = 32 << 10;

/// Where a walk starts.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) pinned: Pinned,
    /// Where it really is.
    pub(super) real: PathBuf,
    /// What stands before a name beneath it in every path shown: empty, or ends with `/`.
    pub(super) prefix: String,
}

impl Start {
    /// Pins what a walk starts at: relative to the workspace in what is shown, absolute outside.
    pub(super) fn of(place: &Place<'_>) -> Result<Self, FilesError> {
        let pinned = place.pin(LastLink::Follow)?;
        let real = pinned.real_path().map_err(|errno| place.failed(errno))?;
        let workspace = place.files.workspace.real_path();
        let shown = real.strip_prefix(&workspace).unwrap_or(&real);
        let Some(shown) = shown.to_str() else {
            return Err(super::error::invalid(&place.shown, NOT_UTF8));
        };
        let mut prefix = shown.to_owned();
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
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

pub(super) const NOT_UTF8: &str = "its name is not UTF-8, so that no tool can name it";

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
    pub(super) stat: Option<Stat>,
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
            size: self.stat.as_ref().map_or(0, size_of),
            modified_ms: self.stat.as_ref().map_or(0, modified_ms),
            path: self.path,
        }
    }
}

/// Which entries need their facts looked up.
pub(super) type NeedsStat<'a> = &'a dyn Fn(&str, FileKind) -> bool;

/// Reads directories beneath a start, and keeps what no tool may see to itself.
pub(super) struct Scanner<'a> {
    pub(super) start: &'a Start,
    rules: Rules,
    protected: Option<&'a Protected>,
    pub(super) notes: Notes,
    gone: &'a Gone,
    seen: u64,
    names: Vec<u8>,
    top: Option<Arc<Level>>,
}

struct Raw {
    name: String,
    exact: bool,
    file_type: FileType,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        place: &'a Place<'_>,
        start: &'a Start,
        rules: Rules,
        gone: &'a Gone,
    ) -> Self {
        let protected = &place.files.protected;
        let mut scanner = Self {
            start,
            rules,
            protected: protected.reaches_below(&start.real).then_some(protected),
            notes: Notes::default(),
            gone,
            seen: 0,
            names: Vec::with_capacity(NAMES_BYTES),
            top: None,
        };
        if !rules.ignored {
            scanner.top = levels_above(place, start, &mut scanner.notes);
        }
        scanner
    }

    /// The directory the walk starts at.
    pub(super) fn first(&mut self, needs: NeedsStat<'_>) -> Result<Vec<Found>, FilesError> {
        let top = self.top.clone();
        let prefix = self.start.prefix.clone();
        self.scan(".", &prefix, 1, top.as_ref(), needs)
    }

    /// A directory met on the way.
    pub(super) fn below(
        &mut self,
        directory: &Found,
        needs: NeedsStat<'_>,
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
        needs: NeedsStat<'_>,
    ) -> Result<Vec<Found>, FilesError> {
        self.gone.check()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let shown = prefix.strip_suffix('/').unwrap_or(prefix);
        let directory = match open_beneath(&self.start.pinned.fd, relative, flags, NO_LINKS) {
            Ok(directory) => directory,
            Err(errno) => {
                self.notes.skipped(shown, why(errno));
                return Ok(Vec::new());
            }
        };
        let mut entries = match self.read(&directory) {
            Ok(entries) => entries,
            Err(errno) => {
                self.notes.skipped(shown, why(errno));
                return Ok(Vec::new());
            }
        };
        entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        let level = if self.rules.ignored {
            None
        } else {
            let signs = Signs {
                ignore_file: entries.iter().any(|entry| entry.name == ".gitignore"),
                repository: entries.iter().any(|entry| entry.name == ".git"),
            };
            Level::of(&directory, prefix, above, signs, &mut self.notes)
        };
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(seen) = self.judge(&entry, &directory, prefix, depth, level.as_ref(), needs)
            {
                found.push(seen);
            }
        }
        Ok(found)
    }

    fn judge(
        &mut self,
        entry: &Raw,
        directory: &OwnedFd,
        prefix: &str,
        depth: u32,
        level: Option<&Arc<Level>>,
        needs: NeedsStat<'_>,
    ) -> Option<Found> {
        if !self.rules.hidden && entry.name.starts_with('.') {
            return None;
        }
        let path = format!("{prefix}{}", entry.name);
        let mut kind = kind_of_type(entry.file_type);
        let mut stat = None;
        if entry.exact && (entry.file_type == FileType::Unknown || needs(&path, kind)) {
            // Gone since: then it is not there.
            let now = rustix::fs::statat(directory, &entry.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            kind = kind_of(&now);
            stat = Some(now);
        }
        let is_directory = kind == FileKind::Directory;
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
            stat,
            depth,
            level: level.cloned(),
            exact: entry.exact,
        })
    }

    fn read(&mut self, directory: &OwnedFd) -> Result<Vec<Raw>, Errno> {
        let mut found = Vec::new();
        let room: &mut [MaybeUninit<u8>] = self.names.spare_capacity_mut();
        let mut entries = RawDir::new(directory, room);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if self.seen >= MAX_WALKED {
                self.notes.truncated = true;
                break;
            }
            self.seen += 1;
            let (name, exact) = match std::str::from_utf8(name) {
                Ok(name) => (name.to_owned(), true),
                Err(_) => (String::from_utf8_lossy(name).into_owned(), false),
            };
            found.push(Raw {
                name,
                exact,
                file_type: entry.file_type(),
            });
        }
        Ok(found)
    }
}

/// The ignore rules of the directories between the root and where a walk starts.
fn levels_above(place: &Place<'_>, start: &Start, notes: &mut Notes) -> Option<Arc<Level>> {
    let root = place.root.real_path();
    let below = start.real.strip_prefix(&root).ok()?.to_str()?;
    let workspace = place.files.workspace.real_path();
    let shown_root = root.strip_prefix(&workspace).unwrap_or(&root).to_str()?;
    let mut shown = shown_root.to_owned();
    if !shown.is_empty() && !shown.ends_with('/') {
        shown.push('/');
    }
    let mut relative = String::from(".");
    let mut level = None;
    for part in Path::new(below) {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let directory = open_beneath(&place.root.fd, &relative, flags, NO_LINKS).ok()?;
        let signs = Level::signs_of(&directory);
        level = Level::of(&directory, &shown, level.as_ref(), signs, notes);
        let part = part.to_str()?;
        relative = if relative == "." {
            part.to_owned()
        } else {
            format!("{relative}/{part}")
        };
        shown = format!("{shown}{part}/");
    }
    level
}

pub(super) fn why(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}
