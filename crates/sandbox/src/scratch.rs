//! The scratch folder of a session: the home of its commands.
//!
//! Commands write in it, so it is not trusted: it is opened once, and what belongs into it is made
//! beneath that handle, never through a link a command may have left there.

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const NAME: &str = "scratch";
const HOME: &str = "home";
const TEMPORARY: &str = "tmp";
const CARGO_HOME: &str = "cargo";

/// Directories are ours alone, whatever the umask.
const PRIVATE: u32 = 0o700;

/// A session's scratch folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    handle: OwnedFd,
}

/// Where in a scratch folder is what. It need not be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'p>(pub(crate) &'p Path);

impl Layout<'_> {
    /// The scratch folder of a session's directory.
    pub(crate) fn below(session_dir: &Path) -> PathBuf {
        session_dir.join(NAME)
    }

    pub(crate) fn home(self) -> PathBuf {
        self.0.join(HOME)
    }

    pub(crate) fn temporary(self) -> PathBuf {
        self.0.join(TEMPORARY)
    }

    pub(crate) fn cargo_home(self) -> PathBuf {
        self.0.join(CARGO_HOME)
    }
}

impl Scratch {
    /// The one below a session's directory, made if it is not there. Both are ours alone.
    pub(crate) fn open(session_dir: &Path) -> io::Result<Self> {
        let path = session_dir.join(NAME);
        private_directory(&path)?;
        let path = path.canonicalize()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&path, flags, Mode::empty())?;
        let scratch = Self { path, handle };
        scratch.restore()?;
        Ok(scratch)
    }

    /// Makes its folders again if a command removed them.
    pub(crate) fn restore(&self) -> io::Result<()> {
        for name in [HOME, TEMPORARY, CARGO_HOME] {
            match rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(PRIVATE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout(&self.path)
    }
}

/// A directory and its parents; the directory itself 0700.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE)
        .create(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(PRIVATE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_folders_come_back_and_links_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(dir.path()).unwrap();
        let target = dir.path().join("target");
        std::fs::remove_dir(scratch.layout().home()).unwrap();
        std::fs::remove_dir(scratch.layout().temporary()).unwrap();
        std::os::unix::fs::symlink(&target, scratch.layout().temporary()).unwrap();
        scratch.restore().unwrap();
        assert!(scratch.layout().home().is_dir());
        assert!(!target.exists(), "made through a link");
    }

    #[test]
    fn it_is_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(&dir.path().join("a/session")).unwrap();
        for path in [scratch.path.clone(), scratch.layout().home()] {
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", path.display());
        }
    }
}
