//! Numbers the events of one run and hands them on in that order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{Clock, Event, EventBody, EventSeq, EventSink, RunId, SessionId, UnixMs};

/// Numbers and shows. While durable events are being stored they own the next numbers, so
/// ephemeral ones wait: the order of numbers is the order of showing.
pub(crate) struct Emitter {
    session: SessionId,
    run: RunId,
    clock: Arc<dyn Clock>,
    sink: Arc<dyn EventSink>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The number of the last event.
    last: u64,
    /// Whether numbers are reserved for events that are being stored.
    storing: bool,
    /// Ephemeral events that must not be lost and came meanwhile.
    held: Vec<EventBody>,
}

impl Emitter {
    pub(crate) fn new(
        session: SessionId,
        run: RunId,
        clock: Arc<dyn Clock>,
        sink: Arc<dyn EventSink>,
    ) -> Self {
        Self {
            session,
            run,
            clock,
            sink,
            state: Mutex::default(),
        }
    }

    /// Shows an ephemeral event, now or as soon as what is being stored is shown.
    pub(crate) fn show(&self, body: EventBody) {
        let mut state = self.lock();
        if state.storing {
            state.held.push(body);
        } else {
            self.send(&mut state, body, self.clock.now());
        }
    }

    /// Shows an ephemeral event if that can be done now; else gives it back to be merged.
    #[must_use]
    pub(crate) fn try_show(&self, body: EventBody) -> Option<EventBody> {
        if !self.sink.has_room() {
            return Some(body);
        }
        let mut state = self.lock();
        if state.storing {
            return Some(body);
        }
        self.send(&mut state, body, self.clock.now());
        None
    }

    /// Reserves the next `count` numbers and gives the first. The reservation ends with
    /// [`Emitter::stored`] or [`Emitter::not_stored`]; callers hold the log's turn meanwhile.
    pub(crate) fn reserve(&self, count: usize) -> EventSeq {
        let mut state = self.lock();
        state.storing = true;
        let first = state.last + 1;
        state.last += count as u64;
        EventSeq(first)
    }

    /// Shows the events whose numbers were reserved, then what waited.
    pub(crate) fn stored(
        &self,
        first: EventSeq,
        at: UnixMs,
        bodies: impl Iterator<Item = EventBody>,
    ) {
        let mut state = self.lock();
        for (number, body) in (first.0..).zip(bodies) {
            self.hand_on(EventSeq(number), at, body);
        }
        self.release(&mut state);
    }

    /// Gives the numbers back: nothing was stored.
    pub(crate) fn not_stored(&self, first: EventSeq) {
        let mut state = self.lock();
        state.last = first.0 - 1;
        self.release(&mut state);
    }

    fn release(&self, state: &mut State) {
        state.storing = false;
        if state.held.is_empty() {
            return;
        }
        let now = self.clock.now();
        for body in std::mem::take(&mut state.held) {
            self.send(state, body, now);
        }
    }

    fn send(&self, state: &mut State, body: EventBody, at: UnixMs) {
        state.last += 1;
        self.hand_on(EventSeq(state.last), at, body);
    }

    fn hand_on(&self, seq: EventSeq, at: UnixMs, body: EventBody) {
        self.sink.send(Arc::new(Event {
            seq,
            at,
            session: self.session.clone(),
            run: self.run.clone(),
            via: None,
            body,
        }));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
