//! What a session has done before, for tools whose state is their own history.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Seq, SessionId, StoreError, ToolName, ToolOutput};

/// Earlier calls of one tool, as the log has them.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCalls {
    /// What they gave, with the places of the outputs, in order. Also of calls that failed.
    pub outputs: Vec<(Seq, Arc<ToolOutput>)>,
    /// Where to read on. A call that is still open is read again from there, and with it perhaps
    /// outputs that were given already.
    pub next: Seq,
}

/// The history of the session that a call belongs to; one service for each, already scoped. What
/// is derived from it survives a restart and needs no store of its own.
#[async_trait]
pub trait SessionHistory: Send + Sync {
    /// The session at the root of the run tree: what belongs to the whole tree, sub-agents
    /// included, belongs to it.
    fn root(&self) -> &SessionId;

    /// The calls of `tool` in the root session from `from` on, by whatever name it was called.
    /// Only calls that change something leave a trace that is independent of the name.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn calls_of(&self, tool: &ToolName, from: Seq) -> Result<PastCalls, StoreError>;
}
