//! The log, read for people: the events of a session or a run, and the session of an id.

use outfitter_core::{
    Entry, EntryBody, Event, EventBody, InterruptId, Log, Mention, PageRequest, RunId, Scope, Seq,
    SessionId, SessionSummary, StoreError,
};

/// Entries or sessions read at a time.
pub(crate) const PAGE: u32 = 1_000;

/// The event that an entry is, where it is one.
pub(crate) fn event(session: &SessionId, entry: &Entry) -> Option<Event> {
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
pub(crate) async fn each(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionId,
    mut show: impl FnMut(&Entry),
) -> Result<(), StoreError> {
    let mut from = Seq(1);
    loop {
        let page = log.read(scope, session, from, PAGE).await?;
        page.entries.iter().for_each(|entry| show(entry));
        match page.next {
            Some(next) => from = next,
            None => return Ok(()),
        }
    }
}

/// The last event of a session, where the last entry is one.
pub(crate) async fn last(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionSummary,
) -> Result<Option<EventBody>, StoreError> {
    let page = log
        .read(scope, &session.id, Seq(session.entries), PAGE)
        .await?;
    Ok(page.entries.last().and_then(|entry| match &entry.body {
        EntryBody::Event(event) => Some(event.clone()),
        EntryBody::Request(_)
        | EntryBody::Intent(_)
        | EntryBody::Answer(_)
        | EntryBody::Activated(_)
        | EntryBody::Suggested(_)
        | EntryBody::Workflow(_) => None,
    }))
}

/// All sessions of a scope, the last changed first.
pub(crate) async fn sessions(
    log: &dyn Log,
    scope: &Scope,
) -> Result<Vec<SessionSummary>, StoreError> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let request = PageRequest { after, limit: PAGE };
        let page = match log.list(scope, request).await {
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

/// The session of a run.
pub(crate) async fn session_of_run(
    log: &dyn Log,
    scope: &Scope,
    run: &RunId,
) -> Result<Option<SessionId>, StoreError> {
    log.find(scope, Mention::Run(run)).await
}

/// The session of something that waits or waited.
pub(crate) async fn session_of_interrupt(
    log: &dyn Log,
    scope: &Scope,
    id: &InterruptId,
) -> Result<Option<SessionId>, StoreError> {
    log.find(scope, Mention::Interrupt(id)).await
}
