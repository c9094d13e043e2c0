//! What is done without being asked: turns that broke off go on when the server starts, and what
//! nobody answers expires.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use outfitter_agent::{RunError, TurnLog};
use outfitter_core::{Principal, RunOutcome, Scope, SessionSummary, StoreError};

use crate::app::App;
use crate::entries::{self, Standing};
use crate::live::Place;

/// Sessions that go on at once when nobody has asked.
const AT_ONCE: usize = 8;

/// How long the ends of runs that were dropped may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Looks through the sessions of the known scopes: turns that broke off go on, runs that have no
/// end get one, and what waits is taken into the table. Once the server stops nothing goes on any
/// more, and what is left to be ended is ended still: the log of a server that ended in good order
/// has no run without an end.
pub(crate) async fn recover(app: &Arc<App>) {
    for scope in app.principals.known_scopes() {
        let Some(who) = app.principals.on_behalf(&scope).map(Arc::new) else {
            continue;
        };
        match broken_off(app, &scope, &who).await {
            Ok(places) => {
                futures_util::stream::iter(places)
                    .for_each_concurrent(AT_ONCE, |place| to_its_end(app, who.clone(), place))
                    .await;
            }
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "sessions could not be looked through");
            }
        }
    }
}

/// Writes the ends of runs that can do so no more.
pub(crate) async fn end_each(app: &Arc<App>, places: Vec<Place>) {
    let all = async {
        for place in &places {
            end(app, place).await;
        }
    };
    if tokio::time::timeout(LAST_WORDS, all).await.is_err() {
        tracing::warn!("runs were left without an end");
    }
}

/// The sessions whose turn broke off. Runs without a turn are ended at once.
async fn broken_off(
    app: &Arc<App>,
    scope: &Scope,
    who: &Arc<Principal>,
) -> Result<Vec<Place>, StoreError> {
    let mut places = Vec::new();
    for session in entries::sessions(&*app.log, scope).await? {
        let place = Place {
            scope: scope.clone(),
            session: session.id.clone(),
        };
        match look_at(app, &place, who, &session).await {
            Ok(Rest::Turn) => places.push(place),
            Ok(Rest::Call) => end(app, &place).await,
            Ok(Rest::None) => {}
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, session = %session.id, "a session could not be looked at");
            }
        }
    }
    Ok(places)
}

/// What is left to be done in a session.
enum Rest {
    None,
    /// A turn broke off: it goes on.
    Turn,
    /// A call that belongs to no turn broke off: it gets its end.
    Call,
}

/// What broke off in the session. What it waits for is taken into the table.
async fn look_at(
    app: &Arc<App>,
    place: &Place,
    who: &Arc<Principal>,
    session: &SessionSummary,
) -> Result<Rest, StoreError> {
    if app.live.is_at_work(place) {
        return Ok(Rest::None);
    }
    match entries::standing(&*app.log, &place.scope, session).await? {
        Standing::Unknown | Standing::Ended(RunOutcome::Waiting) => {}
        Standing::Ended(
            RunOutcome::Success | RunOutcome::Failed | RunOutcome::Cancelled | RunOutcome::Limit,
        ) => return Ok(Rest::None),
    }
    let log = TurnLog::read(&*app.log, &place.scope, &session.id).await?;
    if log.is_broken_off() {
        return Ok(Rest::Turn);
    }
    let waiting = log.waiting();
    if !waiting.is_empty() {
        app.waits.set(place.clone(), who.clone(), waiting);
    }
    Ok(match log.has_unended_runs() {
        true => Rest::Call,
        false => Rest::None,
    })
}

/// Lets what nobody answers expire, until the server stops.
pub(crate) async fn expire(app: &Arc<App>) {
    loop {
        tokio::select! {
            () = app.waits.until_due(app.clock().now()) => {}
            () = app.live.stop().cancelled() => return,
        }
        app.live.reap();
        for (place, who) in app.waits.expired(app.clock().now()) {
            if let Some(started) = app.go_on(who, &place).await {
                started.live.hub.leave(&started.mailbox);
            }
        }
    }
}

async fn to_its_end(app: &Arc<App>, who: Arc<Principal>, place: Place) {
    if !app.live.stop().is_cancelled()
        && let Some(started) = app.go_on(who, &place).await
    {
        while started.mailbox.next().await.is_some() {}
        return;
    }
    end(app, &place).await;
}

/// Ends the runs of a session that have no end, unless somebody works on it.
async fn end(app: &Arc<App>, place: &Place) {
    let Ok(_held) = app.hold(place) else { return };
    let agent = app.host.agent();
    match agent.end_broken_off(&place.scope, &place.session).await {
        Ok(_) | Err(RunError::Busy(_)) => {}
        Err(error) => {
            let error = error.to_info();
            tracing::warn!(%error, session = %place.session, "a run was left without an end");
        }
    }
}
