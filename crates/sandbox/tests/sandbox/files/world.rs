//! A home with a workspace in it, and something outside that nobody may reach.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use outfitter_core::{
    Bytes, FileRef, Files, FilesError, Glob, GlobFound, Hash, List, Listed, Put, PutMode, Range,
    Reach, Search, SearchFound, Written,
};
use outfitter_sandbox::{LocalFiles, Protected};
use tempfile::TempDir;

pub(crate) const SECRET: &str = "the secret of secrets";

pub(crate) struct World {
    _dir: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) files: LocalFiles,
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
            _dir: dir,
            home,
            workspace,
            outside,
            files,
        }
    }

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
        let chunk = self.files.read(here(path), range).await?;
        Ok(String::from_utf8(chunk.bytes.to_vec()).unwrap())
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<Written, FilesError> {
        self.files.put(here(path), replace(content)).await
    }

    pub(crate) async fn list(&self, path: &str, depth: u32) -> Result<Listed, FilesError> {
        let list = List {
            depth,
            max_items: 200,
            hidden: false,
            ignored: false,
        };
        self.files.list(here(path), list).await
    }

    pub(crate) async fn glob(&self, path: &str, pattern: &str) -> Result<GlobFound, FilesError> {
        let glob = Glob {
            pattern: pattern.to_owned(),
            limit: 200,
        };
        self.files.glob(here(path), glob).await
    }

    pub(crate) async fn grep(&self, path: &str, pattern: &str) -> Result<SearchFound, FilesError> {
        self.files.search(here(path), search(pattern)).await
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
