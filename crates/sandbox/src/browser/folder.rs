//! The folder of one browser.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried before one is not there yet.
const ATTEMPTS: u32 = 100;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An empty folder that nobody else enters, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(within: &Path) -> io::Result<Self> {
        let own = std::process::id();
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..ATTEMPTS {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = within.join(format!("outfitter-{own}-{number}"));
            // It is made or it is not: what lies there already is never taken, whatever it is.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path.canonicalize()?)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it holds nothing but what a page made.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_there_already_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let next = NUMBER.load(Ordering::Relaxed);
        for number in next..next + 20 {
            let path = dir.path().join(format!("outfitter-{own}-{number}"));
            std::os::unix::fs::symlink("/etc", path).unwrap();
        }
        let folder = Folder::new(dir.path()).unwrap();
        let about = folder.path().symlink_metadata().unwrap();
        assert!(about.is_dir());
        assert_eq!(about.permissions().mode() & 0o777, 0o700);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn it_goes_with_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path()).unwrap();
        let path = folder.path().to_owned();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
