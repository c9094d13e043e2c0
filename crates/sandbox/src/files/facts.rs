//! What is known of a file.

use outfitter_core::{FileKind, FileStat, FilesError};
use rustix::fs::{FileType, Stat};

/// Facts of a file at one moment. Two that are equal are of a file that nobody has touched, as far
/// as the machine tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    /// Its type and its permission bits, as Linux has them.
    pub(super) mode: u32,
    /// As the system has it: for a directory it is no size.
    pub(super) bytes: u64,
    pub(super) owner: (u32, u32),
    /// Seconds and nanoseconds of the last change of content.
    pub(super) modified: (i64, i64),
    /// The same of the last change of anything, where it is told.
    pub(super) changed: (i64, i64),
    /// Device and inode, where they are told.
    pub(super) identity: Option<(u64, u64)>,
}

impl Facts {
    pub(super) fn kind(&self) -> FileKind {
        kind_of_type(FileType::from_raw_mode(self.mode))
    }

    /// Its size; 0 for a directory.
    pub(super) fn size(&self) -> u64 {
        match self.kind() {
            FileKind::Directory => 0,
            FileKind::File | FileKind::Symlink | FileKind::Special => self.bytes,
        }
    }

    pub(super) fn modified_ms(&self) -> i64 {
        let (seconds, nanoseconds) = self.modified;
        seconds
            .saturating_mul(1000)
            .saturating_add(nanoseconds / 1_000_000)
    }

    /// What it is, in words.
    pub(super) fn word(&self) -> &'static str {
        match self.kind() {
            FileKind::File => "a file",
            FileKind::Directory => "a directory",
            FileKind::Symlink => "a symbolic link",
            FileKind::Special => match FileType::from_raw_mode(self.mode) {
                FileType::Fifo => "a pipe",
                FileType::Socket => "a socket",
                _ => "a device",
            },
        }
    }

    /// Whether both are of one file. Where files have no identity: of one that nobody has touched.
    pub(super) fn same_file(&self, other: &Self) -> bool {
        match (self.identity, other.identity) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => self == other,
        }
    }

    /// Whether the two are known to be of different files.
    pub(super) fn other_file(&self, other: &Self) -> bool {
        matches!((self.identity, other.identity), (Some(one), Some(other)) if one != other)
    }
}

impl From<&Stat> for Facts {
    fn from(stat: &Stat) -> Self {
        let nanoseconds = |part| i64::try_from(part).unwrap_or(0);
        Self {
            mode: stat.st_mode,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            owner: (stat.st_uid, stat.st_gid),
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
            identity: Some((stat.st_dev, stat.st_ino)),
        }
    }
}

impl From<&Facts> for FileStat {
    fn from(facts: &Facts) -> Self {
        Self {
            kind: facts.kind(),
            size: facts.size(),
            modified_ms: facts.modified_ms(),
            mode: facts.mode & 0o7777,
        }
    }
}

/// Something that was found, and the facts it had when it was.
#[derive(Debug)]
pub(super) struct Pinned<H> {
    pub(super) handle: H,
    pub(super) facts: Facts,
}

impl<H> Pinned<H> {
    pub(super) fn kind(&self) -> FileKind {
        self.facts.kind()
    }

    pub(super) fn must_be_file(&self, shown: &str) -> Result<(), FilesError> {
        self.must_be(FileKind::File, "a file", shown)
    }

    pub(super) fn must_be_directory(&self, shown: &str) -> Result<(), FilesError> {
        self.must_be(FileKind::Directory, "a directory", shown)
    }

    fn must_be(&self, kind: FileKind, wanted: &'static str, shown: &str) -> Result<(), FilesError> {
        if self.kind() == kind {
            return Ok(());
        }
        Err(FilesError::WrongKind {
            path: shown.to_owned(),
            is: self.facts.word(),
            wanted,
        })
    }
}

pub(super) fn kind_of_type(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Special,
    }
}
