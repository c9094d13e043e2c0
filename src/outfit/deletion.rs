//! What a session has beside its log and its artifacts, for the [deletion](Deletion) of it, and the
//! deletions that were broken off.

use async_trait::async_trait;
pub use outfitter_agent::DeleteError;
use outfitter_agent::{Belongings, Deletion, LeftBehind};
use outfitter_core::{Scope, SessionId};
use outfitter_process::remains::remove_tree_in_pool;

use super::channels::Inboxes;
use super::folders::MOST_LOOKED_AT;
use super::lock::Purpose;
use super::{Outfitter, SessionLock};

/// Of a session in which no command runs.
#[async_trait]
impl Belongings for Outfitter {
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String> {
        SessionLock::mark(&self.locks(scope), session)
            .map_err(|error| format!("its lock file cannot be written: {error}"))
    }

    async fn is_marked(&self, scope: &Scope, session: &SessionId) -> bool {
        SessionLock::is_marked(&self.locks(scope), session)
    }

    async fn end_jobs(&self, _: &Scope, _: &SessionId) -> Vec<String> {
        Vec::new()
    }

    async fn empty(&self, scope: &Scope, session: &SessionId) -> LeftBehind {
        let mut left = LeftBehind::default();
        let workspace = self.served_workspace(scope, session);
        left.elsewhere
            .extend(self.forget_remote(scope, session).await);
        let letters = Inboxes::new(&self.data_dir, self.log.clone());
        let folders = [
            ("its folder stays", self.session_dir(scope, session)),
            ("its workspace stays", workspace),
            ("messages to it stay", letters.folder_of(scope, session)),
        ];
        for (what, folder) in folders {
            if let Err(stays) = remove_tree_in_pool(folder).await {
                let why = stays.sentence();
                left.here.push(format!("{what} behind: {why}"));
            }
        }
        left
    }

    async fn unmark(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        let removed = SessionLock::forget(&self.locks(scope), session);
        let stays = removed.err().map(|error| {
            tracing::warn!(%error, %session, "the lock file of a deleted session stays behind");
            format!("its lock file stays behind: {error}")
        });
        stays.into_iter().collect()
    }
}

impl Outfitter {
    /// Deletes a session of the person at this machine with all that belongs to it, or finishes that.
    /// Whoever calls this [holds](Self::hold_to_delete) it. Gives what stays behind all the same, one
    /// sentence each.
    ///
    /// # Errors
    /// [`DeleteError`] when there is none, or it cannot be deleted: it opens no more then until it is.
    pub async fn delete(&self, session: &SessionId) -> Result<Vec<String>, DeleteError> {
        let deletion = Deletion {
            log: &*self.log,
            artifacts: &*self.artifacts,
            belongings: self,
        };
        deletion.run(&self.local_scope(), session).await
    }

    /// Finishes the deletions of sessions that were broken off, as far as that can be.
    pub async fn finish_deletions(&self) {
        let scope = self.local_scope();
        for session in SessionLock::marked(&self.locks(&scope), MOST_LOOKED_AT) {
            let held = match self.hold_in(Purpose::Deletion, &scope, &session) {
                Ok(Ok(held)) => held,
                // It is being deleted right now.
                Ok(Err(_)) => continue,
                Err(error) => {
                    tracing::warn!(%error, %session, "a session stays half deleted");
                    continue;
                }
            };
            match self.delete(&session).await {
                Ok(_) => tracing::info!(%session, "finished a deletion that was broken off"),
                Err(error) => tracing::warn!(%error, %session, "a session stays half deleted"),
            }
            drop(held);
        }
    }
}
