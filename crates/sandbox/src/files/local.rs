//! The files of one session on this machine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Deadline, FileChange, FileChunk, FileRef, FileStat, Files, FilesError, Glob, GlobFound, Hash,
    LeadsTo, List, Listed, Put, Range, Search, SearchFound, Written,
};
use rustix::fd::OwnedFd;

use super::cancel::{Gone, blocking};
use super::here::Here as On;
use super::limits::FileLimits;
use super::machine::Machine as _;
use super::place::{Place, removed, replaced};
use super::quota::Used;
use super::root::{Rights, Root};
use super::session::{Inner, answer_files};
use super::turns::Turns;
use super::{commit, copy, find, list, read, search, write};
use crate::protected::Protected;

/// The files of a session, beneath directory handles. Cheap to clone; clones are the same files.
#[derive(Clone)]
pub struct LocalFiles(Arc<Inner<On>>);

impl fmt::Debug for LocalFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalFiles")
            .field(&self.workspace())
            .finish()
    }
}

answer_files!(LocalFiles);

impl LocalFiles {
    /// The files beneath this directory.
    ///
    /// # Errors
    /// [`FilesError`] when the directory cannot be opened or is itself protected;
    /// [`FilesError::Unavailable`] when this system cannot resolve paths safely.
    pub fn open(workspace: &Path, protected: Protected) -> Result<Self, FilesError> {
        Self::of_root(Root::open(workspace, Rights::ReadWrite)?, protected)
    }

    /// The files beneath a directory that is open already, known to callers by this absolute path.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn beneath(
        workspace: OwnedFd,
        path: &Path,
        protected: Protected,
    ) -> Result<Self, FilesError> {
        let root = Root::of_handle(workspace, path, Rights::ReadWrite)?;
        Self::of_root(root, protected)
    }

    fn of_root(workspace: Root<On>, protected: Protected) -> Result<Self, FilesError> {
        let inner = Inner::new(On, workspace, protected, Turns::here());
        inner.refuse_root(&inner.workspace)?;
        Ok(Self(Arc::new(inner)))
    }

    /// Another directory too, laid in for reading: its files are reached by their absolute paths,
    /// and nothing in it is written by a file tool.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn with_read_only(mut self, directory: &Path) -> Result<Self, FilesError> {
        let root = Root::open(directory, Rights::ReadOnly)?;
        self.0.refuse_root(&root)?;
        Arc::make_mut(&mut self.0).read_only.push(Arc::new(root));
        Ok(self)
    }

    /// Other limits; what a quota counts begins anew.
    #[must_use]
    pub fn with_limits(mut self, limits: FileLimits) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        (inner.limits, inner.used) = (limits, Used::default());
        self
    }

    #[cfg(test)]
    pub(super) fn inner(&self) -> &Inner<On> {
        &self.0
    }

    /// Where the workspace really was when it was opened.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        self.0.workspace.path()
    }

    /// Refuses where the workspace is no longer what has its name: by its name commands find it.
    ///
    /// # Errors
    /// [`FilesError::Unavailable`], which says what is there.
    pub(crate) fn must_be_in_place(&self) -> Result<(), FilesError> {
        let root = &*self.0.workspace;
        if On.is_replaced(root) {
            return Err(replaced(root));
        }
        match On.is_gone(root) {
            true => Err(removed(root)),
            false => Ok(()),
        }
    }

    /// What is protected.
    #[must_use]
    pub fn protected(&self) -> &Protected {
        &self.0.protected
    }
}
