//! Where the files of a session live.

mod refusing;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
pub use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::Hash;

pub(crate) use refusing::RefusingFiles;

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

/// What may be there already when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutMode {
    /// A file or nothing.
    Replace,
    /// Nothing.
    Create,
    /// A file or nothing; the bytes go to its end.
    Append,
}

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// The bytes.
    pub bytes: Bytes,
    /// What may be there.
    pub mode: PutMode,
    /// Only if the file now has this content.
    pub if_hash: Option<Hash>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// How many bytes of the caller's.
    pub bytes: u64,
    /// The hash of the whole file now.
    pub hash: Hash,
    /// Whether the file is new.
    pub created: bool,
}

/// One of several changes that are made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path of the file.
    pub path: String,
    /// How far it may reach.
    pub reach: Reach,
    /// What becomes of the file.
    pub to: Becomes,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Becomes {
    /// A new file; nothing may be there.
    Created {
        /// Its content.
        bytes: Bytes,
        /// Its permission bits.
        mode: NewMode,
    },
    /// A file with other content.
    Replaced {
        /// The content.
        bytes: Bytes,
        /// What it has to have now.
        if_hash: Hash,
    },
    /// Nothing.
    Removed {
        /// What it has to have now.
        if_hash: Hash,
    },
}

/// The permission bits of a new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewMode {
    /// Those of any new file.
    Plain,
    /// Those of a program.
    Executable,
    /// Those of the file at this path, which is among the same changes.
    Of(String),
}

/// How to list a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// How many levels down; 1 is the directory itself.
    pub depth: u32,
    /// At most this many entries.
    pub max_items: usize,
    /// Also names that begin with a dot.
    pub hidden: bool,
    /// Also what a `.gitignore` leaves out.
    pub ignored: bool,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path, relative to the workspace (absolute outside it).
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes; 0 for directories.
    pub size: u64,
    /// When it was changed, Unix milliseconds.
    pub modified_ms: i64,
}

/// What a walk saw besides what it gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walked {
    /// Whether a limit cut it.
    pub truncated: bool,
    /// What could not be read, and why; bounded.
    pub skipped: Vec<String>,
}

/// A listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// The entries, by path.
    pub entries: Vec<FileEntry>,
    /// What the walk saw besides.
    pub walked: Walked,
}

/// Which files to find by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// The pattern, relative to the directory; `**` crosses directories.
    pub pattern: String,
    /// At most this many.
    pub limit: usize,
}

/// The files found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GlobFound {
    /// The files, the last changed first.
    pub files: Vec<FileEntry>,
    /// How many matched in all.
    pub count: u64,
    /// What the walk saw besides.
    pub walked: Walked,
}

/// What a search gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// The lines.
    #[default]
    Content,
    /// The files that have one.
    Files,
    /// How many each file has.
    Count,
}

/// What to search for in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// A regular expression.
    pub pattern: String,
    /// Only files whose path matches this.
    pub glob: Option<String>,
    /// Only files of this type, by ripgrep's names: `rust`, `py`, …
    pub file_type: Option<String>,
    /// What to give.
    pub mode: SearchMode,
    /// Whether case does not matter.
    pub case_insensitive: bool,
    /// Whether a match may cross lines.
    pub multiline: bool,
    /// Lines of context before a match.
    pub before: u32,
    /// Lines of context after a match.
    pub after: u32,
    /// At most this many.
    pub limit: usize,
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The file.
    pub path: String,
    /// The line, from 1; 0 where the mode gives no lines.
    pub line: u64,
    /// The column in characters, from 1; 0 where the mode gives no lines.
    pub column: u64,
    /// The matching line or lines without their end.
    pub text: String,
    /// The lines before.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
    /// How many matches the file has, in the modes that count.
    pub count: u64,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchFound {
    /// The matches, by path and line.
    pub hits: Vec<SearchHit>,
    /// How many there are of what the mode gives, as far as was searched.
    pub count: u64,
    /// What the walk saw besides.
    pub walked: Walked,
}

/// Why a file was not read or written. Every message names the path as the caller wrote it.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// No such file.
    #[error("find {path}")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The path leads out of what may be reached.
    #[error("open {path}: it leads outside the workspace")]
    Outside {
        /// The path.
        path: String,
    },
    /// Never readable or writable here: a credential, a repository's metadata.
    #[error("open {path}: {why}")]
    Protected {
        /// The path.
        path: String,
        /// The rule.
        why: &'static str,
    },
    /// The last part of a path to write is a symbolic link.
    #[error("write {path}: it is a symbolic link to {target}")]
    Symlink {
        /// The path.
        path: String,
        /// Where it leads.
        target: String,
    },
    /// It is something else than the call needs.
    #[error("use {path}: it is {is}, not {wanted}")]
    WrongKind {
        /// The path.
        path: String,
        /// What it is.
        is: &'static str,
        /// What was needed.
        wanted: &'static str,
    },
    /// Something is there already.
    #[error("create {path}: it exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// The content is not what the caller thought.
    #[error("write {path}: it has changed since it was read")]
    Changed {
        /// The path.
        path: String,
        /// What it has now.
        hash: Hash,
    },
    /// The path, pattern or expression cannot be one.
    #[error("understand {what}: {why}")]
    Invalid {
        /// What was given.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Over a bound.
    #[error("use {path}: it has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The bound.
        limit: u64,
    },
    /// All files together would be over a quota. Nothing was written.
    #[error(
        "write {path}: {more} bytes more make {} of the quota of {limit}",
        used.saturating_add(*more)
    )]
    OverQuota {
        /// The path.
        path: String,
        /// How many bytes were to be added.
        more: u64,
        /// How many count already.
        used: u64,
        /// The quota, in bytes.
        limit: u64,
    },
    /// The system does not let this user.
    #[error("open {path}: permission denied")]
    Denied {
        /// The path.
        path: String,
    },
    /// The backend does not do this, or there is none.
    #[error("use files: {why}")]
    Unavailable {
        /// Why.
        why: String,
    },
    /// The system failed.
    #[error("use {path}")]
    Io {
        /// The path.
        path: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
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
    /// files and not their spellings: nothing is opened, and nothing is refused.
    fn leads_to(&self, _path: &str) -> LeadsTo {
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
