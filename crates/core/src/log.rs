//! The one log of a session: conversation store, journal and event store in one.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, CallId, EventBody, Hash, InterruptId, Principal, RunId, SessionId, Subject, Tenant,
    ToolName, UnixMs,
};

/// Whose rows. Every method of a store takes one; there is no unscoped read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Of this tenant.
    pub tenant: Tenant,
    /// Of this subject.
    pub subject: Subject,
}

impl From<&Principal> for Scope {
    fn from(who: &Principal) -> Self {
        Self {
            tenant: who.tenant.clone(),
            subject: who.subject.clone(),
        }
    }
}

/// The place of an entry in its session. The first entry has 1; 0 is the place before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Seq(pub u64);

impl Seq {
    /// The place after `count` more entries.
    #[must_use]
    pub fn plus(self, count: usize) -> Self {
        Self(self.0 + count as u64)
    }
}

/// The place of an event in its run. The first event has 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct EventSeq(pub u64);

/// Rises with every run that writes. A writer with a fence below the session's is out: another run
/// took the session over.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Fence(pub u64);

/// A model call that is about to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestMade {
    /// The hash of the whole request.
    pub hash: Hash,
    /// The hash of what it shows: the tools and their schemas.
    pub view: Hash,
    /// The names it shows.
    pub tools: Vec<ToolName>,
}

/// A call that is about to change something. One of an ended run without an output is a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: ToolName,
    /// Whether it may simply run again.
    pub idempotent: bool,
}

/// The workflow of a turn. What the model is told of it is kept as it was told, so that a turn that
/// goes on is told the same when the workflow has become another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowInUse {
    /// Its name.
    pub name: String,
    /// What the model is told of it with every request of the turn.
    pub text: String,
}

/// What an entry records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", content = "body", rename_all = "snake_case")]
pub enum EntryBody {
    /// A durable event. A message entry is the event of that message; an interrupt likewise.
    Event(EventBody),
    /// A model call.
    Request(RequestMade),
    /// A call that changes something.
    Intent(Intent),
    /// An answer to an interrupt.
    Answer(Answer),
    /// Tools that are shown from the next request on, until the session ends.
    Activated(Vec<ToolName>),
    /// The listed tools that fit the last words of the person: the ones that are shown from the
    /// next request on, until others are chosen.
    Suggested(Vec<ToolName>),
    /// The workflow of the turn that has just begun; none where it was looked for and nothing fits.
    Workflow(Option<WorkflowInUse>),
}

impl EntryBody {
    /// The kind, for the `kind` column of a store.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Event(event) => match event {
                EventBody::RunStarted(_) => "run_started",
                EventBody::Delta { .. } => "delta",
                EventBody::Message(_) => "message",
                EventBody::ToolCall { .. } => "tool_call",
                EventBody::ToolProgress { .. } => "tool_progress",
                EventBody::Interrupt(_) => "interrupt",
                EventBody::Answered { .. } => "answered",
                EventBody::Warning { .. } => "warning",
                EventBody::Usage(_) => "usage",
                EventBody::RunFinished { .. } => "run_finished",
            },
            Self::Request(_) => "request",
            Self::Intent(_) => "intent",
            Self::Answer(_) => "answer",
            Self::Activated(_) => "activated",
            Self::Suggested(_) => "suggested",
            Self::Workflow(_) => "workflow",
        }
    }
}

/// An entry before it has its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// The run that writes it.
    pub run: RunId,
    /// When.
    pub at: UnixMs,
    /// Its place among the events of the run, where it is one.
    pub event: Option<EventSeq>,
    /// What it records.
    pub body: EntryBody,
}

/// One row of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its place in the session.
    pub seq: Seq,
    /// The run that wrote it.
    pub run: RunId,
    /// When.
    pub at: UnixMs,
    /// Its place among the events of the run, where it is one.
    pub event: Option<EventSeq>,
    /// What it records.
    pub body: EntryBody,
}

/// What is appended in one transaction.
#[derive(Debug)]
pub struct Append<'a> {
    /// To which session. `expected` 0 creates it.
    pub session: &'a SessionId,
    /// The place of the last entry, as the writer knows it.
    pub expected: Seq,
    /// The fence of the writer's run.
    pub fence: Fence,
    /// At least one.
    pub entries: Vec<NewEntry>,
}

/// Some entries, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Arc<Entry>>,
    /// The place to read on from; none when these are the last.
    pub next: Option<Seq>,
    /// The place of the last entry of the session.
    pub head: Seq,
    /// The highest fence that wrote.
    pub fence: Fence,
}

/// A place in a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Sessions after this one, in the order of the listing; none to begin.
    pub after: Option<SessionId>,
    /// At most this many; 0 for as many as the store gives at once.
    pub limit: u32,
}

/// One session in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// When its first entry was written.
    pub created: UnixMs,
    /// When its last entry was written.
    pub updated: UnixMs,
    /// How many entries it has.
    pub entries: u64,
}

/// A listing, the last changed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// The sessions.
    pub sessions: Vec<SessionSummary>,
    /// Where to read on; none when these are the last.
    pub next: Option<SessionId>,
}

/// What is looked for in the sessions of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mention<'a> {
    /// Entries of this run.
    Run(&'a RunId),
    /// The entry of this interrupt.
    Interrupt(&'a InterruptId),
}

impl Mention<'_> {
    /// Whether the entry is one of those looked for.
    #[must_use]
    pub fn is_in(self, entry: &Entry) -> bool {
        match self {
            Self::Run(run) => entry.run == *run,
            Self::Interrupt(id) => match &entry.body {
                EntryBody::Event(EventBody::Interrupt(interrupt)) => interrupt.id == *id,
                EntryBody::Event(_)
                | EntryBody::Request(_)
                | EntryBody::Intent(_)
                | EntryBody::Answer(_)
                | EntryBody::Activated(_)
                | EntryBody::Suggested(_)
                | EntryBody::Workflow(_) => false,
            },
        }
    }
}

/// Why a store cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such session, or not in this scope.
    #[error("find the session {0}")]
    NotFound(SessionId),
    /// The store itself failed.
    #[error("use the store: {message}")]
    Backend {
        /// What it said.
        message: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A row that cannot be read back.
    #[error("read entry {} of session {session}", seq.0)]
    Corrupt {
        /// In which session.
        session: SessionId,
        /// Which entry.
        seq: Seq,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended first.
    #[error("append to the session: it has changed meanwhile")]
    Conflict {
        /// The place of its last entry.
        head: Seq,
    },
    /// A later run took the session over.
    #[error("append to the session: a later run has taken it over")]
    Fenced {
        /// The fence of that run.
        fence: Fence,
    },
    /// The store cannot answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Entries that [`Log::find`] reads at a time where a store has no way of its own.
const FIND_PAGE: u32 = 1_000;

/// The append-only record of sessions.
#[async_trait]
pub trait Log: Send + Sync {
    /// Appends all entries or none and gives the place of the last one.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] when `expected` is not the session's last place (also when a
    /// session is created that exists), [`AppendError::Fenced`] for a writer that is out,
    /// [`StoreError::NotFound`] for a session of another scope or none.
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError>;

    /// Reads at most `limit` entries from the place `from` on, that one included. A store may give
    /// fewer at once: [`Page::next`] says where to read on. A page ends before a row that cannot be
    /// read back, and reading from that row is the error, so that all others stay readable.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a session of another scope or none, [`StoreError::Corrupt`]
    /// when the entry at `from` cannot be read back.
    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError>;

    /// Lists the sessions of the scope, the last changed first. A store may give fewer at once than
    /// was asked for.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the session to list after is not there,
    /// [`StoreError::Backend`] when the store cannot answer.
    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError>;

    /// The session of the scope that has what is looked for. What is given here reads every
    /// session, the last changed first; a store that can ask itself does.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot answer.
    async fn find(
        &self,
        scope: &Scope,
        what: Mention<'_>,
    ) -> Result<Option<SessionId>, StoreError> {
        let mut after = None;
        loop {
            let page = self.list(scope, PageRequest { after, limit: 0 }).await?;
            for session in &page.sessions {
                let mut from = Seq(1);
                loop {
                    let page = self.read(scope, &session.id, from, FIND_PAGE).await?;
                    if page.entries.iter().any(|entry| what.is_in(entry)) {
                        return Ok(Some(session.id.clone()));
                    }
                    match page.next {
                        Some(next) => from = next,
                        None => break,
                    }
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(None),
            }
        }
    }

    /// Deletes a session with all its entries.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a session of another scope or none.
    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError>;
}

/// The bodies of entries as stores write them, with their version, so that old rows stay readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The version of the form; 1 now.
    pub v: u8,
    /// The body.
    pub body: EntryBody,
}
