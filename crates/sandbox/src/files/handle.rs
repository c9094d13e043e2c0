//! A pinned file: found, not yet opened.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use outfitter_core::{FileKind, FileStat, FilesError};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error::failed;

/// A handle that names a file without opening it (`O_PATH`), and the facts it had when pinned.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) fd: OwnedFd,
    pub(super) stat: Stat,
}

impl Pinned {
    pub(super) fn new(fd: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&fd)?;
        Ok(Self { fd, stat })
    }

    pub(super) fn kind(&self) -> FileKind {
        kind_of(&self.stat)
    }

    /// Where it really is now.
    pub(super) fn real_path(&self) -> Result<PathBuf, Errno> {
        real_path(&self.fd)
    }

    /// The name under which the kernel shows it.
    pub(super) fn link(&self) -> String {
        link_of(&self.fd)
    }

    /// Opens the very file that is pinned. Only for regular files: opening a pipe or a device has
    /// effects.
    pub(super) fn open(&self, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        rustix::fs::open(link_of(&self.fd), flags, Mode::empty()).map(File::from)
    }

    pub(super) fn must_be_file(&self, shown: &str) -> Result<(), FilesError> {
        match self.kind() {
            FileKind::File => Ok(()),
            other => Err(FilesError::WrongKind {
                path: shown.to_owned(),
                is: word_of(&self.stat, other),
                wanted: "a file",
            }),
        }
    }

    pub(super) fn must_be_directory(&self, shown: &str) -> Result<(), FilesError> {
        match self.kind() {
            FileKind::Directory => Ok(()),
            other => Err(FilesError::WrongKind {
                path: shown.to_owned(),
                is: word_of(&self.stat, other),
                wanted: "a directory",
            }),
        }
    }

    pub(super) fn same_file(&self, other: &Stat) -> bool {
        (self.stat.st_dev, self.stat.st_ino) == (other.st_dev, other.st_ino)
    }
}

/// The name under which the kernel shows an open handle.
fn link_of(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Where an open handle really is now.
pub(super) fn real_path(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let path = rustix::fs::readlink(link_of(fd), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        path.into_bytes(),
    )))
}

/// Where a link leads, for people.
pub(super) fn target_of(link: &OwnedFd, shown: &str) -> Result<String, FilesError> {
    let target = rustix::fs::readlinkat(link.as_fd(), "", Vec::new())
        .map_err(|errno| failed(shown, errno))?;
    Ok(target.to_string_lossy().into_owned())
}

pub(super) fn kind_of(stat: &Stat) -> FileKind {
    kind_of_type(FileType::from_raw_mode(stat.st_mode))
}

pub(super) fn kind_of_type(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Special,
    }
}

pub(super) fn word_of(stat: &Stat, kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a file",
        FileKind::Directory => "a directory",
        FileKind::Symlink => "a symbolic link",
        FileKind::Special => match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => "a pipe",
            FileType::Socket => "a socket",
            _ => "a device",
        },
    }
}

pub(super) fn facts_of(stat: &Stat) -> FileStat {
    FileStat {
        kind: kind_of(stat),
        size: size_of(stat),
        modified_ms: modified_ms(stat),
        mode: stat.st_mode & 0o7777,
    }
}

pub(super) fn size_of(stat: &Stat) -> u64 {
    match kind_of(stat) {
        FileKind::Directory => 0,
        FileKind::File | FileKind::Symlink | FileKind::Special => {
            u64::try_from(stat.st_size).unwrap_or(0)
        }
    }
}

/// Seconds and nanoseconds of the last change of content.
pub(super) fn modified(stat: &Stat) -> (i64, i64) {
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    (stat.st_mtime, nanoseconds)
}

pub(super) fn modified_ms(stat: &Stat) -> i64 {
    let (seconds, nanoseconds) = modified(stat);
    seconds
        .saturating_mul(1000)
        .saturating_add(nanoseconds / 1_000_000)
}
