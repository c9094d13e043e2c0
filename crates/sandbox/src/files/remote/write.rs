//! Writing single files: as on this machine, a finished file takes the name.

use std::sync::{MutexGuard, PoisonError};

use outfitter_core::{FileKind, FilesError, Hash, Put, PutMode, Written};

use super::parents::{make_parents, refuse_place, symlink};
use super::place::{Place, Seen};
use super::read::{hash_file, open_seen};
use super::temporary::{NEW_FILE, PRIVATE, Temporary, beside, busy, must_replace};
use crate::files::cancel::Gone;
use crate::files::error::{invalid, protected};
use crate::files::parents::READ_ONLY;
use crate::files::repository;
use crate::files::root::LastLink;
use crate::ssh::sftp::{Attrs, Fault, OpenFlags};
use crate::startup;
use rustix::io::Errno;

/// How often a write starts over because the file changed under it.
const MAX_RACES: u32 = 16;

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
    let _turn = turn(place);
    let mut made = Vec::new();
    let done = put_making(place, put, &mut made, gone);
    if done.is_err() {
        unmake(place, &made);
    }
    done
}

/// Writers of a session take turns.
pub(super) fn turn<'a>(place: &Place<'a>) -> MutexGuard<'a, ()> {
    let turn = &place.files.turn;
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what was made for nothing, where nothing is in it.
pub(super) fn unmake(place: &Place<'_>, made: &[String]) {
    for directory in made.iter().rev() {
        let _ = place.sftp().remove_directory(directory);
    }
}

fn put_making(
    place: &Place<'_>,
    put: &Put,
    made: &mut Vec<String>,
    gone: &Gone,
) -> Result<Written, FilesError> {
    let target = Target::making(place, made)?;
    gone.check()?;
    for _ in 0..MAX_RACES {
        if let Some(written) = target.attempt(put, gone)? {
            return Ok(written);
        }
    }
    Err(busy(place))
}

/// A name in a directory, judged fit to be written.
pub(super) struct Target<'a> {
    pub(super) place: &'a Place<'a>,
    pub(super) directory: String,
    pub(super) name: String,
}

impl<'a> Target<'a> {
    /// The target; directories that are missing are made, and `made` tells which.
    pub(super) fn making(place: &'a Place<'a>, made: &mut Vec<String>) -> Result<Self, FilesError> {
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
        match place.find_at(parent, LastLink::Follow) {
            Ok(seen) => {
                refuse_place(place, &seen, name)?;
                Self::in_directory(place, seen, name).map(Some)
            }
            Err(FilesError::NotFound { .. }) => {
                super::parents::judge_missing(place, parent, name).map(|_| None)
            }
            Err(error) => Err(error),
        }
    }

    fn in_directory(place: &'a Place<'a>, parent: Seen, name: &str) -> Result<Self, FilesError> {
        if parent.attrs.kind() != FileKind::Directory {
            return Err(place.failed(Errno::NOTDIR));
        }
        Ok(Self {
            place,
            directory: parent.real,
            name: name.to_owned(),
        })
    }

    pub(super) fn path(&self) -> String {
        beside(&self.directory, &self.name)
    }

    /// The regular file that has the name now, if any.
    pub(super) fn existing(&self) -> Result<Option<Seen>, FilesError> {
        let real = self.path();
        let attrs = match self.place.sftp().lstat(&real) {
            Ok(attrs) => attrs,
            Err(Fault::NotFound) => return Ok(None),
            Err(fault) => return Err(self.place.fault(fault)),
        };
        if attrs.kind() == FileKind::Symlink {
            return Err(symlink(self.place, &real));
        }
        let seen = Seen { real, attrs };
        seen.must_be_file(&self.place.shown)?;
        Ok(Some(seen))
    }

    pub(super) fn hash_of(&self, existing: &Seen, gone: &Gone) -> Result<Hash, FilesError> {
        let fault = |fault| self.place.fault(fault);
        let file = open_seen(self.place.sftp(), existing).map_err(fault)?;
        hash_file(&file, gone)?.map_err(fault)
    }

    /// A rename would also replace a file that its owner made read-only.
    pub(super) fn must_be_writable(&self, existing: &Seen) -> Result<(), FilesError> {
        match self.place.sftp().open(&existing.real, OpenFlags::Write, 0) {
            // A program that runs cannot be opened for writing, and can be replaced.
            Ok(_) | Err(Fault::Failed(_)) => Ok(()),
            Err(fault) => Err(self.place.fault(fault)),
        }
    }

    /// Whether the name is still that of this file, as it was.
    pub(super) fn is_untouched(&self, before: &Attrs) -> Result<bool, FilesError> {
        match self.place.sftp().lstat(&self.path()) {
            Ok(now) => Ok(now == *before),
            Err(Fault::NotFound) => Ok(false),
            Err(fault) => Err(self.place.fault(fault)),
        }
    }

    /// One try. Nothing when the name changed meanwhile and all must be looked at again.
    fn attempt(&self, put: &Put, gone: &Gone) -> Result<Option<Written>, FilesError> {
        let existing = self.existing()?;
        if let Some(wanted) = put.if_hash {
            let Some(existing) = &existing else {
                return Err(self.place.failed(Errno::NOENT));
            };
            let hash = self.hash_of(existing, gone)?;
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

    fn create(&self, put: &Put) -> Result<Option<Written>, FilesError> {
        let mut room = self.place.files.room();
        room.take(&self.place.shown, put.bytes.len() as u64)?;
        let mut finished = Temporary::new(self.place, &self.directory, &put.bytes, NEW_FILE, None)?;
        // Somebody else made it: an append joins in, a replacement looks again, a creation finds
        // out.
        if !finished.take_free_name(&self.name)? {
            return Ok(None);
        }
        room.keep(0);
        Ok(Some(written(put, Hash::of(&put.bytes), true)))
    }

    fn replace(&self, existing: &Seen, put: &Put) -> Result<Option<Written>, FilesError> {
        must_replace(self.place)?;
        self.must_be_writable(existing)?;
        let (old, new) = (existing.attrs.size, put.bytes.len() as u64);
        let mut room = self.place.files.room();
        room.take(&self.place.shown, new.saturating_sub(old))?;
        let like = Some(&existing.attrs);
        let mut finished = Temporary::new(self.place, &self.directory, &put.bytes, PRIVATE, like)?;
        if !self.is_untouched(&existing.attrs)? {
            return Ok(None);
        }
        finished
            .take_name(&self.name)
            .map_err(|fault| self.place.fault(fault))?;
        room.keep(old.saturating_sub(new));
        Ok(Some(written(put, Hash::of(&put.bytes), false)))
    }

    fn append(
        &self,
        existing: &Seen,
        put: &Put,
        gone: &Gone,
    ) -> Result<Option<Written>, FilesError> {
        let sftp = self.place.sftp();
        let fault = |fault| self.place.fault(fault);
        // First, so that a file nobody can read is refused before it is changed.
        let reader = open_seen(sftp, existing).map_err(fault)?;
        let file = sftp
            .open(&existing.real, OpenFlags::Append, 0)
            .map_err(fault)?;
        let before = file.stat().map_err(fault)?;
        // What was opened is what the name stands for, and no link to something else.
        if before != sftp.lstat(&existing.real).map_err(fault)? {
            return Ok(None);
        }
        let mut room = self.place.files.room();
        room.take(&self.place.shown, put.bytes.len() as u64)?;
        // The server writes at the end, wherever it is told to.
        if let Err(error) = file.write(before.size, &put.bytes) {
            // All or nothing, as far as nobody else has appended since.
            if let Ok(after) = file.stat()
                && after.size > before.size
                && after.size - before.size < put.bytes.len() as u64
            {
                let _ = file.truncate(before.size);
            }
            return Err(fault(error));
        }
        room.keep(0);
        let hash = hash_file(&reader, gone)?.map_err(fault)?;
        Ok(Some(written(put, hash, false)))
    }
}

/// The directory and the name of a path that a file may have, by its text.
fn judged_name<'p>(place: &'p Place<'_>) -> Result<(&'p str, &'p str), FilesError> {
    if !place.is_writable {
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

fn written(put: &Put, hash: Hash, created: bool) -> Written {
    Written {
        bytes: put.bytes.len() as u64,
        hash,
        created,
    }
}
