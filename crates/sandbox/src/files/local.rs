//! The files of one session on this machine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use outfitter_core::{
    FileChange, FileChunk, FileRef, FileStat, Files, FilesError, Glob, GlobFound, Hash, LeadsTo,
    List, Listed, Put, Range, Reach, Search, SearchFound, Written,
};
use rustix::fd::OwnedFd;

use super::cancel::{Gone, blocking};
use super::error::protected;
use super::limits::FileLimits;
use super::place::Place;
use super::quota::{Room, Used, Writing};
use super::root::{Rights, Root};
use super::{alias, commit, copy, find, list, read, search, write};
use crate::protected::Protected;

/// The files of a session, beneath directory handles. Cheap to clone; clones are the same files.
#[derive(Debug, Clone)]
pub struct LocalFiles(Arc<Inner>);

#[derive(Debug, Clone)]
pub(super) struct Inner {
    pub(super) workspace: Arc<Root>,
    pub(super) read_only: Vec<Arc<Root>>,
    pub(super) protected: Protected,
    pub(super) limits: FileLimits,
    machine: OnceLock<Arc<Root>>,
    used: Used,
}

impl Inner {
    /// The root that an absolute path lies in by its text, the nearest one, and its path there.
    pub(super) fn root_of(&self, absolute: &str) -> Option<(&Root, String)> {
        std::iter::once(&self.workspace)
            .chain(&self.read_only)
            .filter_map(|root| {
                let (length, relative) = root.relative(absolute)?;
                Some((length, &**root, relative))
            })
            .max_by_key(|(length, _, _)| *length)
            .map(|(_, root, relative)| (root, relative))
    }

    /// Room for what is to be written: none yet.
    pub(super) fn room(&self) -> Room<'_> {
        Room::of(self.limits.quota, &self.used, &*self.workspace)
    }

    /// The whole machine. Opened when somebody who may reach it first does.
    pub(super) fn machine(&self) -> Result<&Root, FilesError> {
        if let Some(root) = self.machine.get() {
            return Ok(root);
        }
        let root = Arc::new(Root::open(Path::new("/"), Rights::ReadWrite)?);
        Ok(self.machine.get_or_init(|| root))
    }
}

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

    fn of_root(workspace: Root, list: Protected) -> Result<Self, FilesError> {
        if let Some(why) = list.covers(workspace.path()) {
            return Err(protected(&workspace.path().display().to_string(), why));
        }
        Ok(Self(Arc::new(Inner {
            workspace: Arc::new(workspace),
            read_only: Vec::new(),
            protected: list,
            limits: FileLimits::default(),
            machine: OnceLock::new(),
            used: Used::default(),
        })))
    }

    /// Another directory too, laid in for reading: its files are reached by their absolute paths,
    /// and nothing in it is written by a file tool.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn with_read_only(mut self, directory: &Path) -> Result<Self, FilesError> {
        let root = Root::open(directory, Rights::ReadOnly)?;
        if let Some(why) = self.0.protected.covers(root.path()) {
            return Err(protected(&root.path().display().to_string(), why));
        }
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
    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    /// Where the workspace really was when it was opened.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        self.0.workspace.path()
    }

    /// A command that may write into the workspace begins. It ends when what this gives is dropped.
    pub(crate) fn command_begins(&self) -> Writing {
        self.0.used.command_begins()
    }

    /// What is protected.
    #[must_use]
    pub fn protected(&self) -> &Protected {
        &self.0.protected
    }

    async fn at<T, F>(&self, file: FileRef<'_>, work: F) -> Result<T, FilesError>
    where
        T: Send + 'static,
        F: FnOnce(&Place<'_>, &Gone) -> Result<T, FilesError> + Send + 'static,
    {
        let files = Arc::clone(&self.0);
        let (path, reach) = (file.path.to_owned(), file.reach);
        blocking(move |gone| {
            let place = Place::of(&files, FileRef { path: &path, reach })?;
            work(&place, gone)
        })
        .await
    }
}

#[async_trait]
impl Files for LocalFiles {
    async fn stat(&self, file: FileRef<'_>) -> Result<FileStat, FilesError> {
        self.at(file, |place, _| read::stat(place)).await
    }

    async fn read(&self, file: FileRef<'_>, range: Range) -> Result<FileChunk, FilesError> {
        self.at(file, move |place, _| read::read(place, range))
            .await
    }

    async fn put(&self, file: FileRef<'_>, put: Put) -> Result<Written, FilesError> {
        self.at(file, move |place, gone| write::put(place, &put, gone))
            .await
    }

    async fn commit(&self, changes: Vec<FileChange>) -> Result<(), FilesError> {
        let files = Arc::clone(&self.0);
        blocking(move |gone| commit::commit(&files, &changes, gone)).await
    }

    async fn hash(&self, file: FileRef<'_>) -> Result<Hash, FilesError> {
        self.at(file, read::hash).await
    }

    async fn list(&self, dir: FileRef<'_>, list: List) -> Result<Listed, FilesError> {
        self.at(dir, move |place, gone| list::list(place, &list, gone))
            .await
    }

    async fn glob(&self, dir: FileRef<'_>, glob: Glob) -> Result<GlobFound, FilesError> {
        let files = Arc::clone(&self.0);
        let (path, reach): (String, Reach) = (dir.path.to_owned(), dir.reach);
        blocking(move |gone| find::glob(&files, &path, reach, &glob, gone)).await
    }

    async fn search(&self, at: FileRef<'_>, search: Search) -> Result<SearchFound, FilesError> {
        self.at(at, move |place, gone| search::search(place, &search, gone))
            .await
    }

    async fn import(&self, from: PathBuf, to: FileRef<'_>) -> Result<(), FilesError> {
        self.at(to, move |place, gone| copy::import(&from, place, gone))
            .await
    }

    async fn export(&self, from: FileRef<'_>, to: PathBuf) -> Result<(), FilesError> {
        self.at(from, move |place, gone| copy::export(place, &to, gone))
            .await
    }

    fn leads_to(&self, path: &str) -> LeadsTo {
        alias::leads_to(&self.0, path)
    }

    fn is_same(&self, one: &str, other: &str) -> bool {
        alias::is_same(&self.0, one, other)
    }

    fn home(&self) -> Option<&Path> {
        self.0.protected.home()
    }
}
