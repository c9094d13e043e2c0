//! The directory that a file is written in: judged, and made where it is missing.

use std::path::PathBuf;

use outfitter_core::{FileKind, FilesError};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::error::protected;
use super::handle::{Pinned, target_of, word_of};
use super::place::Place;
use super::repository;
use super::root::{Bounds, LastLink, NO_LINKS, open_beneath};
use crate::startup;

pub(super) const READ_ONLY: &str = "it is laid in for reading only";

/// A new directory is made as any program of the user's makes it; the system takes the umask off.
const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o777);

/// Refuses a name in a pinned directory that nobody may write, by where it really is.
pub(super) fn refuse_place(
    place: &Place<'_>,
    parent: &Pinned,
    rest: &str,
) -> Result<(), FilesError> {
    let real = place.refuse_protected(parent)?.join(rest);
    if let Some(why) = place.files.protected.covers(&real) {
        return Err(protected(&place.shown, why));
    }
    let root = match place.bounds {
        Bounds::Beneath => place.root.real_path(),
        Bounds::Anywhere => PathBuf::from("/"),
    };
    if repository::lies_in_metadata(&real, &root)
        || repository::is_in_bare_repository(&parent.fd, &place.root.fd)
    {
        return Err(protected(&place.shown, repository::WHY));
    }
    if startup::lies_in_configuration(&real, &root) {
        return Err(protected(&place.shown, startup::WHY_CONFIGURATION));
    }
    let fixed = place.files.protected.fixes(&real);
    if let Some(why) = fixed.or_else(|| place.fixed_identities().has(&parent.stat)) {
        return Err(protected(&place.shown, why));
    }
    if place
        .files
        .read_only
        .iter()
        .any(|laid| real.starts_with(laid.real_path()))
    {
        return Err(protected(&place.shown, READ_ONLY));
    }
    Ok(())
}

/// A directory that was made for a file, and can be unmade.
pub(super) struct MadeDirectory {
    parent: Pinned,
    name: String,
}

impl MadeDirectory {
    /// Removes it, if nothing is in it.
    pub(super) fn unmake(&self) {
        let _ = rustix::fs::unlinkat(&self.parent.fd, &self.name, AtFlags::REMOVEDIR);
    }
}

/// The nearest directory that is there, judged fit for a file beneath it, and those missing.
pub(super) fn judge_missing<'p>(
    place: &Place<'_>,
    parent: &'p str,
    name: &'p str,
) -> Result<(Pinned, Vec<&'p str>), FilesError> {
    let parts: Vec<&str> = parent
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let pin = |relative: &str| {
        let fd = place.root.pin(relative, LastLink::Follow, place.bounds)?;
        Pinned::new(fd)
    };
    let mut here = pin(".").map_err(|errno| place.failed(errno))?;
    let mut there = 0;
    while there < parts.len() {
        match pin(&parts[..=there].join("/")) {
            Ok(next) => here = next,
            Err(Errno::NOENT) => break,
            Err(errno) => return Err(place.failed(errno)),
        }
        there += 1;
    }
    let missing = parts[there..].to_vec();
    if missing.contains(&"..") {
        return Err(place.failed(Errno::NOENT));
    }
    if missing.is_empty() && place.root.is_gone() {
        return Err(place.failed(Errno::NOENT));
    }
    let rest = missing.iter().chain([&name]).copied().collect::<Vec<_>>();
    refuse_place(place, &here, &rest.join("/"))?;
    Ok((here, missing))
}

/// Makes the directories that are missing, each through a handle of the one before. What was made
/// is in `made`, also when it fails.
pub(super) fn make_parents(
    place: &Place<'_>,
    parent: &str,
    name: &str,
    made: &mut Vec<MadeDirectory>,
) -> Result<Pinned, FilesError> {
    let (mut here, missing) = judge_missing(place, parent, name)?;
    for part in missing {
        let is_new = match rustix::fs::mkdirat(&here.fd, part, NEW_DIRECTORY) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(place.failed(errno)),
        };
        let next = match open_beneath(&here.fd, part, OFlags::PATH | OFlags::NOFOLLOW, NO_LINKS) {
            Ok(fd) => Pinned::new(fd).map_err(|errno| place.failed(errno))?,
            Err(errno) => return Err(place.failed(errno)),
        };
        match next.kind() {
            FileKind::Directory => {
                let parent = std::mem::replace(&mut here, next);
                if is_new {
                    let name = part.to_owned();
                    made.push(MadeDirectory { parent, name });
                }
            }
            // A link that leads nowhere yet: what it would come to lead to is not ours to make.
            FileKind::Symlink => {
                return Err(FilesError::Symlink {
                    path: place.shown.clone(),
                    target: target_of(&next.fd, &place.shown)?,
                });
            }
            other @ (FileKind::File | FileKind::Special) => {
                return Err(FilesError::WrongKind {
                    path: place.shown.clone(),
                    is: word_of(&next.stat, other),
                    wanted: "a directory",
                });
            }
        }
    }
    Ok(here)
}
