//! What others sent to a session while it was not running.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Message, MessageId, MessageRole, Scope, SessionId};

use crate::parts::AgentParts;
use crate::session::Session;
use crate::texts;
use crate::writer::Writer;

/// Where letters to sessions wait. A seam of the installation: without one there are none.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// The letters that wait for this session, or for whichever session of its person runs next,
    /// the oldest first. From now on they are this session's, and are given again until they are
    /// [done](Self::done).
    async fn waiting(&self, scope: &Scope, session: &SessionId) -> Vec<Received>;

    /// These are in the log of the session now.
    async fn done(&self, scope: &Scope, session: &SessionId, letters: &[Received]);
}

/// A letter to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its id: the same however often it is given.
    pub id: String,
    /// Who sent it.
    pub from: LetterFrom,
    /// What it says.
    pub text: String,
}

/// Who sent a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LetterFrom {
    /// Another session of the same person.
    OwnSession,
    /// Another person of the tenant.
    Subject(String),
}

impl Received {
    /// The id of the message that it becomes.
    pub(crate) fn message_id(&self) -> MessageId {
        MessageId::of_letter(&self.id)
    }

    /// The message as the model and the person read it.
    pub(crate) fn message(&self) -> Message {
        let from = match &self.from {
            LetterFrom::OwnSession => None,
            LetterFrom::Subject(subject) => Some(subject.as_str()),
        };
        let text = texts::letter(from, &self.text);
        Message::text(self.message_id(), MessageRole::User, text)
    }
}

/// What a run that begins has to tell, and whom to say when it has.
pub(crate) struct Letters {
    inbox: Option<Arc<dyn Inbox>>,
    letters: Vec<Received>,
}

impl Letters {
    pub(crate) fn none() -> Self {
        Self {
            inbox: None,
            letters: Vec::new(),
        }
    }

    pub(crate) async fn of(parts: &AgentParts, session: &Session) -> Self {
        let Some(inbox) = parts.services.get::<dyn Inbox>() else {
            return Self::none();
        };
        let scope = Scope::from(&*session.who);
        Self {
            letters: inbox.waiting(&scope, &session.id).await,
            inbox: Some(inbox),
        }
    }

    /// Those that are not in the log yet: a process may have gone away before it said so.
    pub(crate) async fn messages(&self, writer: &Writer) -> Vec<Message> {
        let known = writer
            .folded(|log| {
                let has = |id: &MessageId| log.history.iter().any(|one| one.message.id == *id);
                let known = self.letters.iter().map(|one| has(&one.message_id()));
                known.collect::<Vec<_>>()
            })
            .await;
        self.letters
            .iter()
            .zip(known)
            .filter(|(_, known)| !known)
            .map(|(letter, _)| letter.message())
            .collect()
    }

    /// They are in the log.
    pub(crate) async fn done(&self, session: &Session) {
        if let (Some(inbox), false) = (&self.inbox, self.letters.is_empty()) {
            let scope = Scope::from(&*session.who);
            inbox.done(&scope, &session.id, &self.letters).await;
        }
    }
}
