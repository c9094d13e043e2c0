//! What SQLite says, in our words.

use std::io;
use std::path::{Path, PathBuf};

use outfitter_core::StoreError;

use super::SCHEMA_VERSION;

/// Why the file of a log is not used. It is left as it was.
#[derive(Debug, thiserror::Error)]
pub enum LogOpenError {
    /// The directory is not there and cannot be made.
    #[error("make the directory {}", path.display())]
    Directory {
        /// Which one.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is not there and cannot be made.
    #[error("make the file {}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Not a SQLite database at all.
    #[error("open the store {}: it is not a database", path.display())]
    NotADatabase {
        /// Which file.
        path: PathBuf,
    },
    /// A database that something else made.
    #[error("open the store {}: it is the database of another program", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// A database of a later version of this program.
    #[error(
        "open the store {}: it has version {found}, this program knows versions up to {SCHEMA_VERSION}",
        path.display()
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// The version it has.
        found: i64,
    },
    /// SQLite says no.
    #[error("open the store {}", path.display())]
    Sqlite {
        /// Which file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: sqlx::Error,
    },
}

impl LogOpenError {
    /// What a person can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Directory { .. } | Self::File { .. } => {
                "set [store] url or data_dir to a place that you may write to"
            }
            Self::NotADatabase { .. } | Self::Foreign { .. } => {
                "set [store] url to another file; this one is left as it is"
            }
            Self::Newer { .. } => "use the newer program, or set [store] url to another file",
            Self::Sqlite { .. } => "see whether the file is whole and whether you may write to it",
        }
    }

    pub(super) fn sqlite(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        match code(&source) {
            Some(NOT_A_DATABASE) => Self::NotADatabase { path },
            _ => Self::Sqlite { path, source },
        }
    }

    /// The one behind an error of a log, for its hint.
    #[must_use]
    pub fn of(error: &StoreError) -> Option<&Self> {
        match error {
            StoreError::Backend {
                source: Some(source),
                ..
            } => source.downcast_ref(),
            StoreError::Backend { source: None, .. }
            | StoreError::NotFound(_)
            | StoreError::Corrupt { .. } => None,
        }
    }

    pub(super) fn into_store(self) -> StoreError {
        StoreError::Backend {
            message: "its file cannot be used".to_owned(),
            source: Some(Box::new(self)),
        }
    }
}

/// `SQLITE_BUSY`: somebody else holds the lock, and it took too long.
const BUSY: i32 = 5;
/// `SQLITE_LOCKED`: the same inside one process.
const LOCKED: i32 = 6;
/// `SQLITE_CORRUPT`: the file is damaged.
const CORRUPT: i32 = 11;
/// `SQLITE_FULL`: no space is left.
const FULL: i32 = 13;
/// `SQLITE_NOTADB`: the file is something else.
const NOT_A_DATABASE: i32 = 26;

/// The primary result code (<https://www.sqlite.org/rescode.html>): the low byte of what SQLite
/// says.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Whether it may go better in a moment.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(BUSY | LOCKED))
}

/// A failed statement.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    let message = match code(&error) {
        Some(BUSY | LOCKED) => "another process kept it locked for too long",
        Some(CORRUPT | NOT_A_DATABASE) => "the file is damaged",
        Some(FULL) => "no space is left on its disk",
        _ => "a statement failed",
    };
    StoreError::Backend {
        message: message.to_owned(),
        source: Some(Box::new(error)),
    }
}
