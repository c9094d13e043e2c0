//! One process at a time works on a session.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use outfitter_core::{Code, SessionId};

/// How long the file of a session is whose deletion has begun. That of any other is empty. Nothing is
/// written into it: a length takes no room, so that a session can be deleted to make some.
const DELETING: u64 = 1;

/// Why a session cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum NotHeld {
    /// Another process works on it.
    #[error("use the session {0}: another process works on it")]
    InUse(SessionId),
    /// Its deletion has begun and did not come to its end. Only to delete it once more it is held.
    #[error(
        "use the session {0}: its deletion has begun and is not at its end; delete it once more"
    )]
    HalfDeleted(SessionId),
}

impl NotHeld {
    /// The code of it.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::InUse(_) => Code::Busy,
            Self::HalfDeleted(_) => Code::Unavailable,
        }
    }
}

/// What a session is held for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To work in it.
    Work,
    /// To delete it, or to finish a deletion.
    Deletion,
}

/// A session held by this process. The system lets go of it when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct SessionLock(pub(super) File);

impl SessionLock {
    /// Holds a session, if no other process does.
    ///
    /// # Errors
    /// The inner [`NotHeld`] when another process holds it, or it is half deleted; an I/O error when
    /// the lock cannot be made.
    pub fn take(dir: &Path, session: &SessionId) -> std::io::Result<Result<Self, NotHeld>> {
        Self::take_for(Purpose::Work, dir, session)
    }

    pub(super) fn take_for(
        purpose: Purpose,
        dir: &Path,
        session: &SessionId,
    ) -> std::io::Result<Result<Self, NotHeld>> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(path(dir, session))?;
            match file.try_lock() {
                Ok(()) if is_there(&file) => {
                    let held = admitted(purpose, session, &file);
                    return Ok(held.map(|()| Self(file)));
                }
                // Who deleted the session was faster: others find another file now.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Err(NotHeld::InUse(session.clone()))),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Marks a session, which whoever calls this holds: its deletion has begun.
    pub(super) fn mark(dir: &Path, session: &SessionId) -> std::io::Result<()> {
        let file = OpenOptions::new().write(true).open(path(dir, session))?;
        file.set_len(DELETING)?;
        file.sync_all()
    }

    /// Whether the deletion of a session has begun.
    pub(super) fn is_marked(dir: &Path, session: &SessionId) -> bool {
        std::fs::symlink_metadata(path(dir, session)).is_ok_and(|found| found.len() > 0)
    }

    /// The sessions whose deletion has begun, at most so many.
    pub(super) fn marked(dir: &Path, most: usize) -> Vec<SessionId> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let marked = entries.filter_map(|entry| {
            let name = entry.file_name();
            let session = SessionId::new(name.to_str()?.strip_suffix(".lock")?).ok()?;
            Self::is_marked(dir, &session).then_some(session)
        });
        marked.take(most).collect()
    }

    /// Takes the file of a session away, with its mark, which whoever calls this holds.
    pub(super) fn forget(dir: &Path, session: &SessionId) -> std::io::Result<()> {
        match std::fs::remove_file(path(dir, session)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Whether a file that is held lets its session be used so.
pub(super) fn admitted(purpose: Purpose, session: &SessionId, file: &File) -> Result<(), NotHeld> {
    let is_marked = || file.metadata().is_ok_and(|metadata| metadata.len() > 0);
    match purpose {
        Purpose::Work if is_marked() => Err(NotHeld::HalfDeleted(session.clone())),
        Purpose::Work | Purpose::Deletion => Ok(()),
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

    #[test]
    fn a_session_whose_deletion_was_broken_off_is_held_to_delete_it_only() {
        let dir = tempfile::tempdir().unwrap();
        let (session, other) = (SessionId::new("s").unwrap(), SessionId::new("o").unwrap());
        let held = SessionLock::take(dir.path(), &session).unwrap().unwrap();
        drop(SessionLock::take(dir.path(), &other).unwrap().unwrap());
        SessionLock::mark(dir.path(), &session).unwrap();
        drop(held);
        let file = path(dir.path(), &session).metadata().unwrap();
        assert_eq!(
            (file.len(), file.blocks()),
            (DELETING, 0),
            "the disk may be full"
        );
        assert_eq!(
            SessionLock::marked(dir.path(), 9),
            std::slice::from_ref(&session)
        );
        let refused = SessionLock::take(dir.path(), &session).unwrap();
        assert!(matches!(refused, Err(NotHeld::HalfDeleted(_))));
        let held = SessionLock::take_for(Purpose::Deletion, dir.path(), &session);
        let held = held.unwrap().unwrap();
        let refused = SessionLock::take_for(Purpose::Deletion, dir.path(), &session).unwrap();
        assert!(matches!(refused, Err(NotHeld::InUse(_))));
        SessionLock::forget(dir.path(), &session).unwrap();
        drop(held);
        assert!(SessionLock::take(dir.path(), &session).unwrap().is_ok());
    }
}
