//! A directory for a while.

use std::path::{Path, PathBuf};

use super::remove::remove_tree;

/// A directory that is removed with all in it when this is dropped. What cannot be removed stays.
#[derive(Debug)]
pub struct Passing(PathBuf);

impl Passing {
    /// Takes over a directory that is there.
    #[must_use]
    pub fn of(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // Who has to know uses `remove_tree` itself.
        let _ = remove_tree(&self.0);
    }
}
