//! Who is in the directory of a session: every program that has its sandbox open, told by a lock that
//! the system lets go of with the program, however that ends.

use std::io;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat};
use rustix::io::Errno;

use crate::scratch::private_directory;

/// How often a directory is made anew because somebody has just removed it.
const MAX_TRIES: u32 = 16;

/// A session's directory that this program is in.
#[derive(Debug)]
pub struct Occupied(#[expect(dead_code, reason = "held, so that others see it")] OwnedFd);

impl Occupied {
    /// Enters it, and makes it first where it is not there. Where somebody is removing it, that is
    /// waited for. Any number may be in one.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn enter(session_dir: &Path) -> io::Result<Self> {
        for _ in 0..MAX_TRIES {
            private_directory(session_dir)?;
            let handle = match open(session_dir) {
                Err(Errno::NOENT) => continue,
                opened => opened?,
            };
            match flock(&handle, FlockOperation::LockShared) {
                // Where there are no locks nobody can tell that it is empty, either.
                Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::INVAL) => {}
                Err(errno) => return Err(errno.into()),
            }
            if fstat(&handle)?.st_nlink > 0 {
                return Ok(Self(handle));
            }
        }
        Err(Errno::BUSY.into())
    }
}

/// A session's directory that no program is in. None enters while this is held.
#[derive(Debug)]
pub struct Vacant(#[expect(dead_code, reason = "held, so that nobody enters")] OwnedFd);

impl Vacant {
    /// Takes it, if nobody is in it.
    #[must_use]
    pub fn take(session_dir: &Path) -> Option<Self> {
        let handle = open(session_dir).ok()?;
        flock(&handle, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self(handle))
    }
}

fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_vacant_once_everybody_has_left() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("a/session");
        assert!(Vacant::take(&session).is_none(), "there is none");
        let (one, other) = (Occupied::enter(&session), Occupied::enter(&session));
        assert!(Vacant::take(&session).is_none());
        drop(one.unwrap());
        assert!(Vacant::take(&session).is_none());
        drop(other.unwrap());
        assert!(Vacant::take(&session).is_some());
    }

    #[test]
    fn who_enters_while_it_is_removed_finds_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("session");
        drop(Occupied::enter(&session).unwrap());
        let removing = Vacant::take(&session).unwrap();
        let path = session.clone();
        let entering = std::thread::spawn(move || Occupied::enter(&path));
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::remove_dir(&session).unwrap();
        drop(removing);
        let _inside = entering.join().unwrap().unwrap();
        assert!(session.is_dir());
        assert!(Vacant::take(&session).is_none());
    }
}
