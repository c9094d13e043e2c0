//! The deletion of a session, the one for every entrance: in which order what belongs to it goes, and
//! what is said of what stays.
//!
//! It is marked first, and from then on opens for nobody but who deletes it. Its log goes last: what
//! was broken off, or could not all be removed, is deleted once more under the same name, and every
//! step may be done twice. The mark goes with the end of it all.

use async_trait::async_trait;
use outfitter_core::{ArtifactStore, Code, ErrorInfo, Log, Scope, Seq, SessionId, StoreError};

/// Nothing is removed where this is so: the log would be all that stays, and nobody would know of it.
const LOG_ELSEWHERE: &str = "its log is not in this store: the deletion was begun when another was \
     configured; configure that one again and delete it there, or, if there is none any more, remove \
     the file `.lock` of the session from the data directory";

/// What a session has beside its log and its artifacts. Whoever calls this holds the session.
#[async_trait]
pub trait Belongings: Send + Sync {
    /// Marks a session whose deletion begins: until [`unmark`](Self::unmark) it opens for nobody,
    /// also when this process ends before.
    ///
    /// # Errors
    /// Why it cannot be marked, one sentence.
    async fn mark(&self, scope: &Scope, session: &SessionId) -> Result<(), String>;

    /// Whether its deletion has begun, and where its log was then.
    async fn marked(&self, scope: &Scope, session: &SessionId) -> Option<Mark>;

    /// Ends the commands of it that still run. Says which could not be ended, one sentence each.
    async fn end_jobs(&self, scope: &Scope, session: &SessionId) -> Vec<String>;

    /// Removes what it has.
    async fn empty(&self, scope: &Scope, session: &SessionId) -> LeftBehind;

    /// Removes the mark, and whatever it was held by. Says what stays behind, one sentence each.
    async fn unmark(&self, scope: &Scope, session: &SessionId) -> Vec<String>;
}

/// What the mark of a deletion that has begun says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The log was in this store.
    OfThisStore,
    /// It was in another, which the configuration named then.
    OfAnother,
}

/// What of a session could not be removed, one sentence each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// On this machine. The session is there as long as this is.
    pub here: Vec<String>,
    /// On another, which may be gone for good.
    pub elsewhere: Vec<String>,
}

/// Why a session is not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// There is none, or the log cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Not all of it can be removed.
    #[error(transparent)]
    Stays(#[from] Stays),
}

/// Not all of a session can be removed: one sentence for each thing that stays. The session opens no
/// more until it is deleted once more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("delete the session: {}", .0.join("; "))]
pub struct Stays(pub Vec<String>);

impl Stays {
    /// The error as people and clients read it.
    #[must_use]
    pub fn to_info(&self) -> ErrorInfo {
        ErrorInfo::new(Code::Unavailable, format!("failed to {self}"))
            .with_hint("remove what stays, then delete the session once more")
    }
}

/// Where a session is deleted from.
#[derive(Clone, Copy)]
pub struct Deletion<'a> {
    /// What happened in it.
    pub log: &'a dyn Log,
    /// What it made.
    pub artifacts: &'a dyn ArtifactStore,
    /// What else it has.
    pub belongings: &'a dyn Belongings,
}

impl Deletion<'_> {
    /// Deletes a session that whoever calls this holds, or finishes a deletion that was broken off.
    /// Gives what stays behind all the same, one sentence each.
    ///
    /// # Errors
    /// [`DeleteError`] when there is none, or it cannot be deleted.
    pub async fn run(self, scope: &Scope, session: &SessionId) -> Result<Vec<String>, DeleteError> {
        let belongings = self.belongings;
        let marked = belongings.marked(scope, session).await;
        if marked != Some(Mark::OfThisStore) {
            if let Err(error) = self.log.read(scope, session, Seq(1), 1).await {
                return Err(match (marked, error) {
                    (None, StoreError::NotFound(session)) => {
                        // To hold what is not there may have made a file for it.
                        belongings.unmark(scope, &session).await;
                        StoreError::NotFound(session).into()
                    }
                    (Some(_), StoreError::NotFound(_)) => {
                        Stays(vec![LOG_ELSEWHERE.to_owned()]).into()
                    }
                    (_, error) => error.into(),
                });
            }
            let mark = belongings.mark(scope, session).await;
            mark.map_err(|why| Stays(vec![why]))?;
        }
        let mut left = LeftBehind::default();
        left.elsewhere
            .extend(belongings.end_jobs(scope, session).await);
        let emptied = belongings.empty(scope, session).await;
        left.here.extend(emptied.here);
        left.elsewhere.extend(emptied.elsewhere);
        if let Err(error) = self.artifacts.delete_session(scope, session).await {
            let why = outfitter_core::chain(&error);
            left.here.push(format!("its artifacts stay behind: {why}"));
        }
        for sentence in left.here.iter().chain(&left.elsewhere) {
            tracing::warn!(%session, "of a session that is deleted: {sentence}");
        }
        if !left.here.is_empty() {
            return Err(Stays(left.here).into());
        }
        match self.log.delete(scope, session).await {
            Ok(()) => {}
            // An earlier deletion came so far, in this very store.
            Err(StoreError::NotFound(_)) if marked == Some(Mark::OfThisStore) => {}
            Err(error) => return Err(error.into()),
        }
        let mut left = left.elsewhere;
        left.extend(belongings.unmark(scope, session).await);
        Ok(left)
    }
}
