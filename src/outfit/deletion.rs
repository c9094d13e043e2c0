//! What a session has beside its log and its artifacts, for the [deletion](Deletion) of it, and the
//! deletions that were broken off.

use async_trait::async_trait;
pub use outfitter_agent::DeleteError;
use outfitter_agent::{Belongings, Deletion, LeftBehind, Mark};
use outfitter_core::{Scope, Seq, SessionId, StoreError};
use outfitter_process::remains::remove_tree_in_pool;

use super::channels::Inboxes;
use super::folders::MOST_LOOKED_AT;
use super::lock::Purpose;
use super::mark::{Found, StoreMark};
use super::{Outfitter, SessionLock};

/// Of a session in which no command runs.
#[async_trait]
impl Belongings for Outfitter {
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String> {
        SessionLock::mark(&self.locks(scope), session, self.store_mark())
            .map_err(|error| format!("its lock file cannot be written: {error}"))
    }

    async fn marked(&self, scope: &Scope, session: &SessionId) -> Option<Mark> {
        let mark = SessionLock::marked(&self.locks(scope), session)?;
        Some(if mark == self.store_mark() {
            Mark::OfThisStore
        } else {
            Mark::OfAnother
        })
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

    /// Finishes the deletions of sessions that were broken off, as far as that can be. Those that
    /// were begun over another store stay, as do files that nobody here has marked.
    pub async fn finish_deletions(&self) {
        let scope = self.local_scope();
        let locks = self.locks(&scope);
        for (session, found) in SessionLock::not_empty(&locks, MOST_LOOKED_AT) {
            match found {
                Found::Mark(mark) if mark == self.store_mark() => {
                    self.finish_deletion(&scope, &session).await;
                }
                Found::Mark(_) => tracing::warn!(
                    %session,
                    "a session stays half deleted: another store was configured when that began"
                ),
                Found::Strange | Found::Nothing => tracing::warn!(
                    %session,
                    "the lock file of a session has something in it that is no mark of a deletion"
                ),
            }
        }
    }

    async fn finish_deletion(&self, scope: &Scope, session: &SessionId) {
        let held = match self.hold_in(Purpose::Deletion, scope, session) {
            Ok(Ok(held)) => held,
            // It is being deleted right now.
            Ok(Err(_)) => return,
            Err(error) => {
                tracing::warn!(%error, %session, "a session stays half deleted");
                return;
            }
        };
        match self.marked(scope, session).await {
            Some(Mark::OfThisStore) => {}
            Some(Mark::OfAnother) => return,
            // It came to its end meanwhile, and somebody may have begun anew under its name.
            None => {
                let read = self.log.read(scope, session, Seq(1), 1).await;
                if matches!(read, Err(StoreError::NotFound(_))) {
                    self.unmark(scope, session).await;
                }
                return;
            }
        }
        match self.delete(session).await {
            Ok(_) => tracing::info!(%session, "finished a deletion that was broken off"),
            Err(error) => tracing::warn!(%error, %session, "a session stays half deleted"),
        }
        drop(held);
    }

    /// What a deletion over the store of this installation leaves.
    fn store_mark(&self) -> StoreMark {
        StoreMark::of(self.store_file.as_deref(), &self.data_dir)
    }
}
