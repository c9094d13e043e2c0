//! What a tool is given besides its arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::{
    ArtifactStore, CallId, Clock, Principal, Progress, RefusingArtifacts, RefusingSandbox, Role,
    RunId, Sandbox, Services, SessionId, SystemClock, ToolError,
};

/// A signal to stop. Stopping a parent stops its children.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    token: CancellationToken,
    whence: Whence,
}

/// Whether it can be told where a stop came from.
#[derive(Debug, Clone, Default)]
enum Whence {
    /// It cannot: to stop is to call off.
    #[default]
    Untold,
    /// It can, and to stop this one is to call off.
    Own(Arc<Stopped>),
    /// It can, by what this one is part of.
    Inherited(Arc<Stopped>),
}

#[derive(Debug)]
struct Stopped {
    parent: CancellationToken,
    called_off: AtomicBool,
}

impl Cancel {
    /// A signal of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that also stops with this one.
    #[must_use]
    pub fn child(&self) -> Self {
        let whence = match &self.whence {
            Whence::Untold => Whence::Untold,
            Whence::Own(stopped) | Whence::Inherited(stopped) => Whence::Inherited(stopped.clone()),
        };
        Self {
            token: self.token.child_token(),
            whence,
        }
    }

    /// The same, for what goes on later where it stops only because this one does: see
    /// [`is_interrupted`](Self::is_interrupted).
    #[must_use]
    pub fn interruptible(&self) -> Self {
        Self {
            token: self.token.child_token(),
            whence: Whence::Own(Arc::new(Stopped {
                parent: self.token.clone(),
                called_off: AtomicBool::new(false),
            })),
        }
    }

    /// Stops.
    pub fn cancel(&self) {
        if let Whence::Own(stopped) = &self.whence
            && !self.token.is_cancelled()
        {
            stopped.called_off.store(true, Ordering::Release);
        }
        self.token.cancel();
    }

    /// Whether it has stopped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Whether nobody called it off: what it is [part of](Self::interruptible) has stopped, as a
    /// server does, and it is to go on when that starts again.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        match &self.whence {
            Whence::Untold => false,
            Whence::Own(stopped) | Whence::Inherited(stopped) => {
                stopped.parent.is_cancelled() && !stopped.called_off.load(Ordering::Acquire)
            }
        }
    }

    /// Ends when it stops.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_called_off_is_not_interrupted_by_a_later_stop() {
        let server = Cancel::new();
        let (called_off, stopped) = (server.interruptible(), server.interruptible());
        let call = called_off.child();
        called_off.cancel();
        assert!(call.is_cancelled() && !call.is_interrupted());
        server.cancel();
        assert!(!called_off.is_interrupted() && !call.is_interrupted());
        assert!(stopped.is_cancelled() && stopped.is_interrupted());
    }

    #[test]
    fn who_hangs_up_while_the_server_stops_calls_nothing_off() {
        let server = Cancel::new();
        let run = server.interruptible();
        let call = run.child();
        server.cancel();
        run.cancel();
        assert!(run.is_interrupted() && call.is_interrupted());
    }

    #[test]
    fn a_call_whose_time_is_up_calls_no_run_off() {
        let server = Cancel::new();
        let run = server.interruptible();
        let call = run.child();
        call.cancel();
        assert!(call.is_cancelled() && !run.is_cancelled() && !call.is_interrupted());
        server.cancel();
        assert!(run.is_interrupted());
    }

    #[test]
    fn what_no_server_made_is_never_interrupted() {
        let parent = Cancel::new();
        let child = parent.child();
        parent.cancel();
        assert!(child.is_cancelled() && !child.is_interrupted());
    }
}
