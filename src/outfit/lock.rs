//! One process at a time works on a session.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use outfitter_core::{Code, SessionId};

use super::mark::{Found, StoreMark, found, found_at};

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
    /// Its file has something in it that nobody here puts there.
    #[error(
        "use the session {0}: its file {0}.lock has something in it and is no mark of a deletion; \
         look at it, then empty it"
    )]
    Strange(SessionId),
}

impl NotHeld {
    /// The code of it.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::InUse(_) => Code::Busy,
            Self::HalfDeleted(_) => Code::Unavailable,
            // Waiting changes nothing about it.
            Self::Strange(_) => Code::Conflict,
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
                .read(true)
                .write(true)
                .mode(0o600)
                .open(path(dir, session))?;
            match file.try_lock() {
                Ok(()) => {
                    if let Some(held) = admitted(purpose, session, &file) {
                        return Ok(held.map(|()| Self(file)));
                    }
                    // Who deleted the session was faster: others find another file now.
                }
                Err(TryLockError::WouldBlock) => return Ok(Err(NotHeld::InUse(session.clone()))),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Marks a session, which whoever calls this holds: its deletion has begun.
    pub(super) fn mark(dir: &Path, session: &SessionId, mark: StoreMark) -> std::io::Result<()> {
        let file = OpenOptions::new().write(true).open(path(dir, session))?;
        file.set_len(mark.length())?;
        file.sync_all()
    }

    /// The mark of a session whose deletion has begun.
    pub(super) fn marked(dir: &Path, session: &SessionId) -> Option<StoreMark> {
        match found_at(&path(dir, session)) {
            Found::Mark(mark) => Some(mark),
            Found::Nothing | Found::Strange => None,
        }
    }

    /// Why a session opens for no work, whoever holds it.
    pub(super) fn closed(dir: &Path, session: &SessionId) -> Result<(), NotHeld> {
        admits(Purpose::Work, session, found_at(&path(dir, session)))
    }

    /// The sessions whose file is not as it was made, at most so many, with what is in it.
    pub(super) fn not_empty(dir: &Path, most: usize) -> Vec<(SessionId, Found)> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let name = entry.file_name();
            let session = SessionId::new(name.to_str()?.strip_suffix(".lock")?).ok()?;
            let found = found_at(&path(dir, &session));
            (found != Found::Nothing).then_some((session, found))
        });
        found.take(most).collect()
    }

    /// Takes the file of a session away, with its mark, which whoever calls this holds.
    pub(super) fn forget(dir: &Path, session: &SessionId) -> std::io::Result<()> {
        match std::fs::remove_file(path(dir, session)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Whether a file that is held lets its session be used so; none where others do not find it by its
/// name any more.
pub(super) fn admitted(
    purpose: Purpose,
    session: &SessionId,
    file: &File,
) -> Option<Result<(), NotHeld>> {
    let metadata = file.metadata().ok().filter(is_named)?;
    // What cannot be read is not known to be ours.
    let found = found(file, &metadata).unwrap_or(Found::Strange);
    Some(admits(purpose, session, found))
}

fn admits(purpose: Purpose, session: &SessionId, found: Found) -> Result<(), NotHeld> {
    match (found, purpose) {
        (Found::Nothing, _) | (Found::Mark(_), Purpose::Deletion) => Ok(()),
        (Found::Mark(_), Purpose::Work) => Err(NotHeld::HalfDeleted(session.clone())),
        (Found::Strange, _) => Err(NotHeld::Strange(session.clone())),
    }
}

pub(super) fn path(dir: &Path, session: &SessionId) -> PathBuf {
    dir.join(format!("{session}.lock"))
}

/// Whether others still find the file by its name.
pub(super) fn is_there(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| is_named(&metadata))
}

fn is_named(metadata: &Metadata) -> bool {
    metadata.nlink() > 0
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
        let mark = StoreMark::of(None, dir.path());
        SessionLock::mark(dir.path(), &session, mark).unwrap();
        drop(held);
        let file = path(dir.path(), &session).metadata().unwrap();
        assert_eq!(
            (file.len(), file.blocks()),
            (mark.length(), 0),
            "the disk may be full"
        );
        assert_eq!(
            SessionLock::not_empty(dir.path(), 9),
            [(session.clone(), Found::Mark(mark))]
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

    #[test]
    fn a_session_whose_file_has_anything_in_it_is_held_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("s").unwrap();
        std::fs::write(path(dir.path(), &session), "4711\n").unwrap();
        for purpose in [Purpose::Work, Purpose::Deletion] {
            let refused = SessionLock::take_for(purpose, dir.path(), &session).unwrap();
            assert!(matches!(refused, Err(NotHeld::Strange(_))));
        }
        let found = SessionLock::not_empty(dir.path(), 9);
        assert_eq!(found, [(session.clone(), Found::Strange)]);
        assert_eq!(SessionLock::marked(dir.path(), &session), None);
    }
}
