//! A tree of one machine copied to another, which may be the same.

use std::path::{Component, Path, PathBuf};

use outfitter_core::{FileKind, FilesError};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{Failure, failed, invalid, protected, too_large};
use super::facts::Facts;
use super::limits::{FileLimits, MAX_DEPTH};
use super::machine::{Machine, OpenFile as _, Pin};
use super::quota::Room;
use super::temporary::temporary_name;
use crate::protected::{Identities, Protected};

/// How much of a file is on its way at a time.
const PIECE: usize = 1 << 20;

/// The permission bits of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modes {
    Kept,
    /// For nobody to write.
    ReadOnly,
    /// For us alone.
    Private,
}

impl Modes {
    fn of(self, source: &Facts) -> u32 {
        match self {
            Self::Kept => source.mode & 0o777,
            Self::ReadOnly => source.mode & 0o555,
            Self::Private if source.kind() == FileKind::Directory => 0o700,
            Self::Private => 0o600 | (source.mode & 0o100),
        }
    }
}

/// What may not leave.
pub(super) struct Guard<'a> {
    pub(super) protected: &'a Protected,
    pub(super) identities: Identities,
    /// Where what is copied really is.
    pub(super) real: PathBuf,
}

/// One copy, and what it has come to.
pub(super) struct Copy<'a, A: Machine, B: Machine> {
    from: &'a A,
    to: &'a B,
    limits: FileLimits,
    gone: &'a Gone,
    pub(super) modes: Modes,
    pub(super) guard: Option<Guard<'a>>,
    /// What cannot be copied, where the rest does without it.
    pub(super) left_out: Option<Vec<FilesError>>,
    bytes: u64,
    entries: u64,
    /// What of the session's quota it takes; what goes out takes none.
    pub(super) room: Option<Room<'a>>,
}

impl<'a, A: Machine, B: Machine> Copy<'a, A, B> {
    pub(super) fn new(from: &'a A, to: &'a B, limits: FileLimits, gone: &'a Gone) -> Self {
        Self {
            from,
            to,
            limits,
            gone,
            modes: Modes::Kept,
            guard: None,
            left_out: None,
            bytes: 0,
            entries: 0,
            room: None,
        }
    }

    /// It was made; `freed` bytes of what it replaced are gone.
    pub(super) fn keep(&mut self, freed: u64) {
        if let Some(room) = self.room.take() {
            room.keep(freed);
        }
    }

    fn take_room(&mut self, shown: &str, bytes: u64) -> Result<(), FilesError> {
        match &mut self.room {
            Some(room) => room.take(shown, bytes),
            None => Ok(()),
        }
    }

    /// A tree, all of it before it has its name.
    pub(super) fn tree_to(
        &mut self,
        source: &Pin<A>,
        (parent, name): (&B::Handle, &str),
        from: &str,
        to: &str,
    ) -> Result<(), FilesError> {
        let failed = |failure: Failure| failed(to, failure);
        match self.to.stat(parent, name) {
            Err(failure) if failure.is(Errno::NOENT) => {}
            Ok(_) => return Err(failed(Errno::EXIST.into())),
            Err(failure) => return Err(failed(failure)),
        }
        let temporary = temporary_name();
        let done = self.directory(source, (parent, &temporary), from, "");
        let done = done.and_then(|()| {
            let named = self.to.rename_free(parent, &temporary, name);
            named.map_err(failed)
        });
        if done.is_err() {
            remove_tree(self.to, parent, &temporary, MAX_DEPTH + 1);
        }
        done
    }

    fn directory(
        &mut self,
        source: &Pin<A>,
        (parent, name): (&B::Handle, &str),
        from: &str,
        below: &str,
    ) -> Result<(), FilesError> {
        self.count(from)?;
        if below.split('/').count() > MAX_DEPTH as usize {
            let why = format!("it is deeper than {MAX_DEPTH} levels");
            return Err(invalid(from, why));
        }
        let shown = shown_below(from, below);
        let error = |failure: Failure| failed(&shown, failure);
        // For us alone until all is in it.
        self.to.make_directory(parent, name, 0o700).map_err(error)?;
        let made = self.to.beneath(parent, name).map_err(error)?;
        let most = self.limits.max_copy_entries;
        let listing = self.from.list(&source.handle, ".", most).map_err(error)?;
        let mut entries = listing.entries;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for entry in &entries {
            let name = entry.name.as_str();
            let below = match below {
                "" => name.to_owned(),
                below => format!("{below}/{name}"),
            };
            let shown = shown_below(from, &below);
            if !entry.exact {
                return Err(failed(&shown, Errno::ILSEQ));
            }
            let pinned = self.from.pin_entry(&listing.directory, entry);
            let pinned = pinned.map_err(|failure| failed(&shown, failure))?;
            self.refuse_protected(&pinned, &below, &shown)?;
            match pinned.kind() {
                FileKind::Directory => self.directory(&pinned, (&made, name), from, &below)?,
                FileKind::File => self.file(&pinned, (&made, name), &shown)?,
                FileKind::Symlink => self.link(&pinned, (&made, name), &below, &shown)?,
                FileKind::Special => self.leave_out(not_copied(&shown, &pinned.facts))?,
            }
        }
        // Last, because a directory without the right to write takes no entries.
        let mode = self.modes.of(&source.facts);
        self.to
            .set_directory_mode(parent, name, mode)
            .map_err(error)
    }

    /// A single file.
    pub(super) fn file(
        &mut self,
        source: &Pin<A>,
        (parent, name): (&B::Handle, &str),
        shown: &str,
    ) -> Result<(), FilesError> {
        let error = |failure| failed(shown, failure);
        let made = self.to.create(parent, name, 0o600).map_err(error)?;
        self.content(source, &made, shown)?;
        made.set_mode(self.modes.of(&source.facts)).map_err(error)
    }

    /// What is in a file, bounded also where it grows meanwhile.
    pub(super) fn content(
        &mut self,
        source: &Pin<A>,
        to: &B::File<'_>,
        shown: &str,
    ) -> Result<(), FilesError> {
        self.count(shown)?;
        let error = |failure| failed(shown, failure);
        let limit = self.limits.max_copy_bytes;
        let size = source.facts.size();
        if size > limit - self.bytes {
            return Err(too_large(shown, self.bytes.saturating_add(size), limit));
        }
        self.take_room(shown, size)?;
        let file = self.from.open(source).map_err(error)?;
        let mut at = 0_u64;
        loop {
            self.gone.check()?;
            let piece = file.read(at, PIECE).map_err(error)?;
            if piece.is_empty() {
                return Ok(());
            }
            let after = at + piece.len() as u64;
            self.bytes += piece.len() as u64;
            if self.bytes > limit {
                return Err(too_large(shown, self.bytes, limit));
            }
            self.take_room(shown, after.saturating_sub(size.max(at)))?;
            to.write(at, &piece).map_err(error)?;
            at = after;
        }
    }

    fn link(
        &mut self,
        source: &Pin<A>,
        (parent, name): (&B::Handle, &str),
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        self.count(shown)?;
        let error = |failure| failed(shown, failure);
        let target = self.from.target(&source.handle).map_err(error)?;
        if !stays_inside(below, &target) {
            let path = shown.to_owned();
            return self.leave_out(FilesError::Symlink { path, target });
        }
        self.to.make_link(parent, name, &target).map_err(error)
    }

    /// Goes on without something, or stops at it.
    fn leave_out(&mut self, why: FilesError) -> Result<(), FilesError> {
        match &mut self.left_out {
            Some(left_out) => left_out.push(why),
            None => return Err(why),
        }
        Ok(())
    }

    fn count(&mut self, shown: &str) -> Result<(), FilesError> {
        self.gone.check()?;
        self.entries += 1;
        let limit = self.limits.max_copy_entries;
        if self.entries > limit {
            return Err(too_large(shown, self.entries, limit));
        }
        Ok(())
    }

    fn refuse_protected(
        &self,
        pinned: &Pin<A>,
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        let Some(guard) = &self.guard else {
            return Ok(());
        };
        let covers = guard.protected.covers(&guard.real.join(below));
        let why = covers.or_else(|| guard.identities.has(pinned.facts.identity));
        why.map_or(Ok(()), |why| Err(protected(shown, why)))
    }
}

fn shown_below(from: &str, below: &str) -> String {
    match below {
        "" => from.to_owned(),
        below => format!("{}/{below}", from.trim_end_matches('/')),
    }
}

pub(super) fn not_copied(shown: &str, facts: &Facts) -> FilesError {
    FilesError::WrongKind {
        path: shown.to_owned(),
        is: facts.word(),
        wanted: "a file or directory",
    }
}

/// Whether a link at `below` in a tree leads to something in the tree, whatever links it passes:
/// it first goes up, no further than the tree, and then only down.
fn stays_inside(below: &str, target: &str) -> bool {
    let mut above = below.split('/').count() - 1;
    let mut goes_down = false;
    for part in Path::new(target).components() {
        match part {
            Component::Normal(_) => goes_down = true,
            Component::CurDir => {}
            Component::ParentDir if above > 0 && !goes_down => above -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Takes back a copy that did not end well. What cannot be removed stays under its temporary name.
pub(super) fn remove_tree<M: Machine>(machine: &M, parent: &M::Handle, name: &str, depth: u32) {
    // One that came in without the right to write would keep what is in it.
    let _ = machine.set_directory_mode(parent, name, 0o700);
    if depth > 0
        && let Ok(listing) = machine.list(parent, name, u64::MAX)
    {
        for entry in listing.entries {
            let there = &listing.directory;
            let facts = || machine.stat(there, &entry.name).ok();
            match entry.facts.or_else(facts).map(|facts| facts.kind()) {
                Some(FileKind::Directory) => remove_tree(machine, there, &entry.name, depth - 1),
                _ => {
                    let _ = machine.remove(there, &entry.name);
                }
            }
        }
    }
    let _ = machine.remove_directory(parent, name);
}
