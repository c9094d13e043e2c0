//! The configuration in effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outfitter_core::SessionId;

use super::problem::ConfigError;
use super::sections::Config;
use super::source::Source;

/// The configuration in effect, and where each value of it comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values. Paths are absolute; `store.url` and `store.data_dir` are filled in where the
    /// person has a home.
    pub config: Config,
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The session that the environment names.
    pub session: Option<SessionId>,
    pub(super) sources: BTreeMap<String, Source>,
}

impl Loaded {
    /// Where the value of a key comes from.
    #[must_use]
    pub fn source(&self, key: &str) -> &Source {
        self.sources.get(key).unwrap_or(&Source::Default)
    }

    /// Where the value that a path of names leads into comes from: of the key itself, or of the
    /// longest part of it that has a place of its own.
    #[must_use]
    pub fn nearest_source(&self, path: &str) -> &Source {
        let mut path = path;
        loop {
            match (self.sources.get(path), path.rsplit_once('.')) {
                (Some(source), _) => return source,
                (None, Some((above, _))) => path = above,
                (None, None) => return &Source::Default,
            }
        }
    }

    /// The directory for everything that is kept.
    ///
    /// # Errors
    /// [`ConfigError::NoDataDir`] when nothing says where it is.
    pub fn data_dir(&self) -> Result<&Path, ConfigError> {
        self.config
            .store
            .data_dir
            .as_deref()
            .ok_or(ConfigError::NoDataDir)
    }

    /// Where the log is.
    ///
    /// # Errors
    /// [`ConfigError::NoDataDir`] when nothing says where it is.
    pub fn store(&self) -> Result<StoreUrl<'_>, ConfigError> {
        let url = self.config.store.url.as_deref();
        let url = url.ok_or(ConfigError::NoDataDir)?;
        Ok(match url.strip_prefix("sqlite:") {
            Some(path) => StoreUrl::Sqlite(Path::new(path)),
            None => StoreUrl::Memory,
        })
    }

    /// The provider of the model.
    ///
    /// # Errors
    /// [`ConfigError::NoModel`] when nothing says which.
    pub fn provider(&self) -> Result<&str, ConfigError> {
        let provider = self.config.model.provider.as_deref();
        provider.ok_or(ConfigError::NoModel)
    }
}

/// Where the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreUrl<'a> {
    /// In a file of SQLite.
    Sqlite(&'a Path),
    /// In memory, until the program ends.
    Memory,
}
