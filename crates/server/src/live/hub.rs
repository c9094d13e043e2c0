//! One run, told to whoever follows it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use outfitter_core::{Event, EventBody, EventSink, RunId};
use tokio::sync::oneshot;

use super::mailbox::Mailbox;
use crate::problem::Problem;

/// Whether there is a run, said once.
pub(crate) type Begun = oneshot::Receiver<Result<RunId, Problem>>;

/// Hands the events of a run to its followers. The last event is held back until the run has given
/// its session free, so that whoever reads it can answer at once.
pub(crate) struct Hub {
    run: OnceLock<RunId>,
    on_begin: Box<dyn Fn(&RunId) + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    begun: Option<oneshot::Sender<Result<RunId, Problem>>>,
    followers: Vec<Arc<Mailbox>>,
    /// Who made the run from outside of this crate, and hears of it in their own way.
    outside: Option<Arc<dyn EventSink>>,
    last: Option<Arc<Event>>,
    /// Why there is no last event, where a run that had begun could not record its end.
    failed: Option<Problem>,
    over: bool,
}

impl Hub {
    /// A hub that calls `on_begin` with the id of the run before anybody hears of it.
    pub(crate) fn new(on_begin: Box<dyn Fn(&RunId) + Send + Sync>) -> (Arc<Self>, Begun) {
        let (begun, told) = oneshot::channel();
        let hub = Self {
            run: OnceLock::new(),
            on_begin,
            state: Mutex::new(State {
                begun: Some(begun),
                followers: Vec::new(),
                outside: None,
                last: None,
                failed: None,
                over: false,
            }),
        };
        (Arc::new(hub), told)
    }

    /// The run, once it has begun.
    pub(crate) fn run(&self) -> Option<&RunId> {
        self.run.get()
    }

    /// A mailbox for what happens from now on; none once the run is over.
    pub(crate) fn follow(&self) -> Option<Arc<Mailbox>> {
        let mut state = self.lock();
        if state.over {
            return None;
        }
        let mailbox = Mailbox::new();
        state.followers.push(mailbox.clone());
        Some(mailbox)
    }

    /// Tells `outside` too, from now on.
    pub(crate) fn tell(&self, outside: Arc<dyn EventSink>) {
        self.lock().outside = Some(outside);
    }

    /// Takes a mailbox out.
    pub(crate) fn leave(&self, mailbox: &Arc<Mailbox>) {
        let mut state = self.lock();
        state
            .followers
            .retain(|follower| !Arc::ptr_eq(follower, mailbox));
    }

    /// There is no run.
    pub(crate) fn refuse(&self, problem: Problem) {
        if let Some(begun) = self.lock().begun.take() {
            let _ = begun.send(Err(problem));
        }
    }

    /// There is no run, or none of whose end the log tells.
    pub(crate) fn fail(&self, problem: Problem) {
        let mut state = self.lock();
        match state.begun.take() {
            Some(begun) => drop(begun.send(Err(problem))),
            None => state.failed = Some(problem),
        }
    }

    /// Why the events break off without a last one.
    pub(crate) fn failure(&self) -> Option<Problem> {
        self.lock().failed.clone()
    }

    /// The session is free: the last event is told, and nothing more comes.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        state.over = true;
        let last = state.last.take();
        if let (Some(outside), Some(last)) = (state.outside.take(), &last) {
            outside.send(last.clone());
        }
        for follower in std::mem::take(&mut state.followers) {
            if let Some(last) = &last {
                follower.send(last.clone());
            }
            follower.close();
        }
        state.begun = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Hub {
    fn send(&self, event: Arc<Event>) {
        if self.run.get().is_none() {
            let _ = self.run.set(event.run.clone());
            (self.on_begin)(&event.run);
        }
        let mut state = self.lock();
        if let Some(begun) = state.begun.take() {
            let _ = begun.send(Ok(event.run.clone()));
        }
        if matches!(event.body, EventBody::RunFinished { .. }) {
            state.last = Some(event);
            return;
        }
        for follower in &state.followers {
            follower.send(event.clone());
        }
        if let Some(outside) = &state.outside {
            outside.send(event);
        }
    }

    /// The run goes at the pace of its fastest follower; a slower one is told what it missed.
    fn has_room(&self) -> bool {
        let state = self.lock();
        let outside = state.outside.as_deref().map(EventSink::has_room);
        let mailboxes = state.followers.iter().map(|follower| follower.has_room());
        let mut rooms = mailboxes.chain(outside).peekable();
        rooms.peek().is_none() || rooms.any(|has_room| has_room)
    }
}
