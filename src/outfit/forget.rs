//! What nobody keeps goes: the folder of a call in no session, and what programs left that could not
//! remove it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{Scope, Seq, SessionId, StoreError};
use outfitter_process::remains::{Removed, StaysBehind, remove_tree, remove_tree_in_pool};
use outfitter_sandbox::occupied::Vacant;

use super::folders::{Folders, MOST_LOOKED_AT, cut, folders, looked};
use super::lock::path;
use super::mark::Found;
use super::{Outfitter, SessionLock};

/// The folders of sessions that are kept.
const SESSIONS: &str = "sessions";

/// The folders of what is done in no session.
const PASSING: &str = "passing";

/// What lies there, though no program is at work on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Of calls in no session whose program was killed. The next such call removes them.
    pub passing: Vec<PathBuf>,
    /// Of sessions that the log does not know. Another log may, so nobody removes them unasked.
    pub unknown: Vec<PathBuf>,
    /// Sessions whose deletion was broken off, or could not remove everything.
    pub half_deleted: Vec<SessionId>,
    /// Files that hold sessions, and have something in them that is no mark of a deletion. Their
    /// sessions do not open.
    pub strange_locks: Vec<PathBuf>,
    /// Folders of sessions on other machines that the configuration does not name now, one sentence
    /// each.
    pub elsewhere: Vec<String>,
    /// Why there may be more, one sentence each.
    pub unread: Vec<String>,
}

impl Outfitter {
    /// Where the folders of sessions lie; those of a whole that keeps none, apart from the others.
    pub(super) fn session_dirs(&self) -> PathBuf {
        let name = if self.keeps_sessions() {
            SESSIONS
        } else {
            PASSING
        };
        self.data_dir.join(name)
    }

    fn keeps_sessions(&self) -> bool {
        Arc::ptr_eq(&self.log, &self.stored)
    }

    /// Removes the folder of what was done in a session that is not kept.
    pub(super) async fn forget_session_dir(&self, scope: &Scope, session: &SessionId) {
        let removed = remove_tree_in_pool(self.session_dir(scope, session)).await;
        if let Err(stays) = removed {
            let why = stays.sentence();
            tracing::warn!(%session, "the folder of a session stays behind: {why}");
        }
    }

    /// Removes what a session of the person at this machine left on disk beside its log.
    pub async fn forget(&self, session: &SessionId) {
        self.forget_session_dir(&self.local_scope(), session).await;
    }

    /// Removes the folders of calls in no session whose program was killed.
    pub async fn sweep_passing(&self) {
        let seen = looked(&self.data_dir.join(PASSING), |root| {
            let seen = folders(root);
            for folder in &seen.found {
                told(folder, remove_vacant(folder));
            }
            seen
        })
        .await;
        for why in seen.unread {
            tracing::warn!("what killed programs left is not all removed: {why}");
        }
    }

    /// What lies there and belongs to nobody.
    pub async fn leftovers(&self) -> Leftovers {
        let passing = vacant(&self.data_dir.join(PASSING)).await;
        let sessions = vacant(&self.data_dir.join(SESSIONS)).await;
        let all = self.all_elsewhere(&self.data_dir.join(SESSIONS)).await;
        let (elsewhere, more_unread) = all;
        let mut unread = [passing.unread, sessions.unread, more_unread].concat();
        unread.dedup();
        let locks = self.locks(&self.local_scope());
        let not_empty = SessionLock::not_empty(&locks, MOST_LOOKED_AT);
        if not_empty.len() == MOST_LOOKED_AT {
            unread.push(cut(&locks, MOST_LOOKED_AT));
        }
        let (strange, half_deleted): (Vec<_>, Vec<_>) = not_empty
            .into_iter()
            .partition(|(_, found)| *found == Found::Strange);
        Leftovers {
            passing: passing.found,
            unknown: self.unknown(sessions.found).await,
            half_deleted: half_deleted.into_iter().map(|(id, _)| id).collect(),
            strange_locks: strange.iter().map(|(id, _)| path(&locks, id)).collect(),
            elsewhere,
            unread,
        }
    }

    /// Those of sessions that are in no log.
    async fn unknown(&self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut unknown = Vec::new();
        for folder in folders {
            let Some((scope, session)) = self.whose(&folder) else {
                continue;
            };
            let read = self.stored.read(&scope, &session, Seq(1), 1).await;
            if matches!(read, Err(StoreError::NotFound(_))) {
                unknown.push(folder);
            }
        }
        unknown
    }

    /// Whose folder it is; none where its name says nothing that can be read back.
    fn whose(&self, folder: &Path) -> Option<(Scope, SessionId)> {
        let scope = self.local_scope();
        let session = SessionId::new(folder.file_name()?.to_str()?).ok()?;
        (self.data_dir.join(SESSIONS).join(scope_path(&scope)) == folder.parent()?)
            .then_some((scope, session))
    }
}

fn scope_path(scope: &Scope) -> PathBuf {
    let segment = |name: &str| outfitter_store::path_segment(name);
    Path::new(&segment(scope.tenant.as_str())).join(segment(scope.subject.as_str()))
}

/// The folders there that no program is in.
async fn vacant(root: &Path) -> Folders {
    looked(root, |root| {
        let mut folders = folders(root);
        folders
            .found
            .retain(|folder| Vacant::take(folder).is_some());
        folders
    })
    .await
}

fn remove_vacant(folder: &Path) -> Result<Removed, StaysBehind> {
    match Vacant::take(folder) {
        Some(_vacant) => remove_tree(folder),
        None => Ok(Removed::WasNotThere),
    }
}

fn told(folder: &Path, removed: Result<Removed, StaysBehind>) {
    match removed {
        Ok(Removed::Gone) => {
            tracing::info!("removed {}, which a killed program left", folder.display());
        }
        Ok(Removed::WasNotThere) => {}
        Err(stays) => {
            let why = stays.sentence();
            tracing::warn!("what a killed program left stays behind: {why}");
        }
    }
}
