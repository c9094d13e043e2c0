//! The log, read for people: the events of a session or a run, and the session of an id.

use outfitter_agent::is_end_of_broken_off;
use outfitter_core::{
    Entry, EntryBody, Event, EventBody, InterruptId, Log, Mention, PageRequest, RunId, RunOutcome,
    Scope, Seq, SessionId, SessionSummary, StoreError,
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

/// How a session stands, as far as its last entries tell.
pub(crate) enum Standing {
    /// The run that last worked on its turn ended so, and nothing came after that.
    Ended(RunOutcome),
    /// The whole log must be read to know.
    Unknown,
}

/// Entries that are looked at for how a session stands: a direct call has no more than these.
const TAIL: u64 = 8;

/// How a session stands, without a look at all of it.
pub(crate) async fn standing(
    log: &dyn Log,
    scope: &Scope,
    session: &SessionSummary,
) -> Result<Standing, StoreError> {
    let from = Seq(session.entries.saturating_sub(TAIL - 1).max(1));
    let page = log.read(scope, &session.id, from, PAGE).await?;
    let Some(last) = page.entries.last() else {
        return Ok(Standing::Unknown);
    };
    let is_direct = page.entries.iter().any(|entry| {
        let begins = match &entry.body {
            EntryBody::Event(EventBody::RunStarted(started)) => started.model.is_none(),
            _ => false,
        };
        begins && entry.run == last.run
    });
    // A direct call works on no turn: what came before it counts.
    if is_direct {
        return Ok(Standing::Unknown);
    }
    Ok(match &last.body {
        EntryBody::Event(EventBody::RunFinished { outcome, output })
            if !is_end_of_broken_off(*outcome, output) =>
        {
            Standing::Ended(*outcome)
        }
        _ => Standing::Unknown,
    })
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
