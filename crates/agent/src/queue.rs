//! One bounded queue per subscriber.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use outfitter_core::{Durability, Event, EventBody, EventSink};
use tokio::sync::Notify;

/// Ephemeral events that wait for a reader before more are held back where they arise.
const EPHEMERAL_CAPACITY: usize = 256;

/// Bytes of text in them, likewise.
const EPHEMERAL_BYTES: usize = 4 * 1024 * 1024;

/// The events of one run for one subscriber. Ephemeral ones are accepted while there is room; the
/// durable ones, whose number a run bounds, always.
#[derive(Debug, Default)]
pub struct EventQueue {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<Event>>,
    ephemeral: usize,
    bytes: usize,
    closed: bool,
}

impl EventQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// The next event; none after the last one of the run, or once it is closed and empty.
    pub async fn next(&self) -> Option<Arc<Event>> {
        loop {
            let woken = self.wake.notified();
            {
                let mut state = self.lock();
                if let Some(event) = state.events.pop_front() {
                    if event.body.durability() == Durability::Ephemeral {
                        state.ephemeral -= 1;
                        state.bytes -= passing_text(&event.body).len();
                    }
                    if matches!(event.body, EventBody::RunFinished { .. }) {
                        state.closed = true;
                    }
                    return Some(event);
                }
                if state.closed {
                    return None;
                }
            }
            woken.await;
        }
    }

    /// Ends the queue: a run that could not even record its end sends no last event.
    pub fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_waiters();
        self.wake.notify_one();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for EventQueue {
    fn send(&self, event: Arc<Event>) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if event.body.durability() == Durability::Ephemeral {
            state.ephemeral += 1;
            state.bytes += passing_text(&event.body).len();
        }
        state.events.push_back(event);
        drop(state);
        self.wake.notify_one();
    }

    fn has_room(&self) -> bool {
        let state = self.lock();
        state.ephemeral < EPHEMERAL_CAPACITY && state.bytes < EPHEMERAL_BYTES
    }
}

/// The text of an ephemeral event; empty for one that is stored.
#[must_use]
pub fn passing_text(body: &EventBody) -> &str {
    match body {
        EventBody::Delta { text, .. } | EventBody::ToolProgress { text, .. } => text,
        EventBody::RunStarted(_)
        | EventBody::Message(_)
        | EventBody::ToolCall { .. }
        | EventBody::Interrupt(_)
        | EventBody::Answered { .. }
        | EventBody::Warning { .. }
        | EventBody::Usage(_)
        | EventBody::RunFinished { .. } => "",
    }
}

/// Takes events and forgets them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSubscriber;

impl EventSink for NoSubscriber {
    fn send(&self, _: Arc<Event>) {}
}
