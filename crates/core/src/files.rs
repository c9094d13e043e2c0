//! Where the files of a session live.

mod change;
mod error;
mod refusing;
mod search;
mod walk;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
pub use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Deadline, Hash};

pub use change::{Becomes, FileChange, NewMode, Put, PutMode, Written};
pub use error::FilesError;
pub(crate) use refusing::RefusingFiles;
pub use search::{Search, SearchFound, SearchHit, SearchMode};
pub use walk::{FileEntry, Glob, GlobFound, List, Listed, Walked};

/// How far a path may reach. The caller decides it from the principal's role on every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Beneath the workspace (and what is laid into the session), by directory handle.
    Workspace,
    /// The whole machine: an administrator, where the operator has opened it.
    Host,
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
}

/// A path as a caller wrote it: relative to the workspace, or absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// The path.
    pub path: &'a str,
    /// How far it may reach.
    pub reach: Reach,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, pipe or socket: listed, never opened.
    Special,
}

/// Facts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was changed, Unix milliseconds.
    pub modified_ms: i64,
    /// Its permission bits.
    pub mode: u32,
}

/// Which bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: u64,
    /// At most this many.
    pub max: u64,
}

/// Some bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChunk {
    /// The bytes.
    pub bytes: Bytes,
    /// The size of the file when they were read.
    pub size: u64,
}

/// What a path leads to, through links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeadsTo {
    /// This absolute path, which has no links.
    Path(String),
    /// What it says, and nothing else.
    Itself,
    /// It cannot be told: it may be any file.
    Unknown,
}

/// The files of one session. Every path is resolved by directory handle at the moment of use.
#[async_trait]
pub trait Files: Send + Sync {
    /// Facts of what a path names; the last link is not followed.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn stat(&self, file: FileRef<'_>) -> Result<FileStat, FilesError>;

    /// Some bytes of a regular file.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn read(&self, file: FileRef<'_>, range: Range) -> Result<FileChunk, FilesError>;

    /// Writes a file: all of it or nothing, keeping its mode; parents are made.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn put(&self, file: FileRef<'_>, put: Put) -> Result<Written, FilesError>;

    /// Makes several changes: all of them or, as far as the system lets it, none. Every path is
    /// judged before anything is written; what was made is unmade when a later change fails. Each
    /// path stands in one change.
    ///
    /// # Errors
    /// [`FilesError`] of the change that failed.
    async fn commit(&self, changes: Vec<FileChange>) -> Result<(), FilesError>;

    /// The hash of a whole file.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn hash(&self, file: FileRef<'_>) -> Result<Hash, FilesError>;

    /// Lists a directory.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn list(&self, dir: FileRef<'_>, list: List) -> Result<Listed, FilesError>;

    /// Finds files by name beneath a directory.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn glob(&self, dir: FileRef<'_>, glob: Glob) -> Result<GlobFound, FilesError>;

    /// Searches a file, or the files beneath a directory.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn search(&self, at: FileRef<'_>, search: Search) -> Result<SearchFound, FilesError>;

    /// Copies a file or tree of ours into the session's files.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn import(&self, from: PathBuf, to: FileRef<'_>) -> Result<(), FilesError>;

    /// Copies a file or tree of the session's out to us.
    ///
    /// # Errors
    /// [`FilesError`].
    async fn export(&self, from: FileRef<'_>, to: PathBuf) -> Result<(), FilesError>;

    /// What this path leads to now, also where its last parts are not there. For rules, which mean
    /// files and not their spellings: nothing is opened, and nothing is refused. It is unknown where it
    /// cannot be told by then: a call waits for it and cannot be stopped meanwhile.
    fn leads_to(&self, _path: &str, _by: Deadline) -> LeadsTo {
        LeadsTo::Unknown
    }

    /// Whether both paths name one file on disk, as hard links do. For rules, as above; said only
    /// where it is known what paths lead to.
    fn is_same(&self, _one: &str, _other: &str) -> bool {
        false
    }

    /// Whether what this path leads to now, or would if it were there, lies where the file tools of
    /// the session read, and is not protected. For judging commands that nothing confines, as above:
    /// no where it cannot be told.
    fn is_readable(&self, _path: &str) -> bool {
        false
    }

    /// The directory that `~` means, where it means one.
    fn home(&self) -> Option<&Path> {
        None
    }
}
