//! Which store, as `[store] url` says it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{ApprovalStore, ArtifactStore, Clock, Log};

use crate::{FileArtifacts, MemoryArtifacts, MemoryLog, SqliteLog};

/// The file in the data directory that is used when nothing is said.
const DEFAULT_FILE: &str = "outfitter.db";

/// The directory in the data directory that holds artifacts.
const ARTIFACTS: &str = "artifacts";

/// Where sessions are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// In memory, until the process ends: `memory:`.
    Memory,
    /// In a SQLite file: `sqlite:PATH`.
    Sqlite(PathBuf),
}

/// Why a text is not the URL of a store. The URL is not repeated: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No kind of store is called so.
    #[error("use the store url: no kind of store is called {scheme:?}")]
    UnknownScheme {
        /// What stands before the colon.
        scheme: String,
    },
    /// There is no colon.
    #[error("use the store url: it does not say which kind of store")]
    NoScheme,
    /// `sqlite:` and nothing behind it.
    #[error("use the store url: sqlite: names no file")]
    NoPath,
    /// A form that other programs know and this one does not.
    #[error("use the store url: {what} is not a file")]
    NotAFile {
        /// What stands there.
        what: &'static str,
    },
}

impl UrlError {
    /// What can be written instead.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownScheme { .. } | Self::NoScheme | Self::NoPath => {
                "write sqlite:PATH or memory:"
            }
            Self::NotAFile { .. } => "write memory:, or sqlite:PATH with a plain path",
        }
    }
}

impl StoreUrl {
    /// The store that is used when nothing is said: a file in the data directory.
    #[must_use]
    pub fn in_data_dir(data_dir: &Path) -> Self {
        Self::Sqlite(data_dir.join(DEFAULT_FILE))
    }

    /// Reads a URL. A path is taken as it is, without escapes; a relative one is relative to the
    /// current directory.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = url.split_once(':').ok_or(UrlError::NoScheme)?;
        match (scheme, rest) {
            ("memory", "") => Ok(Self::Memory),
            ("memory", _) => Err(UrlError::NotAFile {
                what: "memory: with a name",
            }),
            ("sqlite", "") => Err(UrlError::NoPath),
            ("sqlite", ":memory:") => Err(UrlError::NotAFile { what: ":memory:" }),
            // `sqlite:///srv/x.db` is how other programs write an absolute path.
            ("sqlite", rest) => match rest.strip_prefix("//") {
                Some(path) if path.starts_with('/') => Ok(Self::Sqlite(path.into())),
                Some(_) => Err(UrlError::NotAFile {
                    what: "// with a host",
                }),
                None => Ok(Self::Sqlite(rest.into())),
            },
            (scheme, _) => Err(UrlError::UnknownScheme {
                scheme: scheme.to_owned(),
            }),
        }
    }
}

/// A log and the artifacts that go with it.
#[derive(Clone)]
pub struct Store {
    /// Sessions.
    pub log: Arc<dyn Log>,
    /// What they produce.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What people approved for longer than a session.
    pub approvals: Arc<dyn ApprovalStore>,
}

/// The store of a URL, with its artifacts in the data directory; in memory both are. Touches
/// nothing: files are made at the first use.
#[must_use]
pub fn open(url: &StoreUrl, data_dir: &Path, clock: Arc<dyn Clock>) -> Store {
    match url {
        StoreUrl::Memory => {
            let log = Arc::new(MemoryLog::new());
            Store {
                log: log.clone(),
                artifacts: Arc::new(MemoryArtifacts::new(clock)),
                approvals: log,
            }
        }
        StoreUrl::Sqlite(path) => {
            let log = Arc::new(SqliteLog::new(path));
            Store {
                log: log.clone(),
                artifacts: Arc::new(FileArtifacts::new(data_dir.join(ARTIFACTS), clock)),
                approvals: log,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("memory:", StoreUrl::Memory)]
    #[case("sqlite:a b/x%20?.db", StoreUrl::Sqlite("a b/x%20?.db".into()))]
    #[case("sqlite:/srv/x.db", StoreUrl::Sqlite("/srv/x.db".into()))]
    #[case("sqlite:///srv/x.db", StoreUrl::Sqlite("/srv/x.db".into()))]
    #[case("sqlite:C:x", StoreUrl::Sqlite("C:x".into()))]
    fn a_url_says_where(#[case] url: &str, #[case] place: StoreUrl) {
        assert_eq!(StoreUrl::parse(url), Ok(place));
    }

    #[rstest]
    #[case("postgres://me:hunter2@db/x")]
    #[case("json:x.json")]
    #[case("outfitter.db")]
    #[case("")]
    #[case("sqlite:")]
    #[case("sqlite::memory:")]
    #[case("sqlite://x.db")]
    #[case("memory:x")]
    #[case("SQLITE:x")]
    fn what_is_no_store_is_refused_with_what_is_and_without_its_secrets(#[case] url: &str) {
        let error = StoreUrl::parse(url).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(error.hint().contains("memory:"), "{}", error.hint());
        assert!(error.hint().contains("sqlite:PATH"), "{}", error.hint());
    }
}
