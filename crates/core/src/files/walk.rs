//! What is asked of directories, and what they give.

use serde::{Deserialize, Serialize};

use super::FileKind;

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
