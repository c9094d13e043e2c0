//! What is done without being asked: turns that broke off go on when the server starts, and what
//! nobody answers expires.

use std::sync::Arc;

use futures_util::StreamExt as _;
use outfitter_agent::TurnLog;
use outfitter_core::{EventBody, Principal, RunOutcome, Scope, SessionSummary, StoreError};

use crate::app::App;
use crate::entries;
use crate::live::Place;

/// Sessions that go on at once when nobody has asked.
const AT_ONCE: usize = 8;

/// Looks through the sessions of the known scopes: turns that broke off go on, and what waits is
/// taken into the table.
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

async fn broken_off(
    app: &Arc<App>,
    scope: &Scope,
    who: &Arc<Principal>,
) -> Result<Vec<Place>, StoreError> {
    let mut places = Vec::new();
    for session in entries::sessions(&*app.log, scope).await? {
        match look_at(app, scope, who, &session).await {
            Ok(true) => places.push(Place {
                scope: scope.clone(),
                session: session.id,
            }),
            Ok(false) => {}
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, session = %session.id, "a session could not be looked at");
            }
        }
    }
    Ok(places)
}

/// Whether the session broke off. The last entry of a session at rest is the end of a run.
async fn look_at(
    app: &Arc<App>,
    scope: &Scope,
    who: &Arc<Principal>,
    session: &SessionSummary,
) -> Result<bool, StoreError> {
    let place = Place {
        scope: scope.clone(),
        session: session.id.clone(),
    };
    if app.live.is_at_work(&place) {
        return Ok(false);
    }
    match entries::last(&*app.log, scope, session).await? {
        Some(EventBody::RunFinished {
            outcome: RunOutcome::Waiting,
            ..
        }) => {
            let log = TurnLog::read(&*app.log, scope, &session.id).await?;
            app.waits.set(place, who.clone(), log.waiting());
            Ok(false)
        }
        Some(EventBody::RunFinished { .. }) => Ok(false),
        Some(_) | None => {
            let log = TurnLog::read(&*app.log, scope, &session.id).await?;
            Ok(log.is_broken_off())
        }
    }
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
    if let Some(started) = app.go_on(who, &place).await {
        while started.mailbox.next().await.is_some() {}
    }
}
