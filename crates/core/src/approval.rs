//! Approvals that hold beyond their session, until they expire or are taken back.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{ApprovalId, Hash, InterruptId, Role, Scope, SessionId, StoreError, ToolName, UnixMs};

/// For how long a yes holds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// For the call that waits.
    #[default]
    Once,
    /// For calls like it too, while the session lasts.
    Session,
    /// For calls like it in every session of that person, until it expires or is taken back.
    Always,
}

impl ApprovalScope {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Once, Self::Session, Self::Always];

    /// The word, as answers have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
        }
    }

    /// The one that a word means, if it means one.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// The most of them that a store keeps for one person. What has expired does not count.
pub const MAX_STANDING_APPROVALS: usize = 1_000;

/// A yes that holds for calls of the same shape, in the same place, for whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingApproval {
    /// Its id, to take it back by.
    pub id: ApprovalId,
    /// The shapes it holds for. A call needs a yes for each of its parts; never is a part how a
    /// text begins.
    pub parts: Vec<Hash>,
    /// Where it holds: the backend, the account on another machine, and the workspace it was given
    /// in, or one word for all workspaces that are sessions' own.
    pub place: String,
    /// The tool that was called.
    pub tool: ToolName,
    /// The parts as people read them, without secrets.
    pub what: Vec<String>,
    /// The role of who gave it. It holds for no lower one.
    pub role: Role,
    /// The session it was given in.
    pub session: SessionId,
    /// What it answered. One answer makes one approval.
    pub interrupt: InterruptId,
    /// When it was given.
    pub at: UnixMs,
    /// When it ends.
    pub expires: UnixMs,
}

/// Where standing approvals are kept. There is no unscoped read: another person's do not exist.
#[async_trait]
pub trait ApprovalStore: Send + Sync {
    /// Keeps one. A second one for the same [`interrupt`](StandingApproval::interrupt) changes
    /// nothing. What had expired when it was given is removed.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be kept, also because there are
    /// [`MAX_STANDING_APPROVALS`] already.
    async fn remember(&self, scope: &Scope, approval: StandingApproval) -> Result<(), StoreError>;

    /// Those of a person, the last given first; also what has expired and was not removed yet.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    async fn standing(&self, scope: &Scope) -> Result<Vec<StandingApproval>, StoreError>;

    /// Takes one back. Says whether there was one.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be removed.
    async fn revoke(&self, scope: &Scope, id: &ApprovalId) -> Result<bool, StoreError>;
}
