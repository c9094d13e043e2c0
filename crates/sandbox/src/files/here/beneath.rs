//! Paths resolved by the kernel beneath a directory handle (`openat2`).

use std::path::Path;

use outfitter_core::{FilesError, Reach};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Here;
use super::handle::real_path;
use crate::files::error::failed;
use crate::files::limits::{MAX_LINKS, MAX_RESOLVE_TRIES};
use crate::files::root::{LastLink, Rights, Root, visible_parts};

/// Beneath and through no link at all: for names that a walk has just read.
pub(super) const NO_LINKS: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

impl Root<Here> {
    /// Opens a directory of the operator's; links in its path are followed.
    pub(in crate::files) fn open(path: &Path, rights: Rights) -> Result<Self, FilesError> {
        let shown = path.display().to_string();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| failed(&shown, errno))?;
        Self::of_handle(fd, path, rights)
    }

    /// A directory that is open already, and the absolute path it is known by.
    pub(in crate::files) fn of_handle(
        fd: OwnedFd,
        path: &Path,
        rights: Rights,
    ) -> Result<Self, FilesError> {
        let shown = path.display().to_string();
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(&shown, errno))?;
        if !FileType::from_raw_mode(stat.st_mode).is_dir() {
            return Err(failed(&shown, Errno::NOTDIR));
        }
        can_resolve(&fd)?;
        let real = real_path(&fd).map_err(|_| FilesError::Unavailable {
            why: "/proc is not mounted, so that nobody can tell where a file really is".to_owned(),
        })?;
        Ok(Self::new(fd, rights, real, path))
    }
}

/// Finds a file without opening it.
pub(super) fn find(
    root: &Root<Here>,
    path: &str,
    last: LastLink,
    reach: Reach,
) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::PATH;
    if last == LastLink::Keep {
        flags |= OFlags::NOFOLLOW;
    }
    let resolve = match reach {
        Reach::Workspace => ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
        // Anywhere, but through no link of `/proc`.
        Reach::Host => ResolveFlags::NO_MAGICLINKS,
    };
    match open_beneath(&root.handle, path, flags, resolve) {
        // The kernel takes any absolute link for a way out, even one that leads back in.
        Err(Errno::XDEV) => {
            let path = without_absolute_links(root, path, last).ok_or(Errno::XDEV)?;
            open_beneath(&root.handle, &path, flags, resolve)
        }
        other => other,
    }
}

/// The path with its links written out, those that lead to a name of this root made relative. Only a
/// proposal: it is resolved beneath the root again.
fn without_absolute_links(root: &Root<Here>, path: &str, last: LastLink) -> Option<String> {
    let mut path = path.to_owned();
    'again: for _ in 0..MAX_LINKS {
        let parts: Vec<&str> = visible_parts(&path);
        let links = match last {
            LastLink::Follow => parts.len(),
            LastLink::Keep => parts.len().saturating_sub(1),
        };
        for at in 0..links {
            let prefix = parts[..=at].join("/");
            let link = open_beneath(
                &root.handle,
                &prefix,
                OFlags::PATH | OFlags::NOFOLLOW,
                ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
            )
            .ok()?;
            let stat = rustix::fs::fstat(&link).ok()?;
            if !FileType::from_raw_mode(stat.st_mode).is_symlink() {
                continue;
            }
            let target = rustix::fs::readlinkat(&link, "", Vec::new()).ok()?;
            let target = target.to_str().ok()?;
            let mut rewritten = if target.starts_with('/') {
                root.relative(target)?.1
            } else {
                let mut parent = parts[..at].join("/");
                if !parent.is_empty() {
                    parent.push('/');
                }
                parent + target
            };
            for rest in &parts[at + 1..] {
                rewritten.push('/');
                rewritten.push_str(rest);
            }
            path = rewritten;
            continue 'again;
        }
        return Some(path);
    }
    None
}

/// Opens with every flag a file tool needs, again when a rename raced with the resolution.
pub(super) fn open_beneath(
    directory: &OwnedFd,
    path: &str,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let mut tries = 0;
    loop {
        let opened = rustix::fs::openat2(
            directory,
            path,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        );
        match opened {
            Err(Errno::AGAIN | Errno::INTR) if tries < MAX_RESOLVE_TRIES => tries += 1,
            other => return other,
        }
    }
}

fn can_resolve(fd: &OwnedFd) -> Result<(), FilesError> {
    match open_beneath(fd, ".", OFlags::PATH, NO_LINKS) {
        Ok(_) => Ok(()),
        Err(Errno::NOSYS | Errno::PERM) => Err(FilesError::Unavailable {
            why: "the kernel has no openat2 (it came with Linux 5.6, or a filter forbids it), and \
                  without it no path is safe"
                .to_owned(),
        }),
        Err(errno) => Err(failed(".", errno)),
    }
}
