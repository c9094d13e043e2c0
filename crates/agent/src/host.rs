//! Sessions by their id: for transports that are told who calls and in which session.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    CallEnd, CallHost, CallHostError, EventSink, Listing, Principal, RawCall, SessionId,
};
use outfitter_tools::ToolView;

use crate::agent::Agent;
use crate::error::RunError;
use crate::session::Session;

/// What opens sessions: their proxies, sandboxes and workspaces.
#[async_trait]
pub trait SessionSource: Send + Sync {
    /// Opens a session of `who`, or makes it.
    ///
    /// # Errors
    /// [`CallHostError`] when it cannot be opened.
    async fn open(&self, who: Arc<Principal>, id: &SessionId) -> Result<Session, CallHostError>;

    /// Waits until there is what a run or a listing needs, as far as it comes soon.
    ///
    /// # Errors
    /// [`CallHostError`] when there cannot be what is needed.
    async fn ready(&self) -> Result<(), CallHostError> {
        Ok(())
    }

    /// Waits until there is what a call of this tool needs, as long as that may take. What is
    /// always there needs nothing, whatever else is slow.
    ///
    /// # Errors
    /// [`CallHostError`] when there cannot be what is needed.
    async fn ready_for(&self, tool: &str) -> Result<(), CallHostError> {
        let _always_there = tool;
        Ok(())
    }
}

/// An agent and the sessions it works on.
#[derive(Clone)]
pub struct Host {
    agent: Arc<Agent>,
    sessions: Arc<dyn SessionSource>,
}

impl Host {
    /// An agent, and what opens its sessions.
    #[must_use]
    pub fn new(agent: Arc<Agent>, sessions: Arc<dyn SessionSource>) -> Self {
        Self { agent, sessions }
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Arc<Agent> {
        &self.agent
    }

    /// Opens a session of `who`, or makes it.
    ///
    /// # Errors
    /// [`CallHostError`] when it cannot be opened.
    pub async fn open(
        &self,
        who: Arc<Principal>,
        id: &SessionId,
    ) -> Result<Session, CallHostError> {
        self.sessions.ready().await?;
        self.sessions.open(who, id).await
    }

    /// Waits until there is what a listing needs, as far as it comes soon.
    ///
    /// # Errors
    /// [`CallHostError`] when there cannot be what is needed.
    pub async fn ready(&self) -> Result<(), CallHostError> {
        self.sessions.ready().await
    }

    /// Opens a session of `who`, or makes it, for a call of this tool: what else is slow is not
    /// waited for.
    ///
    /// # Errors
    /// [`CallHostError`] when it cannot be opened.
    pub async fn open_to_call(
        &self,
        who: Arc<Principal>,
        id: &SessionId,
        tool: &str,
    ) -> Result<Session, CallHostError> {
        self.sessions.ready_for(tool).await?;
        self.sessions.open(who, id).await
    }

    /// What the session may use now.
    async fn view(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Arc<ToolView>, CallHostError> {
        let session = self.open(Arc::new(who.clone()), session).await?;
        let facts = self.agent.facts(&session).await?;
        Ok(session.proxy.view(&facts))
    }
}

#[async_trait]
impl CallHost for Host {
    async fn list(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        Ok(self.view(who, session).await?.listing())
    }

    async fn callable(
        &self,
        who: &Principal,
        session: &SessionId,
    ) -> Result<Vec<Listing>, CallHostError> {
        Ok(self.view(who, session).await?.callable())
    }

    async fn call(
        &self,
        who: Arc<Principal>,
        session: &SessionId,
        call: RawCall,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, CallHostError> {
        let session = self.open_to_call(who, session, &call.name).await?;
        self.agent
            .call(&session, call, events.cancel(), events)
            .await
            .map_err(CallHostError::from)
    }
}

impl From<RunError> for CallHostError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Busy(id) => Self::Busy(id),
            RunError::Journal(error) => Self::Journal(error),
            RunError::NothingToContinue(_)
            | RunError::UnknownWorkflow { .. }
            | RunError::Answer(_)
            | RunError::Store(_) => Self::Unavailable(error.to_info().message),
        }
    }
}
