//! Writing single files.
//!
//! A file is replaced by a finished one: temporary file in the same directory, then rename. Just
//! before the rename the name is looked at again; if it is not what was judged, everything starts
//! over. Writers of this process take turns per file, so that of two that saw the same content
//! only one wins. A writer outside this process can still slip in between the last look and the
//! rename; nothing on this system closes that gap.

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use outfitter_core::{FileKind, FilesError, Hash, Put, PutMode, Written};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{failed_io, invalid, protected};
use super::handle::{Pinned, kind_of, size_of, target_of};
use super::parents::{MadeDirectory, READ_ONLY, judge_missing, make_parents, refuse_place};
use super::place::Place;
use super::read::{hash_file, open_pinned};
use super::repository;
use super::root::{LastLink, Rights, open_beneath};
use super::temporary::Temporary;
use crate::startup;

/// How often a write starts over because the file changed under it.
const MAX_RACES: u32 = 16;

/// How many writers at most work at once; files that share a turn only wait for each other.
static TURNS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// A new file is made as any program of the user's makes it; the system takes the umask off.
pub(super) const NEW_FILE: Mode = Mode::from_raw_mode(0o666);
/// A file that is to replace another is nobody else's until it has the other's mode.
pub(super) const PRIVATE: Mode = Mode::from_raw_mode(0o600);

pub(super) fn put(place: &Place<'_>, put: &Put, gone: &Gone) -> Result<Written, FilesError> {
    let size = put.bytes.len() as u64;
    let limit = place.files.limits.max_write_bytes;
    if size > limit {
        return Err(FilesError::TooLarge {
            path: place.shown.clone(),
            size,
            limit,
        });
    }
    if put.mode == PutMode::Create && put.if_hash.is_some() {
        return Err(invalid(
            &place.shown,
            "what is to be created has no content to compare with",
        ));
    }
    let mut made = Vec::new();
    let done = put_making(place, put, &mut made, gone);
    if done.is_err() {
        made.iter().rev().for_each(MadeDirectory::unmake);
    }
    done
}

fn put_making(
    place: &Place<'_>,
    put: &Put,
    made: &mut Vec<MadeDirectory>,
    gone: &Gone,
) -> Result<Written, FilesError> {
    let target = Target::making(place, made)?;
    let _turn = target.take_turn();
    gone.check()?;
    for _ in 0..MAX_RACES {
        if let Some(written) = target.attempt(put, gone)? {
            return Ok(written);
        }
    }
    Err(place.failed(Errno::BUSY))
}

/// A name in a pinned directory, judged fit to be written.
pub(super) struct Target<'a> {
    pub(super) place: &'a Place<'a>,
    pub(super) parent: Pinned,
    pub(super) name: String,
}

impl<'a> Target<'a> {
    /// The target; directories that are missing are made.
    pub(super) fn of(place: &'a Place<'a>) -> Result<Self, FilesError> {
        Self::making(place, &mut Vec::new())
    }

    /// The same; `made` tells which directories were.
    pub(super) fn making(
        place: &'a Place<'a>,
        made: &mut Vec<MadeDirectory>,
    ) -> Result<Self, FilesError> {
        if let Some(there) = Self::look(place)? {
            return Ok(there);
        }
        let (parent, name) = judged_name(place)?;
        let parent = make_parents(place, parent, name, made)?;
        Self::in_directory(place, parent, name)
    }

    /// The target, with everything judged and nothing made; none where its directory is missing.
    pub(super) fn look(place: &'a Place<'a>) -> Result<Option<Self>, FilesError> {
        let (parent, name) = judged_name(place)?;
        match place.root.pin(parent, LastLink::Follow, place.bounds) {
            Ok(fd) => {
                let pinned = Pinned::new(fd).map_err(|errno| place.failed(errno))?;
                refuse_place(place, &pinned, name)?;
                Self::in_directory(place, pinned, name).map(Some)
            }
            Err(Errno::NOENT) => judge_missing(place, parent, name).map(|_| None),
            Err(errno) => Err(place.failed(errno)),
        }
    }

    fn in_directory(place: &'a Place<'a>, parent: Pinned, name: &str) -> Result<Self, FilesError> {
        if kind_of(&parent.stat) != FileKind::Directory {
            return Err(place.failed(Errno::NOTDIR));
        }
        Ok(Self {
            place,
            parent,
            name: name.to_owned(),
        })
    }

    /// Which of the turns is its own.
    pub(super) fn turn(&self) -> usize {
        let key = (self.parent.stat.st_dev, self.parent.stat.st_ino, &self.name);
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        usize::try_from(hash % TURNS.len() as u64).unwrap_or(0)
    }

    pub(super) fn take_turn(&self) -> MutexGuard<'static, ()> {
        take_turn(self.turn())
    }

    /// One try. Nothing when the name changed meanwhile and all must be looked at again.
    fn attempt(&self, put: &Put, gone: &Gone) -> Result<Option<Written>, FilesError> {
        let existing = self.existing()?;
        if let Some(wanted) = put.if_hash {
            let Some(existing) = &existing else {
                return Err(self.place.failed(Errno::NOENT));
            };
            let file = open_pinned(existing, &self.place.shown)?;
            let hash = hash_file(&file, &self.place.shown, gone)?;
            if hash != wanted {
                return Err(FilesError::Changed {
                    path: self.place.shown.clone(),
                    hash,
                });
            }
        }
        match (put.mode, existing) {
            (PutMode::Create, Some(_)) => Err(self.place.failed(Errno::EXIST)),
            (PutMode::Append, Some(existing)) => self.append(&existing, put, gone),
            (PutMode::Replace, Some(existing)) => self.replace(&existing, put),
            (PutMode::Create | PutMode::Append | PutMode::Replace, None) => self.create(put),
        }
    }

    /// The regular file that has the name now, if any.
    pub(super) fn existing(&self) -> Result<Option<Pinned>, FilesError> {
        let shown = &self.place.shown;
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let pinned = match open_beneath(&self.parent.fd, &self.name, flags, resolve) {
            Ok(fd) => Pinned::new(fd).map_err(|errno| self.place.failed(errno))?,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.place.failed(errno)),
        };
        if pinned.kind() == FileKind::Symlink {
            return Err(FilesError::Symlink {
                path: shown.clone(),
                target: target_of(&pinned.fd, shown)?,
            });
        }
        pinned.must_be_file(shown)?;
        let secret = self.place.identities().has(&pinned.stat);
        // Also through another name: a hard link, or what a link of that name leads to.
        let why = secret.or_else(|| self.place.fixed_identities().has(&pinned.stat));
        if let Some(why) = why {
            return Err(protected(shown, why));
        }
        Ok(Some(pinned))
    }

    fn create(&self, put: &Put) -> Result<Option<Written>, FilesError> {
        let mut room = self.place.files.room();
        room.take(&self.place.shown, put.bytes.len() as u64)?;
        let mut finished = self.temporary(NEW_FILE)?;
        finished.write(&put.bytes)?;
        match finished.take_free_name(&self.name) {
            Ok(()) => {
                room.keep(0);
                Ok(Some(written(put, Hash::of(&put.bytes), true)))
            }
            // Somebody else made it: an append joins in, a replacement looks again, a creation
            // finds out.
            Err(Errno::EXIST) => Ok(None),
            Err(errno) => Err(self.place.failed(errno)),
        }
    }

    fn replace(&self, existing: &Pinned, put: &Put) -> Result<Option<Written>, FilesError> {
        // A rename would also replace a file that its owner made read-only.
        match existing.open(OFlags::WRONLY) {
            Ok(_) | Err(Errno::TXTBSY) => {}
            Err(errno) => return Err(self.place.failed(errno)),
        }
        let (old, new) = (size_of(&existing.stat), put.bytes.len() as u64);
        let mut room = self.place.files.room();
        room.take(&self.place.shown, new.saturating_sub(old))?;
        let mut finished = self.temporary(PRIVATE)?;
        finished.write(&put.bytes)?;
        finished.look_like(existing)?;
        finished.sync()?;
        let now = match self.stat_name() {
            Ok(now) => now,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.place.failed(errno)),
        };
        if !is_untouched(&existing.stat, &now) {
            return Ok(None);
        }
        finished
            .take_name(&self.name)
            .map_err(|errno| self.place.failed(errno))?;
        room.keep(old.saturating_sub(new));
        Ok(Some(written(put, Hash::of(&put.bytes), false)))
    }

    fn append(
        &self,
        existing: &Pinned,
        put: &Put,
        gone: &Gone,
    ) -> Result<Option<Written>, FilesError> {
        let shown = &self.place.shown;
        // First, so that a file nobody can read is refused before it is changed.
        let reader = open_pinned(existing, shown)?;
        let mut file = existing
            .open(OFlags::WRONLY | OFlags::APPEND)
            .map_err(|errno| self.place.failed(errno))?;
        let mut room = self.place.files.room();
        room.take(shown, put.bytes.len() as u64)?;
        let before = size(&file, shown)?;
        if let Err(error) = file.write_all(&put.bytes) {
            // All or nothing, as far as nobody else has appended since.
            if let Ok(after) = size(&file, shown)
                && after > before
                && after - before < put.bytes.len() as u64
            {
                let _ = file.set_len(before);
            }
            return Err(failed_io(shown, error));
        }
        match self.stat_name() {
            Ok(now) if existing.same_file(&now) => {
                room.keep(0);
                let hash = hash_file(&reader, shown, gone)?;
                Ok(Some(written(put, hash, false)))
            }
            // It was replaced while we wrote; what was appended went with the old one.
            Ok(_) | Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.place.failed(errno)),
        }
    }

    pub(super) fn stat_name(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.parent.fd, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// A file beside the name, to be filled and then to take it.
    pub(super) fn temporary(&self, mode: Mode) -> Result<Temporary<'_>, FilesError> {
        Temporary::new(&self.parent.fd, self.place, mode)
    }
}

/// The directory and the name of a path that a file may have, by its text.
fn judged_name<'p>(place: &'p Place<'_>) -> Result<(&'p str, &'p str), FilesError> {
    if place.root.rights == Rights::ReadOnly {
        return Err(protected(&place.shown, READ_ONLY));
    }
    let (parent, name) = match place.relative.rsplit_once('/') {
        Some(("", name)) => (".", name),
        Some((parent, name)) => (parent, name),
        None => (".", place.relative.as_str()),
    };
    if matches!(name, "" | "." | "..") {
        return Err(FilesError::WrongKind {
            path: place.shown.clone(),
            is: "the name of a directory",
            wanted: "the name of a file",
        });
    }
    if repository::names_metadata(&place.relative) {
        return Err(protected(&place.shown, repository::WHY));
    }
    if repository::could_make_one(name) {
        return Err(protected(&place.shown, repository::WHY_HEAD));
    }
    if startup::names_configuration(&place.relative) {
        return Err(protected(&place.shown, startup::WHY_CONFIGURATION));
    }
    Ok((parent, name))
}

/// Waits for a turn. Who needs several takes them in ascending order.
pub(super) fn take_turn(turn: usize) -> MutexGuard<'static, ()> {
    TURNS[turn].lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn is_untouched(before: &Stat, now: &Stat) -> bool {
    let facts = |stat: &Stat| {
        (
            (stat.st_dev, stat.st_ino, stat.st_size),
            (stat.st_mtime, stat.st_mtime_nsec),
            (stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    facts(before) == facts(now)
}

fn size(file: &File, shown: &str) -> Result<u64, FilesError> {
    let metadata = file.metadata().map_err(|error| failed_io(shown, error))?;
    Ok(metadata.len())
}

fn written(put: &Put, hash: Hash, created: bool) -> Written {
    Written {
        bytes: put.bytes.len() as u64,
        hash,
        created,
    }
}
