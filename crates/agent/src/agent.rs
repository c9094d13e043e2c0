//! A configured loop.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use outfitter_core::{
    CallEnd, Cancel, EventSink, Fence, RawCall, RunId, Scope, SessionFacts, SessionId,
};

use crate::RunError;
use crate::answers;
use crate::mode;
use crate::parts::AgentParts;
use crate::recover;
use crate::request::{Answered, Input, RunEnd, RunRequest, TurnWorkflow};
use crate::run::Run;
use crate::session::{Session, SessionGuard, Sessions};
use crate::workflow::{WorkflowChoice, Workflows};
use crate::writer::append;

/// A configured loop. Runs of different sessions may be made at once.
pub struct Agent {
    parts: Arc<RwLock<Arc<AgentParts>>>,
    sessions: Arc<Sessions>,
}

/// Gives an agent other parts while it is at work. It keeps no agent.
#[derive(Clone)]
pub struct PartsSwitch(Weak<RwLock<Arc<AgentParts>>>);

impl PartsSwitch {
    /// Whether there still is such an agent.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// What the agent is made of from its next run on. Gives whether it is still there.
    pub fn set(&self, change: impl FnOnce(&AgentParts) -> AgentParts) -> bool {
        let Some(parts) = self.0.upgrade() else {
            return false;
        };
        let mut parts = parts.write().unwrap_or_else(PoisonError::into_inner);
        *parts = Arc::new(change(&parts));
        true
    }
}

impl Agent {
    /// An agent of these parts.
    #[must_use]
    pub fn new(parts: AgentParts) -> Self {
        Self {
            parts: Arc::new(RwLock::new(Arc::new(parts))),
            sessions: Arc::default(),
        }
    }

    /// What it is made of now. A run keeps what it began with.
    #[must_use]
    pub fn parts(&self) -> Arc<AgentParts> {
        let parts = self.parts.read();
        parts.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What gives it other parts later.
    #[must_use]
    pub fn switch(&self) -> PartsSwitch {
        PartsSwitch(Arc::downgrade(&self.parts))
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
        let parts = self.parts();
        known_workflow(&parts.settings.workflows, &request)?;
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*parts.log).await?;
        let now = parts.clock.now();
        if let Err(error) = answers::acceptable(&log, session, &request.input, now) {
            taken.keep(log);
            return Err(error);
        }
        let kept = mode::kept(session, &log, &request.input);
        let session = kept.as_ref().unwrap_or(session);
        let run = Run::new(&parts, session, cancel, events, log);
        taken.answer_to(&run.writer);
        // On the heap: it is large, and whoever runs it need not be.
        let end = Box::pin(run.go(request)).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// Hands answers in to the run that works on the session: they are in its log when this gives
    /// the run, which goes on with them. None where no run takes any, or none any more; then
    /// [`run`](Self::run) makes one of them.
    ///
    /// # Errors
    /// [`RunError`] when an answer is not taken, or could not be recorded.
    pub async fn answer_under_way(
        &self,
        session: &Session,
        answers: Vec<Answered>,
    ) -> Result<Option<RunId>, RunError> {
        let Some(writer) = self.sessions.writer(session.scope(), session.id.clone()) else {
            return Ok(None);
        };
        let parts = self.parts();
        let taken = answers::hand_in(&parts, session, &writer, answers).await?;
        Ok(taken.then(|| writer.run().clone()))
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
        let parts = self.parts();
        let mut taken = self.sessions.take(session.scope(), session.id.clone())?;
        let log = taken.read(&*parts.log).await?;
        let run = Run::new(&parts, session, cancel, events, log);
        let end = Box::pin(run.call_directly(call)).await?;
        taken.keep(run.into_log().await);
        Ok(end)
    }

    /// Keeps runs of this process from a session, until what this gives is dropped. What is known
    /// of the session is forgotten.
    ///
    /// # Errors
    /// [`RunError::Busy`] when a run works on it.
    pub fn hold(&self, scope: &Scope, session: &SessionId) -> Result<SessionGuard, RunError> {
        let taken = self.sessions.take(scope.clone(), session.clone())?;
        Ok(taken.only_held())
    }

    /// Ends in the log the runs of a session that have no end, because the process that made them
    /// went away. Their turn can be continued all the same. Gives whether there were any.
    ///
    /// # Errors
    /// [`RunError`] when a run of this process works on the session, or the log fails.
    pub async fn end_broken_off(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<bool, RunError> {
        let parts = self.parts();
        let mut taken = self.sessions.take(scope.clone(), session.clone())?;
        let mut log = taken.read(&*parts.log).await?;
        let dead = recover::broken_off(&log, parts.clock.now(), &*parts.clock);
        let any = !dead.is_empty();
        if any {
            let fence = Fence(log.fence.0 + 1);
            append(&*parts.log, (scope, session), fence, &mut log, dead).await?;
        }
        taken.keep(log);
        Ok(any)
    }

    /// What the specs of a session depend on now, as its log says it. No run is kept from the
    /// session.
    ///
    /// # Errors
    /// [`RunError::Store`] when the log cannot be read.
    pub async fn facts(&self, session: &Session) -> Result<SessionFacts, RunError> {
        let (parts, scope) = (self.parts(), session.scope());
        let log = self.sessions.peek(&*parts.log, &scope, &session.id).await?;
        Ok(session.facts_in(&log))
    }
}

/// Whether there is such a workflow, where one is asked for by its name. A turn that is gone on with
/// has its own.
fn known_workflow(workflows: &Workflows, request: &RunRequest) -> Result<(), RunError> {
    match (&request.input, &request.workflow) {
        (Input::Prompt(_), TurnWorkflow::Asked(WorkflowChoice::Named(name)))
            if workflows.get(name).is_none() =>
        {
            let known = workflows.all().iter();
            Err(RunError::UnknownWorkflow {
                name: name.clone(),
                known: known.map(|workflow| workflow.name.clone()).collect(),
            })
        }
        _ => Ok(()),
    }
}
