//! Files and trees in and out.
//!
//! A tree is copied whole to a temporary name beside its own and then takes its name, which nothing
//! may have yet; a single file replaces another as a write does. Relative links that stay inside
//! the tree are copied as links; others, and special files, are refused: what is not copied is said.

use std::fs::File;
use std::path::Path;

use outfitter_core::{FileKind, FilesError};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::cancel::Gone;
use super::copy_tree::{names, remove_tree, stays_inside};
use super::error::{failed, failed_io, invalid, protected};
use super::handle::{Pinned, size_of, target_of, word_of};
use super::limits::{FileLimits, MAX_COPY_TRIES, MAX_DEPTH};
use super::place::Place;
use super::quota::Room;
use super::root::{LastLink, NO_LINKS, open_beneath};
use super::temporary::temporary_name;
use super::write::Target;
use crate::protected::{Identities, Protected};

/// Copies a file or tree of ours into the session's files; permission bits are kept.
pub(super) fn import(from: &Path, place: &Place<'_>, gone: &Gone) -> Result<(), FilesError> {
    let shown = from.display().to_string();
    let source = pin_ours(from, &shown)?;
    let target = Target::of(place)?;
    let _turn = target.take_turn();
    let mut copy = Copy::new(place, gone, Modes::Kept, None);
    copy.room = Some(place.files.room());
    match source.kind() {
        FileKind::File => {
            let mut tries = 0;
            loop {
                let existing = target.existing()?;
                let replaced = existing.as_ref().map_or(0, |old| size_of(&old.stat));
                let mut finished = target.temporary(Mode::from_raw_mode(0o600))?;
                copy.content(&source, &finished.file, &shown)?;
                finished.set_mode(source.stat.st_mode & 0o777)?;
                let named = match existing {
                    Some(_) => finished.take_name(&target.name),
                    None => finished.take_free_name(&target.name),
                };
                match named {
                    Err(Errno::EXIST) if tries < MAX_COPY_TRIES => {
                        tries += 1;
                        // What was copied goes with its temporary file.
                        copy.room = Some(place.files.room());
                    }
                    Err(errno) => return Err(place.failed(errno)),
                    Ok(()) => {
                        copy.keep(replaced);
                        return Ok(());
                    }
                }
            }
        }
        FileKind::Directory => {
            copy.tree_to(
                &source,
                &target.parent.fd,
                &target.name,
                &shown,
                &place.shown,
            )?;
            copy.keep(0);
            Ok(())
        }
        other @ (FileKind::Symlink | FileKind::Special) => {
            Err(not_copied(&shown, word_of(&source.stat, other)))
        }
    }
}

/// Copies a file or tree of the session's out to us, for us alone: `0600` and `0700`, and the
/// owner's right to execute. The directory it goes into is there already.
pub(super) fn export(place: &Place<'_>, to: &Path, gone: &Gone) -> Result<(), FilesError> {
    let shown = to.display().to_string();
    let source = place.pin(LastLink::Follow)?;
    let real = source.real_path().map_err(|errno| place.failed(errno))?;
    let (Some(parent), Some(name)) = (to.parent(), to.file_name().and_then(|name| name.to_str()))
    else {
        return Err(invalid(&shown, "it is not a path that a copy can have"));
    };
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())
        .map_err(|errno| failed(&shown, errno))?;
    let guard = Guard {
        protected: &place.files.protected,
        identities: place.identities(),
        real,
    };
    let mut copy = Copy::new(place, gone, Modes::Private, Some(guard));
    match source.kind() {
        FileKind::File => copy.file_to(&source, &parent, name, &place.shown, &shown),
        FileKind::Directory => copy.tree_to(&source, &parent, name, &place.shown, &shown),
        other @ (FileKind::Symlink | FileKind::Special) => {
            Err(not_copied(&place.shown, word_of(&source.stat, other)))
        }
    }
}

/// The permission bits of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modes {
    Kept,
    Private,
}

impl Modes {
    fn of(self, source: u32) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Kept => source & 0o777,
            Self::Private => 0o600 | (source & 0o100),
        })
    }

    fn of_directory(self, source: u32) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Kept => source & 0o777,
            Self::Private => 0o700,
        })
    }
}

/// What may not leave.
struct Guard<'a> {
    protected: &'a Protected,
    identities: Identities,
    real: std::path::PathBuf,
}

struct Copy<'a> {
    limits: FileLimits,
    gone: &'a Gone,
    modes: Modes,
    guard: Option<Guard<'a>>,
    bytes: u64,
    entries: u64,
    /// What of the session's quota it takes; what goes out takes none.
    room: Option<Room<'a>>,
}

impl<'a> Copy<'a> {
    fn new(place: &Place<'_>, gone: &'a Gone, modes: Modes, guard: Option<Guard<'a>>) -> Self {
        Self {
            limits: place.files.limits,
            gone,
            modes,
            guard,
            bytes: 0,
            entries: 0,
            room: None,
        }
    }

    /// It was made; `freed` bytes of what it replaced are gone.
    fn keep(&mut self, freed: u64) {
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

    /// A single file, all of it before it has its name.
    fn file_to(
        &mut self,
        source: &Pinned,
        parent: &OwnedFd,
        name: &str,
        from: &str,
        to: &str,
    ) -> Result<(), FilesError> {
        let temporary = temporary_name();
        let done = self
            .file(source, parent, &temporary, from)
            .and_then(|()| rename(parent, &temporary, name, to));
        if done.is_err() {
            let _ = rustix::fs::unlinkat(parent, &temporary, AtFlags::empty());
        }
        done
    }

    /// A tree, all of it before it has its name.
    fn tree_to(
        &mut self,
        source: &Pinned,
        parent: &OwnedFd,
        name: &str,
        from: &str,
        to: &str,
    ) -> Result<(), FilesError> {
        match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => return Err(failed(to, Errno::EXIST)),
            Err(errno) => return Err(failed(to, errno)),
        }
        let temporary = temporary_name();
        let done = self
            .directory(source, parent, &temporary, from, "")
            .and_then(|()| rename(parent, &temporary, name, to));
        if done.is_err() {
            remove_tree(parent, &temporary, MAX_DEPTH + 1);
        }
        done
    }

    fn directory(
        &mut self,
        source: &Pinned,
        parent: &OwnedFd,
        name: &str,
        from: &str,
        below: &str,
    ) -> Result<(), FilesError> {
        self.gone.check()?;
        self.entries += 1;
        if self.entries > self.limits.max_copy_entries {
            return Err(too_large(from, self.entries, self.limits.max_copy_entries));
        }
        if below.split('/').count() > MAX_DEPTH as usize {
            return Err(invalid(
                from,
                format!("it is deeper than {MAX_DEPTH} levels"),
            ));
        }
        let shown = shown_below(from, below);
        let error = |errno| failed(&shown, errno);
        rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o700)).map_err(error)?;
        let made = open_beneath(parent, name, OFlags::RDONLY | OFlags::DIRECTORY, NO_LINKS)
            .map_err(error)?;
        let opened = open_beneath(
            &source.fd,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY,
            NO_LINKS,
        )
        .map_err(error)?;
        for entry in names(&opened).map_err(error)? {
            let below = if below.is_empty() {
                entry.clone()
            } else {
                format!("{below}/{entry}")
            };
            let shown = shown_below(from, &below);
            let flags = OFlags::PATH | OFlags::NOFOLLOW;
            let pinned = open_beneath(&opened, &entry, flags, NO_LINKS)
                .and_then(Pinned::new)
                .map_err(|errno| failed(&shown, errno))?;
            self.refuse_protected(&pinned, &below, &shown)?;
            match pinned.kind() {
                FileKind::Directory => self.directory(&pinned, &made, &entry, from, &below)?,
                FileKind::File => self.file(&pinned, &made, &entry, &shown)?,
                FileKind::Symlink => self.link(&pinned, &made, &entry, &below, &shown)?,
                FileKind::Special => {
                    return Err(not_copied(&shown, word_of(&pinned.stat, FileKind::Special)));
                }
            }
        }
        // Last, because a directory without the right to write takes no entries.
        let mode = self.modes.of_directory(source.stat.st_mode);
        rustix::fs::fchmod(&made, mode).map_err(error)
    }

    fn file(
        &mut self,
        source: &Pinned,
        parent: &OwnedFd,
        name: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(parent, name, flags, Mode::from_raw_mode(0o600))
            .map(File::from)
            .map_err(|errno| failed(shown, errno))?;
        self.content(source, &made, shown)?;
        rustix::fs::fchmod(&made, self.modes.of(source.stat.st_mode))
            .map_err(|errno| failed(shown, errno))
    }

    fn content(&mut self, source: &Pinned, to: &File, shown: &str) -> Result<(), FilesError> {
        use std::io::Read as _;
        self.gone.check()?;
        self.entries += 1;
        if self.entries > self.limits.max_copy_entries {
            return Err(too_large(shown, self.entries, self.limits.max_copy_entries));
        }
        let left = self.limits.max_copy_bytes - self.bytes;
        let size = size_of(&source.stat);
        if size > left {
            return Err(too_large(
                shown,
                self.bytes + size,
                self.limits.max_copy_bytes,
            ));
        }
        self.take_room(shown, size)?;
        let file = source
            .open(OFlags::RDONLY)
            .map_err(|errno| failed(shown, errno))?;
        let mut to = to;
        let copied = std::io::copy(&mut file.take(left + 1), &mut to)
            .map_err(|error| failed_io(shown, error))?;
        self.bytes += copied;
        if copied > left {
            return Err(too_large(shown, self.bytes, self.limits.max_copy_bytes));
        }
        // It grew while it was copied.
        self.take_room(shown, copied.saturating_sub(size))
    }

    fn link(
        &mut self,
        source: &Pinned,
        parent: &OwnedFd,
        name: &str,
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        self.entries += 1;
        let target = target_of(&source.fd, shown)?;
        if !stays_inside(below, &target) {
            return Err(FilesError::Symlink {
                path: shown.to_owned(),
                target,
            });
        }
        rustix::fs::symlinkat(&target, parent, name).map_err(|errno| failed(shown, errno))
    }

    fn refuse_protected(
        &self,
        pinned: &Pinned,
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        let Some(guard) = &self.guard else {
            return Ok(());
        };
        let why = guard
            .protected
            .covers(&guard.real.join(below))
            .or_else(|| guard.identities.has(&pinned.stat));
        why.map_or(Ok(()), |why| Err(protected(shown, why)))
    }
}

fn pin_ours(path: &Path, shown: &str) -> Result<Pinned, FilesError> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
        .and_then(Pinned::new)
        .map_err(|errno| failed(shown, errno))
}

fn rename(parent: &OwnedFd, from: &str, to: &str, shown: &str) -> Result<(), FilesError> {
    // A directory never replaces anything but an empty one, and that is looked at before.
    rustix::fs::renameat(parent, from, parent, to).map_err(|errno| failed(shown, errno))
}

fn shown_below(from: &str, below: &str) -> String {
    if below.is_empty() {
        from.to_owned()
    } else {
        format!("{}/{below}", from.trim_end_matches('/'))
    }
}

fn not_copied(shown: &str, is: &'static str) -> FilesError {
    FilesError::WrongKind {
        path: shown.to_owned(),
        is,
        wanted: "a file or directory",
    }
}

fn too_large(shown: &str, size: u64, limit: u64) -> FilesError {
    FilesError::TooLarge {
        path: shown.to_owned(),
        size,
        limit,
    }
}
