//! Conversations as whole lists of messages, over the log.

use std::sync::Arc;

use outfitter_agent::ENTRIES_AT_ONCE;
use outfitter_core::{
    Append, AppendError, Arguments, EntryBody, EventBody, EventSeq, Fence, Message, MessageRole,
    Mode, NewEntry, RunId, RunOutcome, RunOutput, RunStarted, SandboxSummary, Seq, SessionId,
    StoreError,
};

use crate::Outfitter;
use crate::outfit::{BuildError, DeleteError, NotHeld};

/// The sessions of the person at this machine as lists of messages: what a conversation store has
/// elsewhere, with its three methods.
///
/// The log behind it is append-only. So [`save`](Self::save) can add to a conversation and never
/// change what it has.
///
/// ```
/// # use outfitter::{Builder, config::Config, env::Environment};
/// use std::sync::Arc;
/// use outfitter::{ConversationError, Message, MessageId, MessageRole, SessionId};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let mut config = Config::default();
/// # config.store.url = Some("memory:".to_owned());
/// # config.store.data_dir = Some(dir.path().to_owned());
/// # let outfitter = Builder::new(config, Environment::of(dir.path(), [("HOME", "/nowhere")])).build()?;
/// let session = SessionId::new("my-learning-session")?;
/// let said = |id: &str, role, text| Ok::<_, Box<dyn std::error::Error>>(
///     Arc::new(Message::text(MessageId::new(id)?, role, text)));
///
/// let store = outfitter.conversations();
/// assert!(store.load(&session).await?.is_empty());
///
/// let mut messages = vec![said("msg_1", MessageRole::User, "What is an estuary?")?];
/// messages.push(said("msg_2", MessageRole::Assistant, "Where a river meets the sea.")?);
/// store.save(&session, &messages).await?;
/// assert_eq!(store.load(&session).await?, messages);
///
/// // What is there stays: a list that does not begin with it is refused.
/// let other = [said("msg_9", MessageRole::User, "Something else.")?];
/// let refused = store.save(&session, &other).await;
/// assert!(matches!(refused, Err(ConversationError::Changed { at: 0 })));
///
/// store.clear(&session).await?;
/// assert!(store.load(&session).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Conversations<'a>(&'a Outfitter);

/// Why a conversation cannot be loaded, saved or cleared.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// The list does not begin with the messages that are there.
    #[error("save the conversation: message {at} is not the one that is there")]
    Changed {
        /// The place of the first message that differs.
        at: usize,
    },
    /// A call of the list has no result, or a result no call.
    #[error("save the conversation: not every call has its result right behind it")]
    OpenCalls,
    /// Another process works on it.
    #[error("save the conversation: another process works on it")]
    InUse,
    /// Its deletion was broken off: [`clear`](Conversations::clear) finishes it.
    #[error("save the conversation: its deletion has begun and is not at its end")]
    HalfDeleted,
    /// It cannot be held.
    #[error(transparent)]
    Hold(#[from] BuildError),
    /// The store cannot answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody else wrote meanwhile.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It cannot be deleted.
    #[error(transparent)]
    Delete(DeleteError),
}

impl Outfitter {
    /// The sessions as lists of messages.
    #[must_use]
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations(self)
    }
}

/// What is there of a session.
struct Stored {
    messages: Vec<Arc<Message>>,
    head: Seq,
    fence: Fence,
}

impl Conversations<'_> {
    /// The messages of a session, all of them, in order; none for a session that is not there.
    ///
    /// # Errors
    /// [`ConversationError::Store`].
    pub async fn load(&self, session: &SessionId) -> Result<Vec<Arc<Message>>, ConversationError> {
        Ok(self.stored(session).await?.messages)
    }

    /// Adds the messages that are not there yet, as a run of their own without a model. The list
    /// begins with what [`load`](Self::load) gives.
    ///
    /// # Errors
    /// [`ConversationError`]; nothing is added then.
    pub async fn save(
        &self,
        session: &SessionId,
        messages: &[Arc<Message>],
    ) -> Result<(), ConversationError> {
        let _held = self.hold(session)?;
        let stored = self.stored(session).await?;
        for (at, known) in stored.messages.iter().enumerate() {
            if messages.get(at) != Some(known) {
                return Err(ConversationError::Changed { at });
            }
        }
        let new = &messages[stored.messages.len()..];
        if new.is_empty() {
            return Ok(());
        }
        if !calls_are_closed(new) {
            return Err(ConversationError::OpenCalls);
        }
        let append = Append {
            session,
            expected: stored.head,
            fence: Fence(stored.fence.0 + 1),
            entries: self.run_of(new),
        };
        let log = self.0.log();
        log.append(&self.0.local_scope(), append).await?;
        Ok(())
    }

    /// Deletes a session with all that belongs to it. One that is not there is no error.
    ///
    /// # Errors
    /// [`ConversationError`].
    pub async fn clear(&self, session: &SessionId) -> Result<(), ConversationError> {
        let _held = self.0.hold_to_delete(session)??;
        match self.0.delete(session).await {
            Ok(_) | Err(DeleteError::Store(StoreError::NotFound(_))) => Ok(()),
            Err(DeleteError::Store(error)) => Err(error.into()),
            Err(error) => Err(ConversationError::Delete(error)),
        }
    }

    fn hold(self, session: &SessionId) -> Result<crate::SessionLock, ConversationError> {
        Ok(self.0.hold(session)??)
    }

    async fn stored(self, session: &SessionId) -> Result<Stored, StoreError> {
        let mut stored = Stored {
            messages: Vec::new(),
            head: Seq(0),
            fence: Fence::default(),
        };
        let (log, scope) = (self.0.log(), self.0.local_scope());
        let mut from = Seq(1);
        loop {
            let page = match log.read(&scope, session, from, ENTRIES_AT_ONCE).await {
                Ok(page) => page,
                Err(StoreError::NotFound(_)) => return Ok(stored),
                Err(error) => return Err(error),
            };
            (stored.head, stored.fence) = (page.head, page.fence);
            for entry in &page.entries {
                if let EntryBody::Event(EventBody::Message(message)) = &entry.body {
                    stored.messages.push(message.clone());
                }
            }
            match page.next {
                Some(next) => from = next,
                None => return Ok(stored),
            }
        }
    }

    /// The entries of a run that says these messages and nothing else.
    fn run_of(self, messages: &[Arc<Message>]) -> Vec<NewEntry> {
        let clock = self.0.clock();
        let (run, at) = (RunId::mint(&**clock), clock.now());
        let answer = messages.iter().rev();
        let answer = answer
            .clone()
            .find(|message| message.role == MessageRole::Assistant)
            .map(|message| message.content())
            .unwrap_or_default();
        let began = EventBody::RunStarted(RunStarted {
            resumes: None,
            model: Some("none/saved".to_owned()),
            mode: Mode::Agent,
            tools: Arc::default(),
            skills: Vec::new(),
            sandbox: SandboxSummary {
                backend: "none".to_owned(),
                level: "none".to_owned(),
            },
            workflow: None,
            client_run: None,
        });
        let ended = EventBody::RunFinished {
            outcome: RunOutcome::Success,
            output: Arc::new(RunOutput {
                status: RunOutcome::Success,
                answer,
                suggested_actions: Vec::new(),
                error: None,
            }),
        };
        let said = messages.iter().flat_map(told);
        let events = std::iter::once(began).chain(said).chain([ended]);
        events
            .zip(1..)
            .map(|(event, seq)| NewEntry {
                run: run.clone(),
                at,
                event: Some(EventSeq(seq)),
                body: EntryBody::Event(event),
            })
            .collect()
    }
}

impl From<NotHeld> for ConversationError {
    fn from(why: NotHeld) -> Self {
        match why {
            NotHeld::InUse(_) => Self::InUse,
            NotHeld::HalfDeleted(_) => Self::HalfDeleted,
            NotHeld::Strange(_) => Self::Hold(BuildError::NotHeld(why)),
        }
    }
}

/// What is told of a message: the message, then the calls that it has.
fn told(message: &Arc<Message>) -> Vec<EventBody> {
    let calls = message.tool_calls().map(|call| EventBody::ToolCall {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        arguments: Arguments::parse(call.arguments.clone()).shown(),
    });
    let message = EventBody::Message(message.clone());
    std::iter::once(message).chain(calls).collect()
}

/// Whether every call has its result before anybody else speaks, and every result a call.
fn calls_are_closed(messages: &[Arc<Message>]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message.role {
            MessageRole::Tool => {
                let Some(output) = &message.output else {
                    return false;
                };
                let id = output.tool_call_id.as_str();
                let Some(at) = open.iter().position(|one| *one == id) else {
                    return false;
                };
                open.remove(at);
            }
            MessageRole::User | MessageRole::Assistant | MessageRole::System => {
                if !open.is_empty() {
                    return false;
                }
                open.extend(message.tool_calls().map(|call| call.id.as_str()));
            }
        }
    }
    open.is_empty()
}
