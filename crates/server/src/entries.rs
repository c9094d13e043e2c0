//! The log, read for people: the events of a session or a run, and the session of an id.

use outfitter_agent::is_end_of_broken_off;
use outfitter_core::{
    EntryBody, EventBody, InterruptId, Log, Mention, RunId, RunOutcome, Scope, Seq, SessionId,
    SessionSummary, StoreError,
};

pub(crate) use outfitter_agent::{
    ENTRIES_AT_ONCE as PAGE, all_sessions as sessions, each_entry as each, event_of as event,
};

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
