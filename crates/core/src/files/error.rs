//! Why files are not given.

use crate::Hash;

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
