//! One process at a time works on a session.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{Scope, SessionId};

/// Lock files that stay open between runs. A server makes one run after the other, and to open a
/// file costs more than all else of a call that is not its own.
const KEPT_OPEN: usize = 64;

/// Another process works on the session.
#[derive(Debug, thiserror::Error)]
#[error("use the session {0}: another process works on it")]
pub struct SessionInUse(pub SessionId);

/// A session held by this process. The system lets go of it when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct SessionLock(File);

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

/// The lock files of a server that no run holds. They are open and not locked, so that another
/// process may hold their sessions.
#[derive(Debug, Clone, Default)]
pub(super) struct IdleLocks(Arc<Mutex<HashMap<Place, File>>>);

type Place = (Scope, SessionId);

impl IdleLocks {
    /// Holds a session, by its file if that is open, else with what `open` gives.
    pub(super) fn take<E>(
        &self,
        place: Place,
        open: impl FnOnce() -> Result<Result<SessionLock, SessionInUse>, E>,
    ) -> Result<Result<KeptLock, SessionInUse>, E> {
        // Who finds no file here while a run holds the session finds it locked.
        let known = self.lock().remove(&place).filter(is_there);
        let held = match known.map(|file| (file.try_lock(), file)) {
            Some((Ok(()), file)) => file,
            Some((Err(TryLockError::WouldBlock), _)) => return Ok(Err(SessionInUse(place.1))),
            Some((Err(TryLockError::Error(_)), _)) | None => match open()? {
                Ok(lock) => lock.0,
                Err(in_use) => return Ok(Err(in_use)),
            },
        };
        Ok(Ok(KeptLock {
            held: Some((place, held)),
            idle: self.clone(),
        }))
    }

    fn keep(&self, place: Place, file: File) {
        let mut idle = self.lock();
        if idle.len() >= KEPT_OPEN
            && let Some(any) = idle.keys().next().cloned()
        {
            idle.remove(&any);
        }
        idle.insert(place, file);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether others still find the file by its name.
fn is_there(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

/// As a [`SessionLock`]; its file stays open when it is dropped.
#[derive(Debug)]
pub(super) struct KeptLock {
    held: Option<(Place, File)>,
    idle: IdleLocks,
}

impl Drop for KeptLock {
    fn drop(&mut self) {
        if let Some((place, file)) = self.held.take()
            && file.unlock().is_ok()
        {
            self.idle.keep(place, file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(session: &str) -> Place {
        let scope = Scope {
            tenant: "t".into(),
            subject: "s".into(),
        };
        (scope, SessionId::new(session).unwrap())
    }

    #[test]
    fn a_file_that_stays_open_holds_nothing_between_runs() {
        let dir = tempfile::tempdir().unwrap();
        let idle = IdleLocks::default();
        let take = |name: &str| {
            let session = place(name).1;
            let open = || SessionLock::take(dir.path(), &session);
            idle.take(place(name), open).unwrap()
        };
        let session = place("s").1;
        for _ in 0..3 {
            let held = take("s").unwrap();
            assert!(take("s").is_err(), "not twice in this process");
            assert!(SessionLock::take(dir.path(), &session).unwrap().is_err());
            drop(held);
            assert_eq!(idle.lock().len(), 1);
            let other = SessionLock::take(dir.path(), &session).unwrap();
            assert!(other.is_ok(), "another process may have it");
            assert!(take("s").is_err(), "and then it is theirs");
        }
        drop(take("s").unwrap());
        std::fs::remove_file(dir.path().join("s.lock")).unwrap();
        let held = take("s").unwrap();
        let found = SessionLock::take(dir.path(), &session).unwrap();
        assert!(found.is_err(), "what is held is the file that others find");
        drop(held);
        for name in 0..2 * KEPT_OPEN {
            drop(take(&format!("s{name}")).unwrap());
        }
        assert_eq!(idle.lock().len(), KEPT_OPEN);
    }

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
