//! What a tool is given besides its arguments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::{
    ArtifactStore, CallId, Clock, Principal, Progress, RefusingArtifacts, RefusingSandbox, Role,
    RunId, Sandbox, Services, SessionId, SystemClock, ToolError,
};

/// A signal to stop. Stopping a parent stops its children.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// A signal of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that also stops with this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Stops.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it has stopped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Ends when it stops.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

/// When a call must be over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Never.
    pub const NEVER: Self = Self(None);

    /// After this span from now.
    #[must_use]
    pub fn after(span: Duration) -> Self {
        Self(Instant::now().checked_add(span))
    }

    /// The instant, unless it is never.
    #[must_use]
    pub fn instant(self) -> Option<Instant> {
        self.0
    }

    /// What is left of it; none for never.
    #[must_use]
    pub fn remaining(self) -> Option<Duration> {
        self.0
            .map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// The earlier of the two.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (a, b) => Self(a.or(b)),
        }
    }
}

/// Whether somebody can answer while the call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// Somebody can.
    Yes,
    /// Nobody can.
    No,
}

/// What a tool is given besides its arguments.
#[derive(Clone)]
pub struct ToolContext {
    /// Who acts.
    pub who: Arc<Principal>,
    /// In which session.
    pub session: SessionId,
    /// In which run.
    pub run: RunId,
    /// By which call.
    pub call: CallId,
    /// Stops when the call is cancelled or its deadline passes.
    pub cancel: Cancel,
    /// When the call must be over.
    pub deadline: Deadline,
    /// For showing what happens meanwhile.
    pub progress: Progress,
    /// Where commands run and files live.
    pub sandbox: Arc<dyn Sandbox>,
    /// Where large content is kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Whether somebody can answer.
    pub attended: Attended,
    /// Optional seams.
    pub services: Services,
}

impl ToolContext {
    /// A context that stands alone: in memory, with seams that refuse, progress that nobody reads.
    ///
    #[must_use]
    pub fn detached() -> Self {
        let clock = Arc::new(SystemClock);
        Self {
            who: Arc::new(Principal {
                tenant: "local".into(),
                subject: "local".into(),
                role: Role::Guest,
                channel: "detached".into(),
                stream: None,
            }),
            session: SessionId::mint(&*clock),
            run: RunId::mint(&*clock),
            call: CallId::mint(&*clock),
            cancel: Cancel::new(),
            deadline: Deadline::NEVER,
            progress: Progress::nowhere(),
            sandbox: Arc::new(RefusingSandbox::new()),
            artifacts: Arc::new(RefusingArtifacts),
            clock,
            attended: Attended::No,
            services: Services::default(),
        }
    }

    /// An optional seam; a missing one is the tool's `unavailable`.
    ///
    /// # Errors
    /// [`ToolError`] with code `unavailable`, naming `what`.
    pub fn service<T: ?Sized + Send + Sync + 'static>(
        &self,
        what: &str,
    ) -> Result<Arc<T>, ToolError> {
        self.services.need(what)
    }
}
