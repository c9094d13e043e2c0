//! What the tests share.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{
    Append, AppendError, EntryBody, EventBody, EventSeq, Fence, Log, Message, MessageId,
    MessageRole, NewEntry, RunId, Scope, Seq, SessionId, UnixMs,
};
use outfitter_store::{MemoryLog, SqliteLog};
use tempfile::TempDir;

/// Every kind of log that must behave alike.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
}

/// A fresh log, and the directory it may be in.
pub(crate) struct Rig {
    pub(crate) log: Arc<dyn Log>,
    directory: TempDir,
}

impl Rig {
    pub(crate) fn new(kind: Kind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log: Arc<dyn Log> = match kind {
            Kind::Memory => Arc::new(MemoryLog::new()),
            Kind::Sqlite => Arc::new(SqliteLog::new(directory.path().join("o.db"))),
        };
        Self { log, directory }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("o.db")
    }
}

pub(crate) fn scope(tenant: &str, subject: &str) -> Scope {
    Scope {
        tenant: tenant.into(),
        subject: subject.into(),
    }
}

/// The one that the test kit writes in.
pub(crate) fn me() -> Scope {
    scope("t", "s")
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) fn said(text: impl Into<String>) -> NewEntry {
    said_at(1, text)
}

pub(crate) fn said_at(at: u64, text: impl Into<String>) -> NewEntry {
    let id = MessageId::new("m").unwrap();
    let message = Message::text(id, MessageRole::User, text);
    NewEntry {
        run: RunId::new("run").unwrap(),
        at: UnixMs(at),
        event: Some(EventSeq(7)),
        body: EntryBody::Event(EventBody::Message(Arc::new(message))),
    }
}

pub(crate) fn text(body: &EntryBody) -> String {
    match body {
        EntryBody::Event(EventBody::Message(message)) => message.content(),
        other => panic!("a message was written, not {other:?}"),
    }
}

/// Appends with fence 1.
pub(crate) async fn append(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionId,
    expected: u64,
    entries: Vec<NewEntry>,
) -> Result<Seq, AppendError> {
    fenced(log, scope, session, expected, 1, entries).await
}

pub(crate) async fn fenced(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionId,
    expected: u64,
    fence: u64,
    entries: Vec<NewEntry>,
) -> Result<Seq, AppendError> {
    let append = Append {
        session,
        expected: Seq(expected),
        fence: Fence(fence),
        entries,
    };
    log.append(scope, append).await
}

/// The texts of a session, read page by page.
pub(crate) async fn texts(log: &dyn Log, scope: &Scope, session: &SessionId) -> Vec<String> {
    let mut all = Vec::new();
    let mut from = Some(Seq(1));
    while let Some(place) = from {
        let page = log.read(scope, session, place, 0).await.unwrap();
        all.extend(page.entries.iter().map(|entry| text(&entry.body)));
        from = page.next;
    }
    all
}
