//! One call, from outside.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Arguments, CallId, Cancel, Effects, Event, Exposure, Interrupt, JournalError, Principal, Role,
    SessionId, SourceId, ToolName, ToolOutput,
};

/// One call, as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RawCall {
    /// Unique in the session.
    pub id: CallId,
    /// The name as it was written, which may be no tool's.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

/// How a call ends for now.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEnd {
    /// With its one output.
    Output(Arc<ToolOutput>),
    /// It waits.
    Waiting(Arc<Interrupt>),
}

/// One tool in a listing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    /// Its name.
    pub name: ToolName,
    /// What offers it.
    pub source: SourceId,
    /// What it says of itself.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// The JSON Schema of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// When it is shown.
    pub exposure: Exposure,
    /// The least role that may call it.
    pub min_role: Role,
    /// The most a call can do.
    pub effects: Effects,
    /// Whether the next model request would carry its schema.
    pub presented: bool,
}

/// Why a host did not take a call.
#[derive(Debug, thiserror::Error)]
pub enum CallHostError {
    /// No such session, or not the caller's.
    #[error("find the session {0}")]
    NotFound(SessionId),
    /// The session is in use.
    #[error("use the session {0}: a run is under way")]
    Busy(SessionId),
    /// What happened could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The host cannot do it now.
    #[error("take the call: {0}")]
    Unavailable(String),
}

/// Takes events. It never blocks.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn send(&self, event: Arc<Event>);

    /// Whether it has room for ephemeral events. While it has none they are held back and merged,
    /// so that a slow reader neither loses its place nor slows a tool.
    fn has_room(&self) -> bool {
        true
    }

    /// Stops when whoever takes the events wants no more of what makes them: a client that went
    /// away, a request that was cancelled. A run that is made for it alone stops with it.
    fn cancel(&self) -> Cancel {
        Cancel::new()
    }
}

/// Direct calls: runs without a model, down the same pipeline.
#[async_trait]
pub trait CallHost: Send + Sync {
    /// The tools that `who` may use in a session.
    ///
    /// # Errors
    /// [`CallHostError`].
    async fn list(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError>;

    /// The tools that `who` can call in a session by their names. Who calls so chooses by
    /// themselves: what is shown to a model is no part of it, and what only asks a person is not
    /// among it, because nobody answers in the middle of a call.
    ///
    /// # Errors
    /// [`CallHostError`].
    async fn callable(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        self.list(who, session).await
    }

    /// Makes one call. Also an unknown or refused one ends in an output.
    ///
    /// # Errors
    /// [`CallHostError`] when the host could not even try.
    async fn call(
        &self,
        who: Arc<Principal>,
        session: &SessionId,
        call: RawCall,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, CallHostError>;
}
