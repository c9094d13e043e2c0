//! Live progress: merged by time and size, whole UTF-8, in the order it was printed, bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{CallId, EventBody, Progress, ProgressSink, Stream};
use outfitter_text::utf8::Utf8Carry;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::emitter::Emitter;

/// Bytes of one call that wait for a reader; what comes beyond them is counted and dropped.
const BUFFER_MAX: usize = 1024 * 1024;

/// How often a held-back flush is tried again while the reader has no room.
const RETRY: Duration = Duration::from_millis(20);

/// How progress is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressSettings {
    /// Whether there is any.
    pub enabled: bool,
    /// For how long small pieces are gathered; zero shows each at once.
    pub flush_interval: Duration,
    /// How many gathered bytes are shown without waiting.
    pub flush_bytes: usize,
}

impl Default for ProgressSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            flush_interval: Duration::from_millis(50),
            flush_bytes: 16 * 1024,
        }
    }
}

/// The progress of all calls of a run.
pub(crate) struct ProgressHub {
    settings: ProgressSettings,
    emitter: Arc<Emitter>,
    calls: Mutex<HashMap<CallId, Arc<CallProgress>>>,
    wake: Arc<Notify>,
}

impl ProgressHub {
    pub(crate) fn new(settings: ProgressSettings, emitter: Arc<Emitter>) -> Self {
        Self {
            settings,
            emitter,
            calls: Mutex::default(),
            wake: Arc::new(Notify::new()),
        }
    }

    /// The progress of one call.
    pub(crate) fn open(&self, call: &CallId) -> Progress {
        if !self.settings.enabled {
            return Progress::nowhere();
        }
        let progress = Arc::new(CallProgress {
            call: call.clone(),
            settings: self.settings,
            emitter: self.emitter.clone(),
            wake: self.wake.clone(),
            state: Mutex::default(),
        });
        lock(&self.calls).insert(call.clone(), progress.clone());
        Progress::into(progress)
    }

    /// Shows the rest of a call's progress and its closing event, if it showed anything.
    pub(crate) fn close(&self, call: &CallId) {
        let Some(progress) = lock(&self.calls).remove(call) else {
            return;
        };
        progress.end();
    }

    /// Shows what has waited long enough. Runs beside the run and never ends.
    pub(crate) async fn flush_when_due(&self) -> std::convert::Infallible {
        loop {
            let woken = self.wake.notified();
            let now = Instant::now();
            let open: Vec<_> = lock(&self.calls).values().cloned().collect();
            let next = open.iter().filter_map(|call| call.flush_if_due(now)).min();
            match next {
                Some(at) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(at) => {}
                        () = woken => {}
                    }
                }
                None => woken.await,
            }
        }
    }
}

struct CallProgress {
    call: CallId,
    settings: ProgressSettings,
    emitter: Arc<Emitter>,
    wake: Arc<Notify>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Runs of text by stream, in the order they were printed.
    pieces: Vec<Piece>,
    bytes: usize,
    /// When the oldest piece must be shown.
    due: Option<Instant>,
    /// Whether the reader had no room; what is gathered then waits for the next try.
    blocked: bool,
    carry: HashMap<Stream, Utf8Carry>,
    dropped: HashMap<Stream, u64>,
    shown: bool,
    closed: bool,
}

struct Piece {
    stream: Stream,
    text: String,
    /// Bytes lost before this piece.
    dropped: u64,
}

impl State {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if self.bytes + bytes.len() > BUFFER_MAX {
            self.drop_bytes(stream, bytes.len() as u64);
            return;
        }
        let text = self
            .carry
            .entry(stream)
            .or_default()
            .decode(bytes)
            .into_owned();
        self.add(stream, &text);
    }

    /// Counts what is lost. The character in the making is lost too: what comes next does not
    /// continue it.
    fn drop_bytes(&mut self, stream: Stream, bytes: u64) {
        let begun = self.carry.remove(&stream).map_or(0, |carry| carry.held());
        *self.dropped.entry(stream).or_default() += bytes + begun;
    }

    fn add(&mut self, stream: Stream, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        let dropped = self.dropped.remove(&stream).unwrap_or_default();
        match self.pieces.last_mut() {
            Some(last) if last.stream == stream && dropped == 0 => last.text.push_str(text),
            _ => self.pieces.push(Piece {
                stream,
                text: text.to_owned(),
                dropped,
            }),
        }
    }
}

impl CallProgress {
    /// Shows what is gathered; what the reader has no room for stays gathered.
    fn flush(&self, state: &mut State) {
        let mut pieces = std::mem::take(&mut state.pieces).into_iter();
        state.bytes = 0;
        state.due = None;
        for piece in pieces.by_ref() {
            let (stream, dropped) = (piece.stream, piece.dropped);
            if let Some(body) = self.emitter.try_show(self.event(piece, false)) {
                if let EventBody::ToolProgress { text, .. } = body {
                    state.pieces.push(Piece {
                        stream,
                        text,
                        dropped,
                    });
                }
                break;
            }
            state.shown = true;
        }
        state.pieces.extend(pieces);
        state.bytes = state.pieces.iter().map(|piece| piece.text.len()).sum();
        state.blocked = !state.pieces.is_empty();
        if state.blocked {
            state.due = Some(Instant::now() + RETRY);
            self.wake.notify_one();
        }
    }

    fn flush_if_due(&self, now: Instant) -> Option<Instant> {
        let mut state = lock(&self.state);
        if state.due.is_some_and(|due| due <= now) {
            self.flush(&mut state);
        }
        state.due
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.closed, true) {
            return;
        }
        let mut carry: Vec<_> = state.carry.drain().collect();
        carry.sort_unstable_by_key(|(stream, _)| *stream);
        for (stream, mut carry) in carry {
            let rest = carry.finish();
            state.add(stream, rest);
        }
        for piece in std::mem::take(&mut state.pieces) {
            self.emitter.show(self.event(piece, false));
            state.shown = true;
        }
        let mut lost: Vec<_> = state.dropped.drain().collect();
        lost.sort_unstable();
        for (stream, dropped) in lost {
            self.emitter.show(self.event(
                Piece {
                    stream,
                    text: String::new(),
                    dropped,
                },
                false,
            ));
            state.shown = true;
        }
        if state.shown {
            let closing = Piece {
                stream: Stream::Info,
                text: String::new(),
                dropped: 0,
            };
            self.emitter.show(self.event(closing, true));
        }
    }

    fn event(&self, piece: Piece, closed: bool) -> EventBody {
        EventBody::ToolProgress {
            tool_call_id: self.call.clone(),
            text: piece.text,
            stream: piece.stream,
            closed,
            dropped_bytes: piece.dropped,
        }
    }
}

impl ProgressSink for CallProgress {
    fn emit(&self, stream: Stream, bytes: &[u8]) {
        let mut state = lock(&self.state);
        if state.closed {
            return;
        }
        state.push(stream, bytes);
        let at_once = self.settings.flush_interval.is_zero();
        if !state.blocked && (at_once || state.bytes >= self.settings.flush_bytes) {
            self.flush(&mut state);
        } else if state.due.is_none() && !state.pieces.is_empty() {
            state.due = Some(Instant::now() + self.settings.flush_interval);
            drop(state);
            self.wake.notify_one();
        }
    }

    fn lost(&self, stream: Stream, bytes: u64) {
        let mut state = lock(&self.state);
        if !state.closed {
            // What was begun is not what comes next.
            state.drop_bytes(stream, bytes);
        }
    }

    fn close(&self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
