//! What a call needs to know of the run it belongs to.

use std::sync::Arc;

use outfitter_core::{
    ArtifactStore, Attended, CallId, Cancel, Clock, Deadline, Journal, Principal, RunId, Sandbox,
    Services, SessionId, ToolContext,
};

/// A run, as its calls see it. Cloning copies pointers.
#[derive(Clone)]
pub struct RunHandle {
    /// Who acts.
    pub who: Arc<Principal>,
    /// In which session.
    pub session: SessionId,
    /// Which run.
    pub run: RunId,
    /// Whether somebody can answer while it runs.
    pub attended: Attended,
    /// Stops the whole run.
    pub cancel: Cancel,
    /// When the whole run must be over.
    pub deadline: Deadline,
    /// Where what happens is recorded and shown.
    pub journal: Arc<dyn Journal>,
    /// Where commands run and files live.
    pub sandbox: Arc<dyn Sandbox>,
    /// Where large content is kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Optional seams.
    pub services: Services,
}

impl RunHandle {
    /// The context of one call, which must be over at `deadline` and stops with `cancel`.
    pub(crate) fn context(&self, call: &CallId, cancel: Cancel, deadline: Deadline) -> ToolContext {
        ToolContext {
            who: self.who.clone(),
            session: self.session.clone(),
            run: self.run.clone(),
            call: call.clone(),
            cancel,
            deadline,
            progress: self.journal.progress(call),
            sandbox: self.sandbox.clone(),
            artifacts: self.artifacts.clone(),
            clock: self.clock.clone(),
            attended: self.attended,
            services: self.services.clone(),
        }
    }
}
