//! A home with a workspace in it, and something outside that nobody may reach.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{
    Bytes, Deadline, FileChange, FileChunk, FileRef, FileStat, Files, FilesError, Glob, GlobFound,
    Hash, LeadsTo, List, Listed, Put, PutMode, Range, Reach, Sandbox, Search, SearchFound, Written,
};
use outfitter_sandbox::{FileLimits, LocalFiles, ProcessSandbox, Protected};
use tempfile::TempDir;

use crate::ssh::server::Server;

pub(crate) const SECRET: &str = "the secret of secrets";

/// Whose files they are: every promise that can be kept for both is tested with both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// This machine's, by directory handle.
    Ours,
    /// Another machine's, by SFTP: this one behind an `sshd` of the test's own.
    Theirs,
}

/// A world, with files of this machine unless it says otherwise.
pub(crate) struct World<F = LocalFiles> {
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) files: F,
    // Behind the files: they go first.
    _server: Option<Server>,
    _dir: TempDir,
}

impl World<Arc<dyn Files>> {
    /// `None`, after saying why, where there is no such machine.
    pub(crate) async fn on(machine: Machine) -> Option<Self> {
        Self::limited_on(machine, FileLimits::default()).await
    }

    /// The same with other limits.
    pub(crate) async fn limited_on(machine: Machine, limits: FileLimits) -> Option<Self> {
        Self::with(machine, World::new(), limits).await
    }

    /// The same with the workspace at this path beneath the world's directory.
    pub(crate) async fn at(machine: Machine, path: &str) -> Option<Self> {
        let world = World::with_workspace_at(path);
        Self::with(machine, world, FileLimits::default()).await
    }

    async fn with(machine: Machine, world: World, limits: FileLimits) -> Option<Self> {
        let (files, server): (Arc<dyn Files>, _) = match machine {
            Machine::Ours => {
                let files = world.files.clone().with_limits(limits);
                (Arc::new(files), None)
            }
            Machine::Theirs => {
                let server = Server::with_home(&world.home)?;
                let mut remote = server.remote();
                remote.workspace = world.workspace.display().to_string();
                let mut session = server.session(remote);
                session.file_limits = limits;
                let sandbox = outfitter_sandbox::ssh::open(session).await.unwrap();
                (Arc::new(Theirs(sandbox)), Some(server))
            }
        };
        Some(Self {
            home: world.home,
            workspace: world.workspace,
            outside: world.outside,
            files,
            _server: server,
            _dir: world._dir,
        })
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_workspace_at("home/ws")
    }

    /// The workspace at this path beneath the world's directory.
    pub(crate) fn with_workspace_at(path: &str) -> Self {
        Self::within(tempfile::tempdir().unwrap(), path)
    }

    /// In memory where there is such a place: to write there waits for no disk.
    pub(crate) fn in_memory() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::within(dir.unwrap(), "home/ws")
    }

    fn within(dir: TempDir, path: &str) -> Self {
        let base = dir.path().canonicalize().unwrap();
        let home = base.join("home");
        let outside = base.join("outside");
        let workspace = base.join(path);
        for made in [&home, &outside, &workspace, &home.join(".ssh")] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(outside.join("secret.txt"), SECRET).unwrap();
        fs::write(home.join(".ssh/id_rsa"), SECRET).unwrap();
        let files = LocalFiles::open(&workspace, Protected::of_home(&home)).unwrap();
        Self {
            home,
            workspace,
            outside,
            files,
            _server: None,
            _dir: dir,
        }
    }
}

impl<F: AsFiles> World<F> {
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.workspace.join(relative)
    }

    /// Makes a file, and its parents.
    pub(crate) fn make(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn make_mode(&self, relative: &str, mode: u32) {
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, relative: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(relative)).unwrap();
    }

    pub(crate) fn bytes(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    pub(crate) async fn read(&self, path: &str) -> Result<String, FilesError> {
        let range = Range {
            from: 0,
            max: 1 << 20,
        };
        let chunk = self.files.as_files().read(here(path), range).await?;
        Ok(String::from_utf8(chunk.bytes.to_vec()).unwrap())
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<Written, FilesError> {
        self.files
            .as_files()
            .put(here(path), replace(content))
            .await
    }

    pub(crate) async fn list(&self, path: &str, depth: u32) -> Result<Listed, FilesError> {
        let list = List {
            depth,
            max_items: 200,
            hidden: false,
            ignored: false,
        };
        self.files.as_files().list(here(path), list).await
    }

    pub(crate) async fn glob(&self, path: &str, pattern: &str) -> Result<GlobFound, FilesError> {
        let glob = Glob {
            pattern: pattern.to_owned(),
            limit: 200,
        };
        self.files.as_files().glob(here(path), glob).await
    }

    pub(crate) async fn grep(&self, path: &str, pattern: &str) -> Result<SearchFound, FilesError> {
        self.files
            .as_files()
            .search(here(path), search(pattern))
            .await
    }
}

/// What a world may have for files.
pub(crate) trait AsFiles {
    fn as_files(&self) -> &dyn Files;
}

impl AsFiles for LocalFiles {
    fn as_files(&self) -> &dyn Files {
        self
    }
}

impl AsFiles for Arc<dyn Files> {
    fn as_files(&self) -> &dyn Files {
        &**self
    }
}

/// The files of a sandbox on another machine, which lives as long as they are used.
struct Theirs(ProcessSandbox);

#[async_trait::async_trait]
impl Files for Theirs {
    async fn stat(&self, file: FileRef<'_>) -> Result<FileStat, FilesError> {
        self.0.files().stat(file).await
    }

    async fn read(&self, file: FileRef<'_>, range: Range) -> Result<FileChunk, FilesError> {
        self.0.files().read(file, range).await
    }

    async fn put(&self, file: FileRef<'_>, put: Put) -> Result<Written, FilesError> {
        self.0.files().put(file, put).await
    }

    async fn commit(&self, changes: Vec<FileChange>) -> Result<(), FilesError> {
        self.0.files().commit(changes).await
    }

    async fn hash(&self, file: FileRef<'_>) -> Result<Hash, FilesError> {
        self.0.files().hash(file).await
    }

    async fn list(&self, dir: FileRef<'_>, list: List) -> Result<Listed, FilesError> {
        self.0.files().list(dir, list).await
    }

    async fn glob(&self, dir: FileRef<'_>, glob: Glob) -> Result<GlobFound, FilesError> {
        self.0.files().glob(dir, glob).await
    }

    async fn search(&self, at: FileRef<'_>, search: Search) -> Result<SearchFound, FilesError> {
        self.0.files().search(at, search).await
    }

    async fn import(&self, from: PathBuf, to: FileRef<'_>) -> Result<(), FilesError> {
        self.0.files().import(from, to).await
    }

    async fn export(&self, from: FileRef<'_>, to: PathBuf) -> Result<(), FilesError> {
        self.0.files().export(from, to).await
    }

    fn leads_to(&self, path: &str, by: Deadline) -> LeadsTo {
        self.0.files().leads_to(path, by)
    }
}

pub(crate) fn here(path: &str) -> FileRef<'_> {
    FileRef {
        path,
        reach: Reach::Workspace,
    }
}

pub(crate) fn anywhere(path: &str) -> FileRef<'_> {
    FileRef {
        path,
        reach: Reach::Host,
    }
}

pub(crate) fn put(content: &str, mode: PutMode, if_hash: Option<Hash>) -> Put {
    Put {
        bytes: Bytes::copy_from_slice(content.as_bytes()),
        mode,
        if_hash,
    }
}

pub(crate) fn replace(content: &str) -> Put {
    put(content, PutMode::Replace, None)
}

pub(crate) fn search(pattern: &str) -> Search {
    Search {
        pattern: pattern.to_owned(),
        glob: None,
        file_type: None,
        mode: outfitter_core::SearchMode::Content,
        case_insensitive: false,
        multiline: false,
        before: 0,
        after: 0,
        limit: 200,
    }
}

pub(crate) fn paths(listed: &Listed) -> Vec<&str> {
    listed
        .entries
        .iter()
        .map(|entry| entry.path.as_str())
        .collect()
}

pub(crate) fn found(found: &GlobFound) -> Vec<&str> {
    let mut paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths
}

pub(crate) fn hits(found: &SearchFound) -> Vec<String> {
    found
        .hits
        .iter()
        .map(|hit| format!("{}:{}:{}:{}", hit.path, hit.line, hit.column, hit.text))
        .collect()
}

/// Refused because nobody may, or because it is outside.
pub(crate) fn is_denial(error: &FilesError) -> bool {
    matches!(
        error,
        FilesError::Protected { .. } | FilesError::Outside { .. }
    )
}
