//! What a thread's log says: what a client may know, which runs there were, what waits, what was
//! answered, how it ended.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_codec::agui::{InputMessage, Transcript};
use outfitter_core::{
    Answer, Code, EntryBody, ErrorInfo, EventBody, Hash, InterruptId, Log, MessageRole, RunOutcome,
    Seq, StoreError,
};

use crate::entries::PAGE;
use crate::live::Place;
use crate::problem::Problem;

/// Threads whose history is kept for their next run, so that a turn costs the same however long
/// the thread is. The one used longest ago goes first.
const REMEMBERED: usize = 16;

/// A thread, as its log tells it.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    pub(super) transcript: Transcript,
    /// The ids of all messages; of the person's also what they say.
    messages: Arc<HashMap<String, Option<Hash>>>,
    /// The ids that clients gave their runs.
    client_runs: Arc<HashSet<String>>,
    /// What was answered.
    pub(super) answers: Arc<HashMap<InterruptId, Answer>>,
    /// The end of the last run.
    pub(super) end: Option<EventBody>,
    /// Whether the last turn has no answer, so that it can go on.
    pub(super) unfinished: bool,
    /// The place of the last entry taken in.
    head: Seq,
    /// Whether the last run is a call without a model, which is no part of a turn.
    direct: bool,
}

/// The histories of the threads used last.
#[derive(Default)]
pub(crate) struct Histories(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    threads: HashMap<Place, (History, u64)>,
    uses: u64,
}

impl Histories {
    /// What the log says now: what was known, and the entries since.
    pub(super) async fn read(&self, log: &dyn Log, place: &Place) -> Result<History, StoreError> {
        let known = self.lock().threads.remove(place);
        let history = known.map(|(history, _)| history).unwrap_or_default();
        let history = history.read_on(log, place).await?;
        self.keep(place, history.clone());
        Ok(history)
    }

    /// Looks once more, now that the session is held, whether the thread has had a run of this id:
    /// another server over the same log may have made it since it was looked for.
    pub(crate) async fn new_run(
        &self,
        log: &dyn Log,
        place: &Place,
        id: &str,
    ) -> Result<(), Problem> {
        match self.read(log, place).await?.has_run(id) {
            true => Err(had_already(id)),
            false => Ok(()),
        }
    }

    /// The thread was deleted.
    pub(crate) fn forget(&self, place: &Place) {
        self.lock().threads.remove(place);
    }

    fn keep(&self, place: &Place, history: History) {
        let mut kept = self.lock();
        kept.uses += 1;
        let used = kept.uses;
        kept.threads.insert(place.clone(), (history, used));
        if kept.threads.len() > REMEMBERED {
            let oldest = kept.threads.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(place, _)| place.clone());
            oldest.and_then(|oldest| kept.threads.remove(&oldest));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run of this id was made before.
pub(super) fn had_already(id: &str) -> Problem {
    let error = format!("the thread has had a run {id} already");
    Problem::from(ErrorInfo::new(Code::Conflict, error)).hint("give each run an id of its own")
}

impl History {
    /// Whether a message of a client is one that the person has said here before. A client that
    /// takes an id for other words says something new.
    pub(super) fn knows(&self, message: &InputMessage) -> bool {
        let id = message.id.as_deref();
        let words = id.and_then(|id| self.messages.get(id).copied().flatten());
        words.is_some_and(|words| words == Hash::of(message.text.trim()))
    }

    /// Whether a message has the id already.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.messages.contains_key(id)
    }

    /// Whether the thread has had a run of this id, which its client gave it.
    pub(super) fn has_run(&self, id: &str) -> bool {
        self.client_runs.contains(id)
    }

    async fn read_on(mut self, log: &dyn Log, place: &Place) -> Result<Self, StoreError> {
        loop {
            let (scope, session) = (&place.scope, &place.session);
            let page = match log.read(scope, session, self.head.plus(1), PAGE).await {
                Ok(page) => page,
                // Not made yet, or deleted since it was known.
                Err(StoreError::NotFound(_)) => return Ok(Self::default()),
                Err(error) => return Err(error),
            };
            if page.head < self.head {
                // Deleted and made anew since it was known.
                self = Self::default();
                continue;
            }
            for entry in &page.entries {
                self.apply(&entry.body);
                self.head = entry.seq;
            }
            if page.next.is_none() {
                return Ok(self);
            }
        }
    }

    fn apply(&mut self, body: &EntryBody) {
        match body {
            EntryBody::Event(event) => {
                self.transcript.apply(event);
                self.event(event);
            }
            EntryBody::Answer(answer) => {
                let answers = Arc::make_mut(&mut self.answers);
                answers.insert(answer.interrupt.clone(), answer.clone());
            }
            EntryBody::Request(_)
            | EntryBody::Intent(_)
            | EntryBody::Activated(_)
            | EntryBody::Suggested(_)
            | EntryBody::Workflow(_) => {}
        }
    }

    fn event(&mut self, event: &EventBody) {
        match event {
            EventBody::Message(message) => {
                let is_words = message.role == MessageRole::User;
                let words = is_words.then(|| Hash::of(message.content().trim()));
                Arc::make_mut(&mut self.messages).insert(message.id.to_string(), words);
                self.unfinished |= is_words;
            }
            EventBody::RunStarted(started) => {
                self.direct = started.model.is_none();
                if let Some(id) = &started.client_run {
                    Arc::make_mut(&mut self.client_runs).insert(id.clone());
                }
            }
            EventBody::RunFinished { outcome, .. } if !self.direct => {
                self.end = Some(event.clone());
                self.unfinished &= *outcome != RunOutcome::Success;
            }
            EventBody::RunFinished { .. }
            | EventBody::ToolCall { .. }
            | EventBody::Interrupt(_)
            | EventBody::Answered { .. }
            | EventBody::Warning { .. }
            | EventBody::Usage(_)
            | EventBody::Delta { .. }
            | EventBody::ToolProgress { .. } => {}
        }
    }
}
