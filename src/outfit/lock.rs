//! One process at a time works on a session.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use outfitter_core::SessionId;

/// Another process works on the session.
#[derive(Debug, thiserror::Error)]
#[error("use the session {0}: another process works on it")]
pub struct SessionInUse(pub SessionId);

/// A session held by this process. The system lets go of it when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct SessionLock(#[expect(dead_code, reason = "held, not read")] File);

impl SessionLock {
    /// Holds a session, if no other process does.
    ///
    /// # Errors
    /// The inner [`SessionInUse`] when another process holds it; an I/O error when the lock
    /// cannot be made.
    pub fn take(dir: &Path, session: &SessionId) -> std::io::Result<Result<Self, SessionInUse>> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(dir.join(format!("{session}.lock")))?;
        match file.try_lock() {
            Ok(()) => Ok(Ok(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(Err(SessionInUse(session.clone()))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
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
}
