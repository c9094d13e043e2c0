//! The directory that a file is written in: judged, and made where it is missing.

use std::path::Path;

use outfitter_core::{FileKind, FilesError, Reach};
use rustix::io::Errno;

use super::place::{Place, Seen, parts_of, word_of};
use super::temporary::beside;
use crate::files::error::protected;
use crate::files::parents::READ_ONLY;
use crate::files::repository;
use crate::files::root::LastLink;
use crate::ssh::sftp::{Attrs, Fault};
use crate::startup;

/// A new directory is made as any program of the account's makes it.
const NEW_DIRECTORY: u32 = 0o777;

/// How far up a repository is looked for.
const MAX_ANCESTORS: usize = 256;

/// Refuses a name in a directory that nobody may write, by where it really is.
pub(super) fn refuse_place(place: &Place<'_>, parent: &Seen, rest: &str) -> Result<(), FilesError> {
    let real = beside(&parent.real, rest);
    place.refuse_protected(&real)?;
    let path = Path::new(&real);
    let root = match place.reach {
        Reach::Workspace => place.root.as_path(),
        Reach::Host => Path::new("/"),
    };
    if repository::lies_in_metadata(path, root) || is_in_bare_repository(place, &parent.real)? {
        return Err(protected(&place.shown, repository::WHY));
    }
    if startup::lies_in_configuration(path, root) {
        return Err(protected(&place.shown, startup::WHY_CONFIGURATION));
    }
    if let Some(why) = place.files.protected.fixes(path) {
        return Err(protected(&place.shown, why));
    }
    if leads_to_configuration(place, path)? {
        return Err(protected(&place.shown, startup::WHY_CONFIGURATION));
    }
    if place.files.laid.iter().any(|laid| path.starts_with(laid)) {
        return Err(protected(&place.shown, READ_ONLY));
    }
    Ok(())
}

/// Whether configuration in the root is a link that leads to this path, or to a directory above it.
fn leads_to_configuration(place: &Place<'_>, path: &Path) -> Result<bool, FilesError> {
    let root = place.root.to_string_lossy();
    let names: Vec<String> = startup::CONFIGURATION
        .iter()
        .map(|name| beside(&root, name))
        .collect();
    let seen = place.sftp().lstat_all(&names);
    let seen = seen.map_err(|fault| place.fault(fault))?;
    for (name, seen) in startup::CONFIGURATION.iter().zip(seen) {
        if seen.is_ok_and(|attrs| attrs.kind() == FileKind::Symlink)
            // One that leads out, or nowhere, protects nothing in here.
            && let Ok(real) = place.find_at(name, LastLink::Follow)
            && path.starts_with(&real.real)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether this directory, or one above it up to the root, is a repository's metadata under another
/// name.
fn is_in_bare_repository(place: &Place<'_>, directory: &str) -> Result<bool, FilesError> {
    let signs = ["HEAD", "objects", "refs", "commondir"];
    let mut asked = Vec::new();
    let above = Path::new(directory)
        .ancestors()
        .take_while(|path| path.starts_with(&place.root))
        .take(MAX_ANCESTORS);
    for directory in above {
        asked.extend(signs.map(|sign| beside(&directory.to_string_lossy(), sign)));
    }
    let seen = place.sftp().lstat_all(&asked);
    let seen = seen.map_err(|fault| place.fault(fault))?;
    let is = |seen: &Result<Attrs, Fault>, kind: FileKind| {
        seen.as_ref().is_ok_and(|attrs| attrs.kind() == kind)
    };
    Ok(seen.chunks_exact(signs.len()).any(|here| {
        let head = is(&here[0], FileKind::File) || is(&here[0], FileKind::Symlink);
        head && ((is(&here[1], FileKind::Directory) && is(&here[2], FileKind::Directory))
            || is(&here[3], FileKind::File))
    }))
}

/// The nearest directory that is there, judged fit for a file beneath it, and those missing.
pub(super) fn judge_missing<'p>(
    place: &Place<'_>,
    parent: &'p str,
    name: &'p str,
) -> Result<(Seen, Vec<&'p str>), FilesError> {
    let parts = parts_of(parent);
    let mut here = place.find_at(".", LastLink::Follow)?;
    let mut there = 0;
    while there < parts.len() {
        match place.find_at(&parts[..=there].join("/"), LastLink::Follow) {
            Ok(next) => here = next,
            Err(FilesError::NotFound { .. }) => break,
            Err(error) => return Err(error),
        }
        there += 1;
    }
    let missing = parts[there..].to_vec();
    if missing.contains(&"..") {
        return Err(place.failed(Errno::NOENT));
    }
    let rest = missing.iter().chain([&name]).copied().collect::<Vec<_>>();
    refuse_place(place, &here, &rest.join("/"))?;
    Ok((here, missing))
}

/// Makes the directories that are missing. What was made is in `made`, also when it fails.
pub(super) fn make_parents(
    place: &Place<'_>,
    parent: &str,
    name: &str,
    made: &mut Vec<String>,
) -> Result<Seen, FilesError> {
    let (mut here, missing) = judge_missing(place, parent, name)?;
    let sftp = place.sftp();
    for part in missing {
        let real = beside(&here.real, part);
        let is_new = match sftp.make_directory(&real, NEW_DIRECTORY) {
            Ok(()) => true,
            // It may be there by now.
            Err(Fault::Failed(_)) => false,
            Err(fault) => return Err(place.fault(fault)),
        };
        let attrs = sftp.lstat(&real).map_err(|fault| place.fault(fault))?;
        match attrs.kind() {
            FileKind::Directory => {
                if is_new {
                    made.push(real.clone());
                }
                here = Seen { real, attrs };
            }
            // A link that leads nowhere yet: what it would come to lead to is not ours to make.
            FileKind::Symlink => return Err(symlink(place, &real)),
            FileKind::File | FileKind::Special => {
                return Err(FilesError::WrongKind {
                    path: place.shown.clone(),
                    is: word_of(&attrs),
                    wanted: "a directory",
                });
            }
        }
    }
    Ok(here)
}

/// The refusal of a link, with where it leads.
pub(super) fn symlink(place: &Place<'_>, real: &str) -> FilesError {
    match place.sftp().readlink(real) {
        Ok(target) => FilesError::Symlink {
            path: place.shown.clone(),
            target,
        },
        Err(fault) => place.fault(fault),
    }
}
