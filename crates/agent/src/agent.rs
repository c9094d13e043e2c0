//! A configured loop.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{CallEnd, Cancel, EventSink, RawCall, Scope, SessionId, ToolName};

use crate::RunError;
use crate::answers;
use crate::parts::AgentParts;
use crate::request::{RunEnd, RunRequest};
use crate::run::Run;
use crate::session::{Session, Sessions};

/// A configured loop. Runs of different sessions may be made at once.
pub struct Agent {
    pub(crate) parts: AgentParts,
    pub(crate) sessions: Arc<Sessions>,
}

impl Agent {
    /// An agent of these parts.
    #[must_use]
    pub fn new(parts: AgentParts) -> Self {
        Self {
            parts,
            sessions: Arc::default(),
        }
    }

    /// What it is made of.
    #[must_use]
    pub fn parts(&self) -> &AgentParts {
        &self.parts
    }

    /// Makes one run. Its events go to `events`; the last of them says how it ended, and so does
    /// what this gives.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or its end could not be recorded. A run that fails is
    /// no error.
    pub async fn run(
        &self,
        session: &Session,
        request: impl Into<RunRequest>,
        cancel: Cancel,
        events: Arc<dyn EventSink>,
    ) -> Result<RunEnd, RunError> {
        let request = request.into();
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*self.parts.log).await?;
        let now = self.parts.clock.now();
        if let Err(error) = answers::acceptable(&log, session, &request.input, now) {
            taken.keep(log);
            return Err(error);
        }
        let run = Run::new(&self.parts, session, cancel, events, log);
        let end = run.go(request).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// Makes one call without a model: down the same pipeline, into the same log.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or its end could not be recorded. Also an unknown or
    /// refused call ends in an output.
    pub async fn call(
        &self,
        session: &Session,
        call: RawCall,
        cancel: Cancel,
        events: Arc<dyn EventSink>,
    ) -> Result<CallEnd, RunError> {
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*self.parts.log).await?;
        let run = Run::new(&self.parts, session, cancel, events, log);
        let end = run.call_directly(call).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// The tools that were expanded in a session so far. No run is kept from the session.
    ///
    /// # Errors
    /// [`RunError::Store`] when the log cannot be read.
    pub async fn expanded(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Arc<BTreeSet<ToolName>>, RunError> {
        let log = self.sessions.peek(&*self.parts.log, scope, session).await?;
        Ok(log.expanded)
    }
}
