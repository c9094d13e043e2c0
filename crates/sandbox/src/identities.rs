//! What is protected and exists, known by what it is on disk and not by a name.

use std::collections::HashSet;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

/// How many entries of protected directories are known by identity; more than any sane `~/.ssh`.
const MAX_IDENTITIES: usize = 4096;

/// How deep protected directories are looked into for identities.
pub(crate) const MAX_IDENTITY_DEPTH: u32 = 6;

/// Files and directories by device and inode, and why they are protected.
#[derive(Debug)]
pub(crate) struct Identities {
    known: HashSet<(u64, u64)>,
    why: &'static str,
}

impl Identities {
    /// Nothing is known yet: also where files have no identity that can be seen.
    pub(crate) fn of(why: &'static str) -> Self {
        Self {
            known: HashSet::new(),
            why,
        }
    }

    /// Why a file of this device and inode is protected, if it is.
    pub(crate) fn has(&self, identity: Option<(u64, u64)>) -> Option<&'static str> {
        let known = identity.is_some_and(|identity| self.known.contains(&identity));
        known.then_some(self.why)
    }

    pub(crate) fn add(&mut self, path: &Path) {
        self.add_to(path, MAX_IDENTITY_DEPTH);
    }

    pub(crate) fn remove(&mut self, path: &Path) {
        if let Ok(stat) = rustix::fs::statat(CWD, path, AtFlags::empty()) {
            self.known.remove(&(stat.st_dev, stat.st_ino));
        }
    }

    pub(crate) fn add_to(&mut self, path: &Path, depth: u32) {
        // A secret that is a link to another place is protected there too.
        let Ok(stat) = rustix::fs::statat(CWD, path, AtFlags::empty()) else {
            return;
        };
        let is_directory = FileType::from_raw_mode(stat.st_mode).is_dir();
        self.known.insert((stat.st_dev, stat.st_ino));
        if is_directory
            && let Ok(handle) = rustix::fs::open(
                path,
                OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
            )
        {
            self.add_below(handle, depth);
        }
    }

    fn add_below(&mut self, handle: rustix::fd::OwnedFd, depth: u32) {
        let Ok(mut entries) = rustix::fs::Dir::new(handle) else {
            return;
        };
        let mut names = Vec::new();
        while let Some(Ok(entry)) = entries.next() {
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push(entry.file_name().to_owned());
            }
        }
        let Ok(handle) = entries.fd() else {
            return;
        };
        for name in names {
            if self.known.len() >= MAX_IDENTITIES {
                return;
            }
            let Ok(stat) = rustix::fs::statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            self.known.insert((stat.st_dev, stat.st_ino));
            if FileType::from_raw_mode(stat.st_mode).is_symlink()
                && let Ok(target) = rustix::fs::statat(handle, &name, AtFlags::empty())
                && FileType::from_raw_mode(target.st_mode).is_file()
            {
                self.known.insert((target.st_dev, target.st_ino));
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if depth > 0
                && FileType::from_raw_mode(stat.st_mode).is_dir()
                && let Ok(below) = rustix::fs::openat(handle, &name, flags, Mode::empty())
            {
                self.add_below(below, depth - 1);
            }
        }
    }
}
