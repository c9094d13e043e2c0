//! The log, read for people: all sessions, the entries of one, and the events that they are.

use std::sync::Arc;

use outfitter_core::{
    Entry, EntryBody, Event, Log, PageRequest, Scope, Seq, SessionId, SessionSummary, StoreError,
};

/// Entries or sessions read at a time.
pub const ENTRIES_AT_ONCE: u32 = 1_000;

/// The event that an entry is, where it is one.
#[must_use]
pub fn event_of(session: &SessionId, entry: &Entry) -> Option<Event> {
    let (Some(seq), EntryBody::Event(body)) = (entry.event, &entry.body) else {
        return None;
    };
    Some(Event {
        seq,
        at: entry.at,
        session: session.clone(),
        run: entry.run.clone(),
        via: None,
        body: body.clone(),
    })
}

/// Shows every entry of a session in order.
///
/// # Errors
/// [`StoreError`] when there is no such session, or it cannot be read.
pub async fn each_entry(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionId,
    mut show: impl FnMut(&Arc<Entry>),
) -> Result<(), StoreError> {
    let mut from = Seq(1);
    loop {
        let page = log.read(scope, session, from, ENTRIES_AT_ONCE).await?;
        page.entries.iter().for_each(&mut show);
        match page.next {
            Some(next) => from = next,
            None => return Ok(()),
        }
    }
}

/// All sessions of a scope, the last changed first.
///
/// # Errors
/// [`StoreError`] when they cannot be read.
pub async fn all_sessions(log: &dyn Log, scope: &Scope) -> Result<Vec<SessionSummary>, StoreError> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let limit = ENTRIES_AT_ONCE;
        let page = match log.list(scope, PageRequest { after, limit }).await {
            Ok(page) => page,
            // The session to read on from was deleted meanwhile.
            Err(StoreError::NotFound(_)) => return Ok(all),
            Err(error) => return Err(error),
        };
        all.extend(page.sessions);
        after = page.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}
