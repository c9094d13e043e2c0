//! The files of one session, on whichever machine.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use outfitter_core::FilesError;

use super::error::protected;
use super::limits::FileLimits;
use super::machine::Machine;
use super::quota::{Measured, Room, Used};
use super::root::Root;
use super::temporary::Swept;
use super::turns::Turns;
use crate::protected::Protected;

/// What they are made of.
#[derive(Clone)]
pub(crate) struct Inner<M: Machine> {
    pub(super) machine: M,
    pub(super) workspace: Arc<Root<M>>,
    /// Directories that are laid in for reading only.
    pub(super) read_only: Vec<Arc<Root<M>>>,
    pub(super) protected: Protected,
    pub(super) limits: FileLimits,
    pub(super) turns: Arc<Turns>,
    pub(super) used: Used,
    pub(super) swept: Swept,
    whole: OnceLock<Arc<Root<M>>>,
}

impl<M: Machine> Inner<M> {
    pub(super) fn new(
        machine: M,
        workspace: Root<M>,
        protected: Protected,
        turns: Arc<Turns>,
    ) -> Self {
        Self {
            machine,
            workspace: Arc::new(workspace),
            read_only: Vec::new(),
            protected,
            limits: FileLimits::default(),
            turns,
            used: Used::default(),
            swept: Swept::default(),
            whole: OnceLock::new(),
        }
    }

    /// Refuses a directory that nobody may have files in.
    pub(super) fn refuse_root(&self, root: &Root<M>) -> Result<(), FilesError> {
        match self.protected.covers(root.path()) {
            Some(why) => Err(protected(&root.path().display().to_string(), why)),
            None => Ok(()),
        }
    }

    /// The root that an absolute path lies in by its text, the nearest one, and its path there.
    pub(super) fn root_of(&self, absolute: &str) -> Option<(&Root<M>, String)> {
        std::iter::once(&self.workspace)
            .chain(&self.read_only)
            .filter_map(|root| {
                let (length, relative) = root.relative(absolute)?;
                Some((length, &**root, relative))
            })
            .max_by_key(|(length, _, _)| *length)
            .map(|(_, root, relative)| (root, relative))
    }

    /// The workspace, and what was laid in for reading.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.workspace)
            .chain(&self.read_only)
            .map(|root| root.path())
    }

    /// Room for what is to be written: none yet.
    pub(super) fn room(&self) -> Room<'_> {
        Room::of(self.limits.quota, &self.used, self)
    }

    /// The whole machine. Opened when somebody who may reach it first does.
    pub(super) fn whole(&self) -> Result<&Root<M>, FilesError> {
        if let Some(root) = self.whole.get() {
            return Ok(root);
        }
        let root = Arc::new(self.machine.whole()?);
        Ok(self.whole.get_or_init(|| root))
    }

    /// Where a root really is now.
    pub(super) fn now_at(&self, root: &Root<M>) -> std::path::PathBuf {
        let now = self.machine.real_path(&root.handle);
        now.unwrap_or_else(|_| root.path().to_owned())
    }

    /// What a real path is shown as: relative to the workspace, absolute outside.
    pub(super) fn shown<'p>(&self, real: &'p Path) -> Option<&'p str> {
        let workspace = self.now_at(&self.workspace);
        real.strip_prefix(workspace).unwrap_or(real).to_str()
    }
}

impl<M: Machine> Measured for Inner<M> {
    fn bytes(&self) -> u64 {
        self.machine.bytes_beneath(&self.workspace.handle)
    }
}

/// Answers what is asked of files with what stands in this folder, for a type that holds an
/// [`Inner`]. Each question is one piece of work on a thread that may block.
macro_rules! answer_files {
    ($name:ident) => {
        impl $name {
            /// A command that may write into the workspace begins. It ends when what this gives is
            /// dropped.
            pub(crate) fn command_begins(&self) -> $crate::files::quota::Writing {
                self.0.used.command_begins()
            }

            async fn at<T, F>(&self, file: FileRef<'_>, work: F) -> Result<T, FilesError>
            where
                T: Send + 'static,
                F: FnOnce(&Place<'_, On>, &Gone) -> Result<T, FilesError> + Send + 'static,
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
        impl Files for $name {
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
                let (path, reach) = (dir.path.to_owned(), dir.reach);
                blocking(move |gone| {
                    find::glob(&files, FileRef { path: &path, reach }, &glob, gone)
                })
                .await
            }

            async fn search(
                &self,
                at: FileRef<'_>,
                search: Search,
            ) -> Result<SearchFound, FilesError> {
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

            fn leads_to(&self, path: &str, by: Deadline) -> LeadsTo {
                On::leads_to(&self.0, path, by)
            }

            fn is_same(&self, one: &str, other: &str) -> bool {
                On::is_same(&self.0, one, other)
            }

            fn is_readable(&self, path: &str) -> bool {
                On::is_readable(&self.0, path)
            }

            fn home(&self) -> Option<&Path> {
                self.0.protected.home()
            }
        }
    };
}
pub(super) use answer_files;
