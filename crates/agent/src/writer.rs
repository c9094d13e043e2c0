//! The one writer of a session's log during a run. What it records is stored first, then shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use outfitter_core::{
    Append, CallId, Clock, EntryBody, EventBody, EventSeq, EventSink, Fence, Journal, JournalError,
    Log, NewEntry, Progress, RunId, Scope, SessionId,
};
use tokio::sync::Mutex;

use crate::emitter::Emitter;
use crate::next::{Limits, Next, next};
use crate::progress::{ProgressHub, ProgressSettings};
use crate::turn_log::TurnLog;

/// What a writer is made of.
pub(crate) struct WriterParts {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) progress: ProgressSettings,
}

/// Appends for one run, in turn. The lock is the turn: an append is what it protects, so it is
/// held across it, and nothing else ever waits while holding it.
pub(crate) struct Writer {
    log: Arc<dyn Log>,
    scope: Scope,
    session: SessionId,
    run: RunId,
    clock: Arc<dyn Clock>,
    emitter: Arc<Emitter>,
    progress: ProgressHub,
    fence: Fence,
    folded: Mutex<TurnLog>,
    /// Whether answers that others hand in are recorded: from when the run has begun until it has
    /// seen that there is nothing to do. Changed and asked only with the turn.
    takes_answers: AtomicBool,
}

impl Writer {
    /// A writer that takes the session over from whoever wrote before.
    pub(crate) fn new(parts: WriterParts, folded: TurnLog) -> Self {
        let WriterParts {
            log,
            scope,
            session,
            run,
            clock,
            sink,
            progress,
        } = parts;
        let emitter = Arc::new(Emitter::new(
            session.clone(),
            run.clone(),
            clock.clone(),
            sink,
        ));
        let progress = ProgressHub::new(progress, emitter.clone());
        let fence = Fence(folded.fence.0 + 1);
        let folded = Mutex::new(folded);
        Self {
            log,
            scope,
            session,
            run,
            clock,
            emitter,
            progress,
            fence,
            folded,
            takes_answers: AtomicBool::new(false),
        }
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Shows an ephemeral event if that can be done now; else gives it back to be merged.
    #[must_use]
    pub(crate) fn try_show(&self, body: EventBody) -> Option<EventBody> {
        self.emitter.try_show(body)
    }

    /// Shows an ephemeral event, now or as soon as what is being stored is shown.
    pub(crate) fn show(&self, body: EventBody) {
        self.emitter.show(body);
    }

    /// Shows progress when it is due. Runs beside the run and never ends.
    pub(crate) async fn flush_progress(&self) -> std::convert::Infallible {
        self.progress.flush_when_due().await
    }

    /// Looks at the fold of the log as it stands.
    pub(crate) async fn folded<T>(&self, look: impl FnOnce(&mut TurnLog) -> T) -> T {
        look(&mut *self.folded.lock().await)
    }

    /// From now on answers are taken, or not any more.
    pub(crate) async fn take_answers(&self, takes: bool) {
        let _turn = self.folded.lock().await;
        self.takes_answers.store(takes, Ordering::Relaxed);
    }

    /// What is next. Where that is an end, no answer is taken any more: who hands one in makes the
    /// next run.
    pub(crate) async fn next(&self, limits: &Limits) -> Next {
        let folded = self.folded.lock().await;
        let next = next(&folded, limits);
        if matches!(next, Next::Wait(_) | Next::Finish(_)) {
            self.takes_answers.store(false, Ordering::Relaxed);
        }
        next
    }

    /// Records what `entries` makes of the log as it stands, if answers are taken now.
    pub(crate) async fn record_answer<E: From<JournalError>>(
        &self,
        entries: impl FnOnce(&TurnLog) -> Result<Vec<EntryBody>, E>,
    ) -> Result<bool, E> {
        let mut folded = self.folded.lock().await;
        if !self.takes_answers.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let entries = entries(&folded)?;
        self.record_in(&mut folded, entries).await?;
        Ok(true)
    }

    /// The fold of the log, when the run is over.
    pub(crate) async fn take_log(&self) -> TurnLog {
        std::mem::take(&mut *self.folded.lock().await)
    }

    /// Appends entries of runs that broke off. Nothing is shown: their subscribers are gone.
    pub(crate) async fn record_broken_off(
        &self,
        entries: Vec<NewEntry>,
    ) -> Result<(), JournalError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.append(&mut *self.folded.lock().await, entries).await?;
        Ok(())
    }

    async fn record_in(
        &self,
        folded: &mut TurnLog,
        bodies: Vec<EntryBody>,
    ) -> Result<(), JournalError> {
        let at = self.clock.now();
        let is_shown = |body: &EntryBody| matches!(body, EntryBody::Event(_));
        let many = bodies.iter().filter(|body| is_shown(body)).count();
        let first = self.emitter.reserve(many);
        let mut number = first.0;
        let entries = bodies
            .into_iter()
            .map(|body| {
                let event = is_shown(&body).then(|| {
                    number += 1;
                    EventSeq(number - 1)
                });
                NewEntry {
                    run: self.run.clone(),
                    at,
                    event,
                    body,
                }
            })
            .collect();
        match self.append(folded, entries).await {
            Ok(stored) => {
                let shown = stored.into_iter().filter_map(|entry| shown(entry.body));
                self.emitter.stored(first, at, shown);
            }
            Err(error) => {
                self.emitter.not_stored(first);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn append(
        &self,
        folded: &mut TurnLog,
        entries: Vec<NewEntry>,
    ) -> Result<Vec<NewEntry>, JournalError> {
        let place = (&self.scope, &self.session);
        append(&*self.log, place, self.fence, folded, entries).await
    }
}

/// Appends to a session, and to the fold of its log. Gives back what was appended.
pub(crate) async fn append(
    log: &dyn Log,
    (scope, session): (&Scope, &SessionId),
    fence: Fence,
    folded: &mut TurnLog,
    entries: Vec<NewEntry>,
) -> Result<Vec<NewEntry>, JournalError> {
    let append = Append {
        session,
        expected: folded.head,
        fence,
        entries: entries.clone(),
    };
    log.append(scope, append).await.inspect_err(|error| {
        tracing::warn!(%error, %session, "an append was refused");
    })?;
    folded.fence = fence;
    for entry in &entries {
        folded.apply(&entry.run, entry.event, &entry.body);
    }
    Ok(entries)
}

/// What is shown of an entry.
fn shown(body: EntryBody) -> Option<EventBody> {
    match body {
        EntryBody::Event(event) => Some(event),
        EntryBody::Request(_)
        | EntryBody::Intent(_)
        | EntryBody::Answer(_)
        | EntryBody::Activated(_)
        | EntryBody::Suggested(_)
        | EntryBody::Workflow(_) => None,
    }
}

#[async_trait]
impl Journal for Writer {
    async fn record(&self, bodies: Vec<EntryBody>) -> Result<(), JournalError> {
        self.record_in(&mut *self.folded.lock().await, bodies).await
    }

    fn progress(&self, call: &CallId) -> Progress {
        self.progress.open(call)
    }

    fn close_progress(&self, call: &CallId) {
        self.progress.close(call);
    }
}
