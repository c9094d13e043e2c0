//! No files, for calls that need none.

use std::path::PathBuf;

use super::*;
use crate::Deadline;

pub(crate) struct RefusingFiles;

impl RefusingFiles {
    fn refuse<T>() -> Result<T, FilesError> {
        Err(FilesError::Unavailable {
            why: "this call has no sandbox".to_owned(),
        })
    }
}

#[async_trait]
impl Files for RefusingFiles {
    async fn stat(&self, _: FileRef<'_>) -> Result<FileStat, FilesError> {
        Self::refuse()
    }
    async fn read(&self, _: FileRef<'_>, _: Range) -> Result<FileChunk, FilesError> {
        Self::refuse()
    }
    async fn put(&self, _: FileRef<'_>, _: Put) -> Result<Written, FilesError> {
        Self::refuse()
    }
    async fn commit(&self, _: Vec<FileChange>) -> Result<(), FilesError> {
        Self::refuse()
    }
    async fn hash(&self, _: FileRef<'_>) -> Result<Hash, FilesError> {
        Self::refuse()
    }
    async fn list(&self, _: FileRef<'_>, _: List) -> Result<Listed, FilesError> {
        Self::refuse()
    }
    async fn glob(&self, _: FileRef<'_>, _: Glob) -> Result<GlobFound, FilesError> {
        Self::refuse()
    }
    async fn search(&self, _: FileRef<'_>, _: Search) -> Result<SearchFound, FilesError> {
        Self::refuse()
    }
    async fn import(&self, _: PathBuf, _: FileRef<'_>) -> Result<(), FilesError> {
        Self::refuse()
    }
    async fn export(&self, _: FileRef<'_>, _: PathBuf) -> Result<(), FilesError> {
        Self::refuse()
    }
    fn leads_to(&self, _: &str, _: Deadline) -> LeadsTo {
        LeadsTo::Itself
    }
}
