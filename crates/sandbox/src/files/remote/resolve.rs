//! From a path to a name on the other machine.

use std::path::Path;

use outfitter_core::{FileKind, Reach};
use rustix::io::Errno;

use super::machine::beside;
use crate::files::error::Failure;
use crate::files::facts::{Facts, Pinned};
use crate::files::limits::MAX_LINKS;
use crate::files::machine::Pin;
use crate::files::place::Place;
use crate::files::root::{LastLink, visible_parts};
use crate::ssh::sftp::Sftp;

/// Finds what a path names, looking at every part of it.
pub(super) fn find(
    place: &Place<'_, Sftp>,
    path: &str,
    last: LastLink,
) -> Result<Pin<Sftp>, Failure> {
    match find_plain(place, path)? {
        Some(found) => {
            refuse_protected(place, &found.handle)?;
            Ok(found)
        }
        None => find_slowly(place, path, last),
    }
}

/// In one step, where the path is what most are: names of directories, and one of something that is
/// no link.
fn find_plain(place: &Place<'_, Sftp>, path: &str) -> Result<Option<Pin<Sftp>>, Failure> {
    let parts = visible_parts(path);
    if parts.contains(&"..") || path.ends_with('/') {
        return Ok(None);
    }
    let mut here = place.root.handle.clone();
    let mut paths = Vec::with_capacity(parts.len().max(1));
    for part in &parts {
        here = beside(&here, part);
        paths.push(here.clone());
    }
    if paths.is_empty() {
        paths.push(here);
    }
    let mut seen = place.machine().lstat_all(&paths)?;
    let Some(Ok(attrs)) = seen.pop() else {
        return Ok(None);
    };
    let is_plain = seen
        .iter()
        .all(|above| matches!(above, Ok(attrs) if attrs.kind() == FileKind::Directory))
        && attrs.kind() != FileKind::Symlink;
    Ok(is_plain.then(|| Pinned {
        handle: paths.pop().unwrap_or_default(),
        facts: Facts::from(&attrs),
    }))
}

/// Part by part.
fn find_slowly(place: &Place<'_, Sftp>, path: &str, last: LastLink) -> Result<Pin<Sftp>, Failure> {
    let root = visible_parts(&place.root.handle).into_iter();
    let mut real: Vec<String> = root.map(ToOwned::to_owned).collect();
    let floor = match place.reach {
        Reach::Workspace => real.len(),
        Reach::Host => 0,
    };
    // What is still to be met, the last first.
    let mut ahead = turned(path);
    // `a/` is a directory, or nothing.
    let must_be_directory = path.ends_with('/') || path.ends_with("/.");
    let mut links = 0;
    let mut facts = look(place, &joined(&real))?;
    while let Some(part) = ahead.pop() {
        if facts.kind() != FileKind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        if part == ".." {
            match real.len() > floor {
                true => {
                    real.pop();
                    facts = look(place, &joined(&real))?;
                }
                // Above the top of the machine is the top.
                false if floor == 0 => {}
                false => return Err(Errno::XDEV.into()),
            }
            continue;
        }
        real.push(part);
        let path = joined(&real);
        refuse_protected(place, &path)?;
        facts = look(place, &path)?;
        let stays = ahead.is_empty() && last == LastLink::Keep && !must_be_directory;
        if facts.kind() != FileKind::Symlink || stays {
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = place.machine().readlink(&path)?;
        real.pop();
        if target.starts_with('/') {
            let below = match place.reach {
                Reach::Host => target,
                Reach::Workspace => place.root.relative(&target).ok_or(Errno::XDEV)?.1,
            };
            real.truncate(floor);
            ahead.extend(turned(&below));
        } else {
            ahead.extend(turned(&target));
        }
        facts = look(place, &joined(&real))?;
    }
    if must_be_directory && facts.kind() != FileKind::Directory {
        return Err(Errno::NOTDIR.into());
    }
    Ok(Pinned {
        handle: joined(&real),
        facts,
    })
}

fn look(place: &Place<'_, Sftp>, path: &str) -> Result<Facts, Failure> {
    Ok(Facts::from(&place.machine().lstat(path)?))
}

fn refuse_protected(place: &Place<'_, Sftp>, real: &str) -> Result<(), Failure> {
    let why = place.files.protected.covers(Path::new(real));
    why.map_or(Ok(()), |why| Err(Failure::Protected(why)))
}

/// The parts of a path, the first one last.
pub(super) fn turned(path: &str) -> Vec<String> {
    let parts = visible_parts(path).into_iter().rev();
    parts.map(ToOwned::to_owned).collect()
}

pub(super) fn joined(parts: &[String]) -> String {
    format!("/{}", parts.join("/"))
}
