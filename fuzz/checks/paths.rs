//! What holds of every path that the file tools are given: nothing outside is read, listed or
//! written, whatever the path is and whatever links lie on its way.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use outfitter_core::{
    Becomes, Bytes, FileChange, FileRef, Files, Glob, Hash, List, NewMode, Put, PutMode, Range,
    Reach,
};
use outfitter_sandbox::{LocalFiles, Protected};

const SECRET: &str = "a word that is outside";

/// A workspace in a home, with links that lead out, and something beside it.
pub(crate) struct Place {
    base: PathBuf,
    files: LocalFiles,
    runtime: tokio::runtime::Runtime,
    _dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let workspace = base.join("home/ws");
        for made in ["home/ws/a/b", "home/.ssh", "outside/deep", "home/ws2"] {
            fs::create_dir_all(base.join(made)).unwrap();
        }
        for (path, text) in [
            ("home/ws/a/file", "within"),
            ("outside/secret", SECRET),
            ("outside/deep/secret", SECRET),
            ("home/.ssh/id_rsa", SECRET),
            ("home/ws2/secret", SECRET),
        ] {
            fs::write(base.join(path), text).unwrap();
        }
        for (link, to) in [
            ("out", "../../outside"),
            ("a/up", "../.."),
            ("a/root", "/"),
            ("secret", "../../outside/secret"),
            ("dangling", "../../outside/new"),
            ("round", "round"),
            ("proc", "/proc/self/root"),
            ("within", "a/file"),
        ] {
            symlink(to, workspace.join(link)).unwrap();
        }
        let files = LocalFiles::open(&workspace, Protected::of_home(&base.join("home"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            base,
            files,
            runtime,
            _dir: dir,
        }
    }

    /// Panics where something does not hold. `{base}` in the path is the directory of it all.
    pub(crate) fn check(&self, data: &[u8]) {
        let base = self.base.to_str().unwrap();
        let path = String::from_utf8_lossy(data).replace("{base}", base);
        let before = self.outside();
        self.runtime.block_on(self.attempts(&path));
        assert_eq!(self.outside(), before, "{path:?} changed what is outside");
    }

    async fn attempts(&self, path: &str) {
        let file = FileRef {
            path,
            reach: Reach::Workspace,
        };
        let range = Range {
            from: 0,
            max: 1 << 16,
        };
        if let Ok(chunk) = self.files.read(file, range).await {
            let text = String::from_utf8_lossy(&chunk.bytes).into_owned();
            assert!(!text.contains(SECRET), "{path:?} was read");
        }
        let _ = self.files.stat(file).await;
        let _ = self.files.hash(file).await;
        let list = List {
            depth: 2,
            max_items: 50,
            hidden: true,
            ignored: true,
        };
        if let Ok(listed) = self.files.list(file, list).await {
            let names = listed.entries.iter().map(|entry| entry.path.as_str());
            for name in names {
                assert!(!name.ends_with("deep/secret"), "{path:?} listed {name}");
            }
        }
        let glob = Glob {
            pattern: path.to_owned(),
            limit: 50,
        };
        let here = FileRef {
            path: ".",
            reach: Reach::Workspace,
        };
        let _ = self.files.glob(here, glob).await;
        let copied = self.base.join("home/copied");
        if self.files.export(file, copied.clone()).await.is_ok() {
            assert!(!has_secret(&copied), "{path:?} was copied out");
            let _ = fs::remove_dir_all(&copied).or_else(|_| fs::remove_file(&copied));
        }
        for mode in [PutMode::Create, PutMode::Append, PutMode::Replace] {
            let put = Put {
                bytes: Bytes::from_static(b"written"),
                mode,
                if_hash: None,
            };
            let _ = self.files.put(file, put).await;
        }
        let if_hash = Hash::of("written");
        for to in [
            Becomes::Replaced {
                bytes: Bytes::from_static(b"patched"),
                if_hash,
            },
            Becomes::Created {
                bytes: Bytes::from_static(b"made"),
                mode: NewMode::Plain,
            },
        ] {
            let change = FileChange {
                path: path.to_owned(),
                reach: Reach::Workspace,
                to,
            };
            let _ = self.files.commit(vec![change]).await;
        }
    }

    /// Every name beside the workspace, with what is in it.
    fn outside(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut left = vec![self.base.clone()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                if path.ends_with("home/ws") {
                    continue;
                }
                found.push((path.clone(), fs::read(&path).ok()));
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

/// Whether a file, or one beneath a directory, has what is outside.
fn has_secret(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            !is_link && has_secret(&entry.path())
        }),
        Err(_) => {
            fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(SECRET))
        }
    }
}
