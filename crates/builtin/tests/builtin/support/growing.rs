//! A file that grows whenever somebody reads of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    CommandSpec, Exit, FileChange, FileChunk, FileKind, FileRef, FileStat, Files, FilesError, Glob,
    GlobFound, Hash, JobId, JobInfo, Killed, List, Listed, Offset, OutputChunk, Put, Range,
    RefusingSandbox, Sandbox, SandboxError, SandboxInfo, Search, SearchFound, Written,
};

const LINE: &[u8] = b"a line of a log\n";

/// A sandbox whose only file is longer each time it is looked at.
pub(crate) struct Growing {
    refusing: RefusingSandbox,
    size: AtomicU64,
    grows_by: u64,
    read: AtomicU64,
    largest: AtomicU64,
}

impl Growing {
    pub(crate) fn new(size: u64, grows_by: u64) -> Self {
        Self {
            refusing: RefusingSandbox::new(),
            size: AtomicU64::new(size),
            grows_by,
            read: AtomicU64::new(0),
            largest: AtomicU64::new(0),
        }
    }

    /// How much was read since somebody last asked.
    pub(crate) fn read(&self) -> u64 {
        self.read.swap(0, Ordering::Relaxed)
    }

    /// The most that was read at once.
    pub(crate) fn largest(&self) -> u64 {
        self.largest.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Files for Growing {
    async fn read(&self, _: FileRef<'_>, range: Range) -> Result<FileChunk, FilesError> {
        let size = self.size.fetch_add(self.grows_by, Ordering::Relaxed);
        let length = range.max.min(size.saturating_sub(range.from));
        self.read.fetch_add(length, Ordering::Relaxed);
        self.largest.fetch_max(length, Ordering::Relaxed);
        let skip = usize::try_from(range.from).unwrap() % LINE.len();
        let length = usize::try_from(length).unwrap();
        let bytes: Vec<u8> = LINE
            .iter()
            .copied()
            .cycle()
            .skip(skip)
            .take(length)
            .collect();
        Ok(FileChunk {
            bytes: Bytes::from(bytes),
            size,
        })
    }
    async fn stat(&self, _: FileRef<'_>) -> Result<FileStat, FilesError> {
        Ok(FileStat {
            kind: FileKind::File,
            size: self.size.load(Ordering::Relaxed),
            modified_ms: 0,
            mode: 0o644,
        })
    }
    async fn put(&self, file: FileRef<'_>, put: Put) -> Result<Written, FilesError> {
        self.refusing.files().put(file, put).await
    }
    async fn commit(&self, changes: Vec<FileChange>) -> Result<(), FilesError> {
        self.refusing.files().commit(changes).await
    }
    async fn hash(&self, file: FileRef<'_>) -> Result<Hash, FilesError> {
        self.refusing.files().hash(file).await
    }
    async fn list(&self, dir: FileRef<'_>, list: List) -> Result<Listed, FilesError> {
        self.refusing.files().list(dir, list).await
    }
    async fn glob(&self, dir: FileRef<'_>, glob: Glob) -> Result<GlobFound, FilesError> {
        self.refusing.files().glob(dir, glob).await
    }
    async fn search(&self, at: FileRef<'_>, search: Search) -> Result<SearchFound, FilesError> {
        self.refusing.files().search(at, search).await
    }
    async fn import(&self, from: PathBuf, to: FileRef<'_>) -> Result<(), FilesError> {
        self.refusing.files().import(from, to).await
    }
    async fn export(&self, from: FileRef<'_>, to: PathBuf) -> Result<(), FilesError> {
        self.refusing.files().export(from, to).await
    }
}

#[async_trait]
impl Sandbox for Growing {
    fn info(&self) -> &SandboxInfo {
        self.refusing.info()
    }
    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.refusing.spawn(command).await
    }
    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        self.refusing.output(job, from, max, wait).await
    }
    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.refusing.tail(job, max).await
    }
    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        self.refusing.wait(job).await
    }
    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.refusing.kill(job, grace).await
    }
    fn jobs(&self) -> Vec<JobInfo> {
        self.refusing.jobs()
    }
    fn files(&self) -> &dyn Files {
        self
    }
}
