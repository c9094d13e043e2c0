//! A name in a directory, judged fit to be written.

use std::path::PathBuf;
use std::sync::MutexGuard;

use outfitter_core::{FileKind, FilesError, Hash};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{Failure, protected};
use super::facts::Facts;
use super::machine::{Machine, Pin};
use super::parents::{
    MadeDirectory, READ_ONLY, judge_missing, make_parents, refuse_place, symlink,
};
use super::place::Place;
use super::read::hash_file;
use super::repository;
use super::root::{LastLink, Rights};
use super::turns::Turns;
use crate::startup;

/// One directory, whatever it is called: by identity, or by where it really is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Identity((u64, u64)),
    Path(PathBuf),
}

pub(super) struct Target<'a, M: Machine> {
    pub(super) place: &'a Place<'a, M>,
    pub(super) parent: Pin<M>,
    pub(super) name: String,
    key: Key,
}

impl<'a, M: Machine> Target<'a, M> {
    /// The target; directories that are missing are made, and `made` tells which.
    pub(super) fn making(
        place: &'a Place<'a, M>,
        made: &mut Vec<MadeDirectory<M>>,
    ) -> Result<Self, FilesError> {
        let target = match Self::look(place)? {
            Some(there) => there,
            None => {
                let (parent, name) = judged_name(place)?;
                Self::in_directory(place, make_parents(place, parent, name, made)?, name)?
            }
        };
        let (directory, key) = (&target.parent.handle, target.key.clone());
        place.files.swept.sweep(place.machine(), directory, key);
        Ok(target)
    }

    /// The target, with everything judged and nothing made; none where its directory is missing.
    pub(super) fn look(place: &'a Place<'a, M>) -> Result<Option<Self>, FilesError> {
        let (parent, name) = judged_name(place)?;
        match M::resolve(place, parent, LastLink::Follow) {
            Ok(pinned) => {
                refuse_place(place, &pinned, name)?;
                Self::in_directory(place, pinned, name).map(Some)
            }
            Err(failure) if failure.is(Errno::NOENT) => {
                judge_missing(place, parent, name).map(|_| None)
            }
            Err(failure) => Err(place.failed(failure)),
        }
    }

    fn in_directory(
        place: &'a Place<'a, M>,
        parent: Pin<M>,
        name: &str,
    ) -> Result<Self, FilesError> {
        if parent.kind() != FileKind::Directory {
            return Err(place.failed(Errno::NOTDIR));
        }
        let key = match parent.facts.identity {
            Some(identity) => Key::Identity(identity),
            None => {
                let real = place.machine().real_path(&parent.handle);
                Key::Path(real.map_err(|failure| place.failed(failure))?)
            }
        };
        let name = name.to_owned();
        Ok(Self {
            place,
            parent,
            name,
            key,
        })
    }

    /// What no other target is the same as.
    pub(super) fn identity(&self) -> (Key, String) {
        (self.key.clone(), self.name.clone())
    }

    /// Which of the turns is its own.
    pub(super) fn turn(&self) -> usize {
        Turns::of((&self.key, &self.name))
    }

    pub(super) fn take_turn(&self) -> MutexGuard<'_, ()> {
        self.place.files.turns.take(self.turn())
    }

    /// The regular file that has the name now, if any.
    pub(super) fn existing(&self) -> Result<Option<Pin<M>>, FilesError> {
        let place = self.place;
        let pinned = match place.machine().pin(&self.parent.handle, &self.name) {
            Ok(pinned) => pinned,
            Err(failure) if failure.is(Errno::NOENT) => return Ok(None),
            Err(failure) => return Err(place.failed(failure)),
        };
        if pinned.kind() == FileKind::Symlink {
            return Err(symlink(place, &pinned));
        }
        pinned.must_be_file(&place.shown)?;
        // Also through another name: a hard link, or what a link of that name leads to.
        let identity = pinned.facts.identity;
        let secret = M::identities(&place.files.protected).has(identity);
        let why = secret.or_else(|| M::fixed_identities(place.files).has(identity));
        match why {
            Some(why) => Err(protected(&place.shown, why)),
            None => Ok(Some(pinned)),
        }
    }

    /// The facts of what has the name now.
    pub(super) fn stat(&self) -> Result<Facts, Failure> {
        let machine = self.place.machine();
        machine.stat(&self.parent.handle, &self.name)
    }

    /// The hash of what was there. The first thing done with it, so that a file nobody can read is
    /// refused before it is changed.
    pub(super) fn hash_of(&self, existing: &Pin<M>, gone: &Gone) -> Result<Hash, FilesError> {
        let file = self.place.machine().open(existing);
        let file = file.map_err(|failure| self.place.failed(failure))?;
        hash_file(&file, &self.place.shown, gone)
    }

    /// Refuses a file that has other content than the caller thought.
    pub(super) fn must_have(
        &self,
        existing: &Pin<M>,
        wanted: Hash,
        gone: &Gone,
    ) -> Result<(), FilesError> {
        let hash = self.hash_of(existing, gone)?;
        if hash == wanted {
            return Ok(());
        }
        Err(FilesError::Changed {
            path: self.place.shown.clone(),
            hash,
        })
    }

    /// Refuses what a rename would replace although its owner made it read-only, and where nothing
    /// is replaced in one step.
    pub(super) fn may_replace(&self, existing: &Pin<M>) -> Result<(), FilesError> {
        let machine = self.place.machine();
        let may = machine.must_replace();
        let may = may.and_then(|()| machine.may_write(existing));
        may.map_err(|failure| self.place.failed(failure))
    }
}

/// The directory and the name of a path that a file may have, by its text.
fn judged_name<'p, M: Machine>(place: &'p Place<'_, M>) -> Result<(&'p str, &'p str), FilesError> {
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
