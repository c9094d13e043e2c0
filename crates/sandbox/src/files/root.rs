//! A directory that paths are resolved beneath.

use std::path::{Component, Path, PathBuf};

use outfitter_core::FilesError;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::error::failed;
use super::handle;
use super::limits::{MAX_LINKS, MAX_RESOLVE_TRIES};

/// Whether what lies beneath a root may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    ReadWrite,
    ReadOnly,
}

/// Whether the last part of a path, if it is a link, stands for its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    Keep,
}

/// How far a resolution may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Beneath the root.
    Beneath,
    /// Anywhere, but through no link of `/proc`.
    Anywhere,
}

/// A directory handle and the names under which callers know it.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) fd: OwnedFd,
    pub(super) rights: Rights,
    /// As given and as it really is.
    names: Vec<PathBuf>,
}

impl Root {
    /// Opens a directory of the operator's; links in its path are followed.
    pub(super) fn open(path: &Path, rights: Rights) -> Result<Self, FilesError> {
        let shown = path.display().to_string();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| failed(&shown, errno))?;
        Self::of_handle(fd, path, rights)
    }

    /// A directory that is open already, and the absolute path it is known by.
    pub(super) fn of_handle(fd: OwnedFd, path: &Path, rights: Rights) -> Result<Self, FilesError> {
        let shown = path.display().to_string();
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(&shown, errno))?;
        if !FileType::from_raw_mode(stat.st_mode).is_dir() {
            return Err(failed(&shown, Errno::NOTDIR));
        }
        can_resolve(&fd)?;
        let real = handle::real_path(&fd).map_err(|_| FilesError::Unavailable {
            why: "/proc is not mounted, so that nobody can tell where a file really is".to_owned(),
        })?;
        let mut names = vec![real];
        if path.is_absolute() && path != names[0] {
            names.push(path.to_owned());
        }
        Ok(Self { fd, rights, names })
    }

    /// Where it really was when it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.names[0]
    }

    /// Where it really is now.
    pub(super) fn real_path(&self) -> PathBuf {
        handle::real_path(&self.fd).unwrap_or_else(|_| self.path().to_owned())
    }

    /// The path of this absolute path beneath this root, if it lies there by its text: a relative
    /// one, `.` for the root itself. Decides nothing; the kernel resolves what comes out.
    pub(super) fn relative(&self, absolute: &str) -> Option<(usize, String)> {
        relative_to(&self.names, absolute)
    }

    /// Whether the directory has been removed.
    pub(super) fn is_gone(&self) -> bool {
        rustix::fs::fstat(&self.fd).map_or(true, |stat| stat.st_nlink == 0)
    }

    /// Finds a file without opening it.
    pub(super) fn pin(
        &self,
        relative: &str,
        last: LastLink,
        bounds: Bounds,
    ) -> Result<OwnedFd, Errno> {
        let mut flags = OFlags::PATH;
        if last == LastLink::Keep {
            flags |= OFlags::NOFOLLOW;
        }
        let resolve = match bounds {
            Bounds::Beneath => ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
            Bounds::Anywhere => ResolveFlags::NO_MAGICLINKS,
        };
        match open_beneath(&self.fd, relative, flags, resolve) {
            // The kernel takes any absolute link for a way out, even one that leads back in.
            Err(Errno::XDEV) => {
                let Some(relative) = self.without_absolute_links(relative, last) else {
                    return Err(Errno::XDEV);
                };
                open_beneath(&self.fd, &relative, flags, resolve)
            }
            other => other,
        }
    }

    /// The path with its links written out, those that lead to a name of this root made relative.
    /// Only a proposal: it is resolved beneath the root again.
    fn without_absolute_links(&self, relative: &str, last: LastLink) -> Option<String> {
        let mut path = relative.to_owned();
        'again: for _ in 0..MAX_LINKS {
            let parts: Vec<&str> = visible_parts(&path);
            let links = match last {
                LastLink::Follow => parts.len(),
                LastLink::Keep => parts.len().saturating_sub(1),
            };
            for at in 0..links {
                let prefix = parts[..=at].join("/");
                let link = open_beneath(
                    &self.fd,
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
                    self.relative(target)?.1
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
}

/// Opens with every flag a file tool needs, again when a rename raced with the resolution.
pub(super) fn open_beneath(
    directory: &OwnedFd,
    relative: &str,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let mut tries = 0;
    loop {
        let opened = rustix::fs::openat2(
            directory,
            relative,
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

/// Beneath and through no link at all: for names that a walk has just read.
pub(super) const NO_LINKS: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

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

/// The path of an absolute path beneath a directory of one of these names, by its text, and how many
/// parts the name has.
pub(super) fn relative_to(names: &[PathBuf], absolute: &str) -> Option<(usize, String)> {
    let parts = visible_parts(absolute);
    let below = |parts: &[&str]| {
        names.iter().find_map(|name| {
            let name = normal_parts(name)?;
            let below = parts.strip_prefix(name.as_slice())?;
            Some((name.len(), below.join("/")))
        })
    };
    // `..` after a link is for who resolves it, unless it climbs over the root itself.
    let (length, below) = below(&parts)
        .filter(|(_, below)| !climbs_out(below))
        .or_else(|| below(&cleaned_parts(&parts)))?;
    Some((
        length,
        if below.is_empty() {
            ".".to_owned()
        } else {
            below
        },
    ))
}

fn normal_parts(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter(|part| *part != Component::RootDir)
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect()
}

fn climbs_out(relative: &str) -> bool {
    let mut depth = 0_u32;
    relative.split('/').any(|part| {
        if part == ".." {
            let out = depth == 0;
            depth = depth.saturating_sub(1);
            return out;
        }
        depth += 1;
        false
    })
}

fn visible_parts(path: &str) -> Vec<&str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect()
}

fn cleaned_parts<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let mut cleaned = Vec::new();
    for part in parts {
        if *part == ".." {
            cleaned.pop();
        } else {
            cleaned.push(*part);
        }
    }
    cleaned
}
