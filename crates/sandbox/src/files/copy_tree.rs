//! What a copy asks of a tree: its names, its links, and how to take it back.

use std::path::{Component, Path};

use outfitter_core::FileKind;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, OFlags, RawDir};
use rustix::io::Errno;

use super::handle::kind_of;
use super::root::{NO_LINKS, open_beneath};

/// Whether a link at `below` in a tree leads to something in the tree, whatever links it passes:
/// it first goes up, no further than the tree, and then only down.
pub(super) fn stays_inside(below: &str, target: &str) -> bool {
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

pub(super) fn names(directory: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut buffer = Vec::with_capacity(16 << 10);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match name.to_str() {
            Ok(name) => names.push(name.to_owned()),
            Err(_) => return Err(Errno::ILSEQ),
        }
    }
    names.sort();
    Ok(names)
}

/// Takes back a copy that did not end well. What cannot be removed stays under its temporary name.
pub(super) fn remove_tree(parent: &OwnedFd, name: &str, depth: u32) {
    if depth > 0
        && let Ok(directory) =
            open_beneath(parent, name, OFlags::RDONLY | OFlags::DIRECTORY, NO_LINKS)
    {
        for entry in names(&directory).unwrap_or_default() {
            let is_directory = rustix::fs::statat(&directory, &entry, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| kind_of(&stat) == FileKind::Directory);
            if is_directory {
                remove_tree(&directory, &entry, depth - 1);
            } else {
                let _ = rustix::fs::unlinkat(&directory, &entry, AtFlags::empty());
            }
        }
    }
    let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
}
