//! One process at a time works on a session.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use outfitter_core::SessionId;

/// Another process works on the session.
#[derive(Debug, thiserror::Error)]
#[error("use the session {0}: another process works on it")]
pub struct SessionInUse(pub SessionId);

/// A session held by this process. The system lets go of it when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct SessionLock(pub(super) File);

impl SessionLock {
    /// Holds a session, if no other process does.
    ///
    /// # Errors
    /// The inner [`SessionInUse`] when another process holds it; an I/O error when the lock
    /// cannot be made.
    pub fn take(dir: &Path, session: &SessionId) -> std::io::Result<Result<Self, SessionInUse>> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(path(dir, session))?;
            match file.try_lock() {
                Ok(()) if is_there(&file) => return Ok(Ok(Self(file))),
                // Who deleted the session was faster: others find another file now.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Err(SessionInUse(session.clone()))),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Takes the file of a session away, which whoever calls this holds.
    pub(super) fn forget(dir: &Path, session: &SessionId) -> std::io::Result<()> {
        match std::fs::remove_file(path(dir, session)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn path(dir: &Path, session: &SessionId) -> PathBuf {
    dir.join(format!("{session}.lock"))
}

/// Whether others still find the file by its name.
pub(super) fn is_there(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_held_once_and_free_again_when_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("s").unwrap();
        let held = SessionLock::take(dir.path(), &session).unwrap().unwrap();
        assert!(SessionLock::take(dir.path(), &session).unwrap().is_err());
        drop(held);
        assert!(SessionLock::take(dir.path(), &session).unwrap().is_ok());
    }

    #[test]
    fn the_file_of_a_deleted_session_held_nobody_back_and_stayed() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("s").unwrap();
        let held = SessionLock::take(dir.path(), &session).unwrap().unwrap();
        SessionLock::forget(dir.path(), &session).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        // It may be made anew at once.
        let anew = SessionLock::take(dir.path(), &session).unwrap().unwrap();
        assert!(SessionLock::take(dir.path(), &session).unwrap().is_err());
        drop((held, anew));
        SessionLock::forget(dir.path(), &session).unwrap();
        SessionLock::forget(dir.path(), &session).unwrap();
    }
}
