//! What is written, and what became of it.

use bytes::Bytes;

use super::Reach;
use crate::Hash;

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
