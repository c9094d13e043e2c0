//! The folder of one browser.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use outfitter_process::remains::remove_tree;
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// What the names of such folders begin with.
const NAME: &str = "outfitter-";

/// A folder that is younger may be one that its owner has not locked yet.
const SETTLED: Duration = Duration::from_secs(60);

/// How many names are tried before one is not there yet.
const ATTEMPTS: u32 = 100;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An empty folder that nobody else enters, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Held, so that others see that it has an owner, however that ends.
    _lock: OwnedFd,
}

impl Folder {
    pub(super) fn new(within: &Path) -> io::Result<Self> {
        let own = std::process::id();
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..ATTEMPTS {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = within.join(format!("{NAME}{own}-{number}"));
            // It is made or it is not: what lies there already is never taken, whatever it is.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let path = path.canonicalize()?;
                    let lock = open(&path)?;
                    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                    return Ok(Self { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes those that programs of ours have left which were killed.
    pub(super) fn sweep(within: &Path) {
        let entries = std::fs::read_dir(within).into_iter().flatten().flatten();
        for entry in entries {
            let is_named = entry.file_name().to_string_lossy().starts_with(NAME);
            if is_named && is_ours_and_settled(&entry) {
                let path = entry.path();
                let lock = open(&path).and_then(|lock| {
                    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                    Ok(lock)
                });
                if lock.is_ok() {
                    // What stays is tried again by the next one.
                    let _ = remove_tree(&path);
                }
            }
        }
    }
}

/// Whether it is a directory of this account that has been there for a while.
fn is_ours_and_settled(entry: &std::fs::DirEntry) -> bool {
    let Ok(about) = entry.metadata() else {
        return false;
    };
    let age = about.modified().ok().and_then(|since| since.elapsed().ok());
    about.is_dir()
        && about.uid() == rustix::process::geteuid().as_raw()
        && age.is_some_and(|age| age >= SETTLED)
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it holds nothing but what a page made.
        let _ = remove_tree(&self.path);
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

    #[test]
    fn what_a_killed_program_left_goes_and_what_another_works_in_stays() {
        let dir = tempfile::tempdir().unwrap();
        let in_use = Folder::new(dir.path()).unwrap();
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("x"), "").unwrap();
            path
        };
        let age = |path: &Path| {
            let opened = std::fs::File::open(path).unwrap();
            opened.set_modified(old).unwrap();
        };
        let (left, fresh) = (make("outfitter-1-1"), make("outfitter-1-2"));
        let other = make("somebody");
        let beside = make("kept");
        let link = dir.path().join("outfitter-1-3");
        std::os::unix::fs::symlink(&beside, &link).unwrap();
        for path in [&left, &other, &beside, in_use.path()] {
            age(path);
        }
        Folder::sweep(dir.path());
        assert!(!left.exists());
        for path in [&fresh, &other, &beside.join("x"), &link, in_use.path()] {
            assert!(path.exists(), "{}", path.display());
        }
    }
}
