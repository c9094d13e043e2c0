//! What a thread's log says: what a client may know, what waits, what was answered, how it ended.

use std::collections::{HashMap, HashSet};

use outfitter_codec::agui::Transcript;
use outfitter_core::{
    Answer, EntryBody, EventBody, InterruptId, MessageRole, RunOutcome, StoreError,
};

use crate::app::App;
use crate::entries;
use crate::live::Place;
use crate::problem::Problem;

/// A thread, as its log tells it.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) transcript: Transcript,
    /// The messages of the person, by their ids.
    pub(super) known: HashSet<String>,
    /// What was answered.
    pub(super) answers: HashMap<InterruptId, Answer>,
    /// The end of the last run.
    pub(super) end: Option<EventBody>,
    /// Whether the last turn has no answer, so that it can go on.
    pub(super) unfinished: bool,
}

impl History {
    pub(super) async fn read(app: &App, place: &Place) -> Result<Self, Problem> {
        let mut history = Self::default();
        let read = entries::each(&*app.log, &place.scope, &place.session, |entry| {
            history.apply(&entry.body);
        });
        match read.await {
            Ok(()) | Err(StoreError::NotFound(_)) => Ok(history),
            Err(error) => Err(error.into()),
        }
    }

    fn apply(&mut self, body: &EntryBody) {
        match body {
            EntryBody::Event(event) => {
                self.transcript.apply(event);
                self.event(event);
            }
            EntryBody::Answer(answer) => {
                self.answers
                    .insert(answer.interrupt.clone(), answer.clone());
            }
            EntryBody::Request(_) | EntryBody::Intent(_) | EntryBody::Activated(_) => {}
        }
    }

    fn event(&mut self, event: &EventBody) {
        match event {
            EventBody::Message(message) if message.role == MessageRole::User => {
                self.known.insert(message.id.to_string());
                self.unfinished = true;
            }
            EventBody::RunStarted(started) => {
                self.end = None;
                self.unfinished &= started.model.is_none() || started.resumes.is_some();
            }
            EventBody::RunFinished { outcome, .. } => {
                self.end = Some(event.clone());
                if *outcome == RunOutcome::Success {
                    self.unfinished = false;
                }
            }
            EventBody::Message(_)
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
