//! The files of one session on another machine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_core::{
    FileChange, FileChunk, FileRef, FileStat, Files, FilesError, Glob, GlobFound, Hash, List,
    Listed, Put, Range, Search, SearchFound, Written,
};

use super::place::Place;
use super::{commit, copy, find, read, scan, search, write};
use crate::files::cancel::{Gone, blocking};
use crate::files::limits::FileLimits;
use crate::files::quota::{Measured, Room, Used, Writing};
use crate::protected::Protected;
use crate::ssh::sftp::Sftp;

/// The files of a session there. Clones are the same files.
#[derive(Clone)]
pub(crate) struct RemoteFiles(Arc<Inner>);

impl From<Inner> for RemoteFiles {
    fn from(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }
}

/// What they are made of.
pub(crate) struct Inner {
    pub(super) sftp: Sftp,
    /// The workspace there, as it really is and as it was given.
    pub(super) names: Vec<PathBuf>,
    /// Directories that are laid in for reading only.
    pub(super) laid: Vec<PathBuf>,
    pub(super) protected: Protected,
    pub(super) limits: FileLimits,
    pub(super) used: Used,
    /// Writers of this session take turns.
    pub(super) turn: Mutex<()>,
}

impl Inner {
    /// The files beneath a directory there: `real` is where it is, `given` how it is called.
    pub(crate) fn new(sftp: Sftp, real: PathBuf, given: PathBuf, protected: Protected) -> Self {
        let mut names = vec![real];
        if given != names[0] {
            names.push(given);
        }
        Self {
            sftp,
            names,
            laid: Vec::new(),
            protected,
            limits: FileLimits::default(),
            used: Used::default(),
            turn: Mutex::default(),
        }
    }

    /// Other directories there too, for reading.
    pub(crate) fn with_read_only(self, laid: Vec<PathBuf>) -> Self {
        Self { laid, ..self }
    }

    /// Other limits.
    pub(crate) fn with_limits(self, limits: FileLimits) -> Self {
        Self { limits, ..self }
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.names[0]
    }

    pub(super) fn room(&self) -> Room<'_> {
        Room::of(self.limits.quota, &self.used, self)
    }
}

impl Measured for Inner {
    fn bytes(&self) -> u64 {
        scan::bytes_beneath(&self.sftp, &self.workspace().to_string_lossy())
    }
}

impl RemoteFiles {
    /// A command that may write into the workspace begins. It ends when what this gives is dropped.
    pub(crate) fn command_begins(&self) -> Writing {
        self.0.used.command_begins()
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
impl Files for RemoteFiles {
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
        self.at(dir, move |place, gone| find::list(place, &list, gone))
            .await
    }

    async fn glob(&self, dir: FileRef<'_>, glob: Glob) -> Result<GlobFound, FilesError> {
        let files = Arc::clone(&self.0);
        let (path, reach) = (dir.path.to_owned(), dir.reach);
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

    // What a path leads to stays unknown, so that rules fail closed: it would have to be asked there,
    // and this is asked without waiting.

    fn home(&self) -> Option<&Path> {
        self.0.protected.home()
    }
}
