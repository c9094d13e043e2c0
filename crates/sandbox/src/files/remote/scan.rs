//! One directory at a time. The rules are those of the files of this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{FileEntry, FileKind, FilesError};

use super::place::{Place, Seen, said, shown_of};
use super::read::{modified_ms, size_of};
use crate::files::cancel::Gone;
use crate::files::ignored::{Level, Signs};
use crate::files::limits::{MAX_DEPTH, MAX_IGNORE_BYTES, MAX_WALKED};
use crate::files::notes::Notes;
use crate::files::root::LastLink;
use crate::files::scan::{NOT_UTF8, Rules};
use crate::ssh::sftp::{Attrs, Fault, OpenFlags, Sftp};

/// Where a walk starts.
pub(super) struct Start {
    pub(super) seen: Seen,
    /// What stands before a name beneath it in every path shown: empty, or ends with `/`.
    pub(super) prefix: String,
}

impl Start {
    pub(super) fn of(place: &Place<'_>) -> Result<Self, FilesError> {
        let seen = place.find(LastLink::Follow)?;
        let mut prefix = shown_of(place.files, &seen.real)?;
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        Ok(Self { seen, prefix })
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

/// An entry of a directory.
pub(super) struct Found {
    /// As it is shown.
    pub(super) path: String,
    pub(super) attrs: Attrs,
    /// Whether it is a directory to go into.
    pub(super) enters: bool,
    pub(super) depth: u32,
    level: Option<Arc<Level>>,
    /// Whether the path is the name itself and not a likeness of it.
    exact: bool,
}

impl Found {
    pub(super) fn entry(&self) -> FileEntry {
        FileEntry {
            path: self.path.clone(),
            kind: self.attrs.kind(),
            size: size_of(&self.attrs),
            modified_ms: modified_ms(&self.attrs),
        }
    }
}

/// Reads directories beneath a start, and keeps what no tool may see to itself.
pub(super) struct Scanner<'a> {
    place: &'a Place<'a>,
    start: &'a Start,
    rules: Rules,
    pub(super) notes: Notes,
    gone: &'a Gone,
    seen: u64,
    top: Option<Arc<Level>>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        place: &'a Place<'_>,
        start: &'a Start,
        rules: Rules,
        gone: &'a Gone,
    ) -> Self {
        let mut scanner = Self {
            place,
            start,
            rules,
            notes: Notes::default(),
            gone,
            seen: 0,
            top: None,
        };
        if !rules.ignored {
            scanner.top = scanner.levels_above();
        }
        scanner
    }

    /// The directory the walk starts at.
    pub(super) fn first(&mut self) -> Result<Vec<Found>, FilesError> {
        let top = self.top.clone();
        let prefix = self.start.prefix.clone();
        self.scan(&self.start.seen.real, &prefix, 1, top.as_ref())
    }

    /// A directory met on the way.
    pub(super) fn below(&mut self, directory: &Found) -> Result<Vec<Found>, FilesError> {
        if directory.depth >= MAX_DEPTH {
            self.notes.skipped(
                &directory.path,
                format_args!("deeper than {MAX_DEPTH} levels"),
            );
            return Ok(Vec::new());
        }
        let prefix = format!("{}/", directory.path);
        let real = self.real(&directory.path);
        let level = directory.level.clone();
        self.scan(&real, &prefix, directory.depth + 1, level.as_ref())
    }

    /// The part of a shown path beneath the start.
    pub(super) fn relative<'p>(&self, path: &'p str) -> &'p str {
        path.get(self.start.prefix.len()..).unwrap_or(path)
    }

    /// Where what is shown so really is.
    pub(super) fn real(&self, path: &str) -> String {
        let start = self.start.seen.real.trim_end_matches('/');
        format!("{start}/{}", self.relative(path))
    }

    fn scan(
        &mut self,
        real: &str,
        prefix: &str,
        depth: u32,
        above: Option<&Arc<Level>>,
    ) -> Result<Vec<Found>, FilesError> {
        self.gone.check()?;
        let sftp = self.place.sftp();
        let shown = prefix.strip_suffix('/').unwrap_or(prefix);
        let most = MAX_WALKED.saturating_sub(self.seen);
        let mut names = match sftp.names(real, most) {
            Ok(names) => names,
            Err(fault @ Fault::Lost(_)) => return Err(said(shown, fault)),
            // A directory that is a link now is not entered: it was none a moment ago.
            Err(fault) => {
                self.notes.skipped(shown, said(shown, fault));
                return Ok(Vec::new());
            }
        };
        if names.len() as u64 > most {
            self.notes.truncated = true;
            names.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        self.seen += names.len() as u64;
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let level = if self.rules.ignored {
            None
        } else {
            let has = |wanted: &[u8]| names.iter().any(|(name, _)| &name[..] == wanted);
            let signs = Signs {
                ignore_file: has(b".gitignore"),
                repository: has(b".git"),
            };
            Level::read(prefix, above, signs, &mut self.notes, |name| {
                content(sftp, &format!("{real}/{name}"))
            })
        };
        let mut found = Vec::with_capacity(names.len());
        for (name, attrs) in names {
            let (name, exact) = match std::str::from_utf8(&name) {
                Ok(name) => (name.to_owned(), true),
                Err(_) => (String::from_utf8_lossy(&name).into_owned(), false),
            };
            found.extend(self.judge(&name, exact, attrs, prefix, depth, level.as_ref()));
        }
        Ok(found)
    }

    fn judge(
        &mut self,
        name: &str,
        exact: bool,
        attrs: Attrs,
        prefix: &str,
        depth: u32,
        level: Option<&Arc<Level>>,
    ) -> Option<Found> {
        if !self.rules.hidden && name.starts_with('.') {
            return None;
        }
        let path = format!("{prefix}{name}");
        let is_directory = attrs.kind() == FileKind::Directory;
        if level.is_some_and(|level| level.leaves_out(&path, is_directory)) {
            self.notes.ignored();
            return None;
        }
        let real = PathBuf::from(self.real(&path));
        if let Some(why) = self.place.files.protected.covers(&real) {
            self.notes.skipped(&path, why);
            return None;
        }
        if !exact {
            self.notes.skipped(&path, NOT_UTF8);
        }
        Some(Found {
            enters: is_directory && exact && name != ".git",
            path,
            attrs,
            depth,
            level: level.cloned(),
            exact,
        })
    }

    /// The ignore rules of the directories between the root and where the walk starts.
    fn levels_above(&mut self) -> Option<Arc<Level>> {
        let sftp = self.place.sftp();
        let root = &self.place.root;
        let below = Path::new(&self.start.seen.real).strip_prefix(root).ok()?;
        let mut real = root.to_string_lossy().trim_end_matches('/').to_owned();
        let mut shown = shown_of(self.place.files, &root.to_string_lossy()).ok()?;
        if !shown.is_empty() && !shown.ends_with('/') {
            shown.push('/');
        }
        let mut level = None;
        for part in below {
            let signs = [".gitignore", ".git"].map(|name| format!("{real}/{name}"));
            let there = sftp.lstat_all(&signs).ok()?;
            let signs = Signs {
                ignore_file: there[0].is_ok(),
                repository: there[1].is_ok(),
            };
            level = Level::read(&shown, level.as_ref(), signs, &mut self.notes, |name| {
                content(sftp, &format!("{real}/{name}"))
            });
            let part = part.to_str()?;
            real = format!("{real}/{part}");
            shown = format!("{shown}{part}/");
        }
        level
    }
}

/// The content of a small file, one byte more than counts at most; none where it is no file.
fn content(sftp: &Sftp, path: &str) -> Option<Result<Vec<u8>, String>> {
    if sftp.lstat(path).ok()?.kind() != FileKind::File {
        return None;
    }
    let most = usize::try_from(MAX_IGNORE_BYTES + 1).unwrap_or(usize::MAX);
    let file = sftp.open(path, OpenFlags::Read, 0).ok()?;
    let read = file.read(0, most);
    Some(read.map_err(|fault| said(path, fault).to_string()))
}

/// A whole tree, file by file, in the order of its paths: depth first; links are neither followed
/// nor given.
pub(super) struct Walk<'a> {
    pub(super) scanner: Scanner<'a>,
    open: Vec<std::vec::IntoIter<Found>>,
    started: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(scanner: Scanner<'a>) -> Self {
        Self {
            scanner,
            open: Vec::new(),
            started: false,
        }
    }

    /// The next regular file.
    pub(super) fn next(&mut self) -> Result<Option<Found>, FilesError> {
        if !self.started {
            self.started = true;
            self.open.push(self.scanner.first()?.into_iter());
        }
        while let Some(directory) = self.open.last_mut() {
            let Some(found) = directory.next() else {
                self.open.pop();
                continue;
            };
            if found.enters {
                let below = self.scanner.below(&found)?;
                self.open.push(below.into_iter());
            } else if found.attrs.kind() == FileKind::File && found.exact {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The sizes of all regular files beneath a directory, through no link; of very many, of so many.
pub(super) fn bytes_beneath(sftp: &Sftp, root: &str) -> u64 {
    let (mut bytes, mut seen) = (0_u64, 0_u64);
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(names) = sftp.names(&path, MAX_WALKED) else {
            continue;
        };
        for (name, attrs) in names {
            seen += 1;
            if seen > MAX_WALKED {
                return bytes;
            }
            match (attrs.kind(), std::str::from_utf8(&name)) {
                (FileKind::File, _) => bytes = bytes.saturating_add(attrs.size),
                (FileKind::Directory, Ok(name)) => waiting.push(format!("{path}/{name}")),
                (FileKind::Directory | FileKind::Symlink | FileKind::Special, _) => {}
            }
        }
    }
    bytes
}
