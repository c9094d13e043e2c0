//! The directory that a file is written in: judged, and made where it is missing.

use outfitter_core::{FileKind, FilesError};
use rustix::io::Errno;

use super::error::{Failure, protected};
use super::machine::{Machine, Pin};
use super::place::Place;
use super::repository;
use super::root::{LastLink, visible_parts};
use crate::startup;

pub(super) const READ_ONLY: &str = "it is laid in for reading only";

/// A new directory is made as any program of the user's makes it; the system takes the umask off.
const NEW_DIRECTORY: u32 = 0o777;

/// Refuses a name in a pinned directory that nobody may write, by where it really is.
pub(super) fn refuse_place<M: Machine>(
    place: &Place<'_, M>,
    parent: &Pin<M>,
    rest: &str,
) -> Result<(), FilesError> {
    let files = place.files;
    let real = place.refuse_protected(parent)?.join(rest);
    let top = place.top();
    let failed = |failure: Failure| place.failed(failure);
    let why = if let Some(why) = files.protected.covers(&real) {
        Some(why)
    } else if repository::lies_in_metadata(&real, &top)
        || M::is_in_repository(place, parent).map_err(failed)?
    {
        Some(repository::WHY)
    } else if startup::lies_in_configuration(&real, &top) {
        Some(startup::WHY_CONFIGURATION)
    } else if let Some(why) = files.protected.fixes(&real) {
        Some(why)
    } else if let Some(why) = M::fixed_identities(files).has(parent.facts.identity) {
        Some(why)
    } else if let Some(why) = M::fixed_by_link(place, &real).map_err(failed)? {
        Some(why)
    } else {
        let mut laid = files.read_only.iter();
        laid.any(|laid| real.starts_with(files.now_at(laid)))
            .then_some(READ_ONLY)
    };
    why.map_or(Ok(()), |why| Err(protected(&place.shown, why)))
}

/// A directory that was made for a file, and can be unmade.
pub(super) struct MadeDirectory<M: Machine> {
    parent: Pin<M>,
    name: String,
}

/// Removes what was made for nothing, where nothing is in it.
pub(super) fn unmake<M: Machine>(machine: &M, made: &[MadeDirectory<M>]) {
    for directory in made.iter().rev() {
        let _ = machine.remove_directory(&directory.parent.handle, &directory.name);
    }
}

/// The nearest directory that is there, judged fit for a file beneath it, and those missing.
pub(super) fn judge_missing<'p, M: Machine>(
    place: &Place<'_, M>,
    parent: &'p str,
    name: &'p str,
) -> Result<(Pin<M>, Vec<&'p str>), FilesError> {
    let parts = visible_parts(parent);
    let pin = |path: &str| M::resolve(place, path, LastLink::Follow);
    let mut here = pin(".").map_err(|failure| place.failed(failure))?;
    let mut there = 0;
    while there < parts.len() {
        match pin(&parts[..=there].join("/")) {
            Ok(next) => here = next,
            Err(failure) if failure.is(Errno::NOENT) => break,
            Err(failure) => return Err(place.failed(failure)),
        }
        there += 1;
    }
    let missing = parts[there..].to_vec();
    if missing.contains(&"..") || (missing.is_empty() && place.machine().is_gone(place.root)) {
        return Err(place.failed(Errno::NOENT));
    }
    let rest = missing.iter().chain([&name]).copied().collect::<Vec<_>>();
    refuse_place(place, &here, &rest.join("/"))?;
    Ok((here, missing))
}

/// Makes the directories that are missing, each in the one before. What was made is in `made`, also
/// when it fails.
pub(super) fn make_parents<M: Machine>(
    place: &Place<'_, M>,
    parent: &str,
    name: &str,
    made: &mut Vec<MadeDirectory<M>>,
) -> Result<Pin<M>, FilesError> {
    let machine = place.machine();
    let failed = |failure| place.failed(failure);
    let (mut here, missing) = judge_missing(place, parent, name)?;
    for part in missing {
        let is_new = match machine.make_directory(&here.handle, part, NEW_DIRECTORY) {
            Ok(()) => true,
            Err(failure) if failure.is(Errno::EXIST) => false,
            Err(failure) => return Err(failed(failure)),
        };
        let next = machine.pin(&here.handle, part).map_err(failed)?;
        // A link that leads nowhere yet: what it would come to lead to is not ours to make.
        if next.kind() == FileKind::Symlink {
            return Err(symlink(place, &next));
        }
        next.must_be_directory(&place.shown)?;
        let parent = std::mem::replace(&mut here, next);
        if is_new {
            let name = part.to_owned();
            made.push(MadeDirectory { parent, name });
        }
    }
    Ok(here)
}

/// The refusal of a link, with where it leads.
pub(super) fn symlink<M: Machine>(place: &Place<'_, M>, link: &Pin<M>) -> FilesError {
    match place.machine().target(&link.handle) {
        Ok(target) => FilesError::Symlink {
            path: place.shown.clone(),
            target,
        },
        Err(failure) => place.failed(failure),
    }
}
