//! What nobody keeps goes: the folder of a call in no session, and what programs left that could not
//! remove it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{Scope, Seq, SessionId, StoreError};
use outfitter_process::remains::{Removed, StaysBehind, remove_tree, remove_tree_in_pool};
use outfitter_sandbox::occupied::Vacant;

use super::{Outfitter, SessionLock};

/// The folders of sessions that are kept.
const SESSIONS: &str = "sessions";

/// The folders of what is done in no session.
const PASSING: &str = "passing";

/// The most folders that are looked at, of each kind.
pub(super) const MOST_LOOKED_AT: usize = 10_000;

/// What lies there, though no program is at work on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Of calls in no session whose program was killed. The next such call removes them.
    pub passing: Vec<PathBuf>,
    /// Of sessions that the log does not know. Another log may, so nobody removes them unasked.
    pub unknown: Vec<PathBuf>,
    /// Sessions whose deletion was broken off, or could not remove everything.
    pub half_deleted: Vec<SessionId>,
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
        let root = self.data_dir.join(PASSING);
        let swept = tokio::task::spawn_blocking(move || {
            for folder in folders(&root) {
                told(&folder, remove_vacant(&folder));
            }
        });
        // A panic there is in the log.
        let _ = swept.await;
    }

    /// What lies there and belongs to nobody.
    pub async fn leftovers(&self) -> Leftovers {
        Leftovers {
            passing: vacant(self.data_dir.join(PASSING)).await,
            unknown: self.unknown().await,
            half_deleted: SessionLock::marked(&self.locks(&self.local_scope()), MOST_LOOKED_AT),
        }
    }

    /// Folders of sessions that no program is in and that are in no log.
    async fn unknown(&self) -> Vec<PathBuf> {
        let mut unknown = Vec::new();
        for folder in vacant(self.data_dir.join(SESSIONS)).await {
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

/// Those of them that no program is in.
async fn vacant(root: PathBuf) -> Vec<PathBuf> {
    let vacant = tokio::task::spawn_blocking(move || {
        let mut folders = folders(&root);
        folders.retain(|folder| Vacant::take(folder).is_some());
        folders
    });
    vacant.await.unwrap_or_default()
}

/// The folders in a directory of tenants and subjects.
pub(super) fn folders(root: &Path) -> Vec<PathBuf> {
    let inside = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect::<Vec<_>>()
    };
    inside(root)
        .iter()
        .flat_map(|tenant| inside(tenant))
        .flat_map(|subject| inside(&subject))
        .take(MOST_LOOKED_AT)
        .collect()
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
