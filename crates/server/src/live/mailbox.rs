//! The events of one run for one connection, bounded whatever the connection does.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_agent::passing_text;
use outfitter_core::{CallId, Durability, Event, EventBody, EventSink, Stream};
use tokio::sync::Notify;

/// Ephemeral events that wait before more are held back where they arise, and bytes of their text.
const ROOM: usize = 256;
const ROOM_BYTES: usize = 4 * 1024 * 1024;

/// The same, beyond which they are dropped: reached only by a connection that reads more slowly
/// than others which follow the same run.
const MOST: usize = 4 * ROOM;
const MOST_BYTES: usize = 4 * ROOM_BYTES;

/// Durable events that wait before the connection is given up. They are in the log: whoever comes
/// back with `from_seq` gets them.
const MOST_DURABLE: usize = 16_384;

/// A queue of events for one connection.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<Event>>,
    ephemeral: usize,
    bytes: usize,
    /// What was dropped since the last event of a call and stream, and the last event dropped.
    lost: HashMap<(CallId, Stream), (Arc<Event>, u64)>,
    closed: bool,
}

impl Mailbox {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The next event; none after the last one of the run, or once it is closed and empty.
    pub(crate) async fn next(&self) -> Option<Arc<Event>> {
        loop {
            let woken = self.wake.notified();
            {
                let mut state = self.lock();
                if let Some(event) = state.take() {
                    return Some(event);
                }
                if state.closed {
                    return None;
                }
            }
            woken.await;
        }
    }

    /// Takes no more events; what is in it can still be read.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Arc<Event>> {
        let event = self.events.pop_front()?;
        if event.body.durability() == Durability::Ephemeral {
            self.ephemeral -= 1;
            self.bytes -= passing_text(&event.body).len();
        }
        Some(event)
    }

    fn keep(&mut self, event: Arc<Event>) {
        if event.body.durability() == Durability::Ephemeral {
            self.ephemeral += 1;
            self.bytes += passing_text(&event.body).len();
        }
        self.events.push_back(event);
    }

    fn is_full(&self) -> bool {
        self.ephemeral >= MOST || self.bytes >= MOST_BYTES
    }

    fn put(&mut self, event: Arc<Event>) {
        match &event.body {
            EventBody::ToolProgress {
                tool_call_id,
                stream,
                closed: false,
                text,
                dropped_bytes,
            } => {
                let key = (tool_call_id.clone(), *stream);
                if self.is_full() {
                    let more = text.len() as u64 + dropped_bytes;
                    let lost = self.lost.entry(key).or_insert((event.clone(), 0));
                    *lost = (event.clone(), lost.1 + more);
                    return;
                }
                match self.lost.remove(&key) {
                    Some((_, before)) => self.keep(with_lost(&event, before)),
                    None => self.keep(event),
                }
            }
            EventBody::ToolProgress { tool_call_id, .. } => {
                self.tell_lost(tool_call_id);
                self.keep(event);
            }
            // The whole message follows.
            EventBody::Delta { .. } if self.is_full() => {}
            EventBody::Delta { .. }
            | EventBody::RunStarted(_)
            | EventBody::Message(_)
            | EventBody::ToolCall { .. }
            | EventBody::Interrupt(_)
            | EventBody::Answered { .. }
            | EventBody::Warning { .. }
            | EventBody::Usage(_)
            | EventBody::RunFinished { .. } => self.keep(event),
        }
    }

    /// Says what was lost of a call that prints nothing more.
    fn tell_lost(&mut self, call: &CallId) {
        let of_call = self.lost.keys().filter(|(id, _)| id == call);
        let keys: Vec<_> = of_call.cloned().collect();
        let mut events: Vec<Arc<Event>> = keys
            .iter()
            .filter_map(|key| self.lost.remove(key))
            .map(|(event, bytes)| only_lost(&event, bytes))
            .collect();
        events.sort_by_key(|event| event.seq);
        for event in events {
            self.keep(event);
        }
    }
}

impl EventSink for Mailbox {
    fn send(&self, event: Arc<Event>) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.events.len() - state.ephemeral >= MOST_DURABLE {
            *state = State {
                closed: true,
                ..State::default()
            };
        } else {
            let last = matches!(event.body, EventBody::RunFinished { .. });
            state.put(event);
            state.closed = last;
        }
        drop(state);
        self.wake.notify_one();
    }

    fn has_room(&self) -> bool {
        let state = self.lock();
        state.closed || state.ephemeral < ROOM && state.bytes < ROOM_BYTES
    }
}

fn with_lost(event: &Event, more: u64) -> Arc<Event> {
    let mut event = event.clone();
    if let EventBody::ToolProgress { dropped_bytes, .. } = &mut event.body {
        *dropped_bytes += more;
    }
    Arc::new(event)
}

fn only_lost(event: &Event, lost: u64) -> Arc<Event> {
    let mut event = event.clone();
    if let EventBody::ToolProgress {
        text,
        dropped_bytes,
        ..
    } = &mut event.body
    {
        text.clear();
        *dropped_bytes = lost;
    }
    Arc::new(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{EventSeq, RunId, SessionId, UnixMs};

    fn progress(seq: u64, text: &str, closed: bool) -> Arc<Event> {
        Arc::new(Event {
            seq: EventSeq(seq),
            at: UnixMs(0),
            session: SessionId::new("s").unwrap(),
            run: RunId::new("r").unwrap(),
            via: None,
            body: EventBody::ToolProgress {
                tool_call_id: CallId::new("c").unwrap(),
                text: text.to_owned(),
                stream: if closed { Stream::Info } else { Stream::Stdout },
                closed,
                dropped_bytes: 0,
            },
        })
    }

    #[tokio::test]
    async fn what_a_slow_connection_misses_is_counted_and_said_before_the_call_closes() {
        let mailbox = Mailbox::new();
        let (mut sent, mut seq) = (0, 0);
        while seq < (MOST as u64) + 50 {
            seq += 1;
            sent += 10;
            mailbox.send(progress(seq, "0123456789", false));
        }
        mailbox.send(progress(seq + 1, "", true));
        mailbox.close();
        let (mut told, mut lost, mut last, mut closed) = (0, 0, 0, false);
        while let Some(event) = mailbox.next().await {
            assert!(event.seq.0 > last, "numbers rise");
            assert!(!closed, "nothing follows closed");
            last = event.seq.0;
            if let EventBody::ToolProgress {
                text,
                closed: now,
                dropped_bytes,
                ..
            } = &event.body
            {
                told += text.len() as u64;
                lost += dropped_bytes;
                closed = *now;
            }
        }
        assert!(closed && lost == 500, "{lost}");
        assert_eq!(told + lost, sent);
    }

    #[tokio::test]
    async fn a_connection_that_reads_again_is_told_with_the_next_piece() {
        let mailbox = Mailbox::new();
        for seq in 1..=(MOST as u64) + 2 {
            mailbox.send(progress(seq, "ab", false));
        }
        mailbox.next().await.unwrap();
        mailbox.send(progress(9_999, "cd", false));
        mailbox.close();
        let mut last = None;
        while let Some(event) = mailbox.next().await {
            last = Some(event);
        }
        let EventBody::ToolProgress { dropped_bytes, .. } = last.unwrap().body else {
            panic!("no progress");
        };
        assert_eq!(dropped_bytes, 4);
    }

    #[tokio::test]
    async fn a_connection_that_does_not_read_at_all_is_given_up() {
        let mailbox = Mailbox::new();
        for seq in 1..=(MOST_DURABLE as u64) + 1 {
            mailbox.send(Arc::new(Event {
                body: EventBody::Usage(outfitter_core::TokenUsage::default()),
                ..(*progress(seq, "", false)).clone()
            }));
        }
        assert!(mailbox.next().await.is_none());
    }
}
