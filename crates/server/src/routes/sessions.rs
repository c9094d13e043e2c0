//! `/v1/sessions`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use outfitter_agent::{Deletion, TurnLog};
use outfitter_core::{
    EventBody, MessageId, PageRequest, Principal, Scope, Seq, SessionId, StoreError, UnixMs,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::wire;
use crate::app::App;
use crate::entries::{self, PAGE};
use crate::live::Place;
use crate::problem::{Problem, YOUR_SESSIONS};
use crate::query;

/// The most messages of one answer.
const MOST_MESSAGES: u32 = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    after: Option<SessionId>,
    limit: Option<u64>,
}

/// `GET /v1/sessions`: the caller's, the last changed first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let wanted = query::wanted(wanted)?;
    let request = PageRequest {
        after: wanted.after,
        limit: super::limit(wanted.limit, PAGE, PAGE)?,
    };
    let page = app.log.list(&Scope::from(&*who), request).await?;
    let mut document = json!({ "v": 1, "sessions": page.sessions });
    if let Some(next) = page.next {
        document["next"] = Value::from(next.as_str());
    }
    Ok(super::json(&document))
}

fn session_id(id: &str) -> Result<SessionId, Problem> {
    SessionId::new(id).map_err(|error| {
        Problem::not_found(format!("there is no session of such an id: {error}"))
            .hint(YOUR_SESSIONS)
    })
}

/// `GET /v1/sessions/{id}`.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let session = session_id(&id)?;
    let scope = Scope::from(&*who);
    let (created, updated, count) = ends(&app, &scope, &session).await?;
    let log = TurnLog::read(&*app.log, &scope, &session).await?;
    let waiting: Vec<_> = log.waiting().iter().map(|asked| asked.id.clone()).collect();
    Ok(super::json(&json!({
        "v": 1,
        "id": session,
        "created": created,
        "updated": updated,
        "entries": count,
        "waiting": waiting,
        "jobs": app.directory.jobs(&scope, &session).await,
        "audit_status": {
            "suggested_tools": log.suggested_tools(),
            "tools_expanded": !log.expanded().is_empty(),
        },
    })))
}

/// When the first and the last entry were written, and how many there are.
async fn ends(
    app: &App,
    scope: &Scope,
    session: &SessionId,
) -> Result<(UnixMs, UnixMs, u64), StoreError> {
    let first = app.log.read(scope, session, Seq(1), 1).await?;
    let last = app.log.read(scope, session, first.head, 1).await?;
    let at = |page: &outfitter_core::Page| page.entries.last().map(|entry| entry.at);
    let created = at(&first).unwrap_or_default();
    Ok((created, at(&last).unwrap_or(created), first.head.0))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedMessages {
    after: Option<MessageId>,
    limit: Option<u64>,
}

/// `GET /v1/sessions/{id}/messages`: as the events of their runs said them.
pub(super) async fn messages(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    wanted: Result<Query<WantedMessages>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let wanted = query::wanted(wanted)?;
    let session = session_id(&id)?;
    let scope = Scope::from(&*who);
    let limit = super::limit(wanted.limit, MOST_MESSAGES, MOST_MESSAGES)? as usize;
    let mut told = Vec::new();
    let (mut begun, mut last, mut more) = (wanted.after.is_none(), None, false);
    entries::each(&*app.log, &scope, &session, |entry| {
        let Some(event) = entries::event(&session, entry) else {
            return;
        };
        let EventBody::Message(message) = &event.body else {
            return;
        };
        if !begun {
            begun = wanted.after.as_ref() == Some(&message.id);
        } else if told.len() == limit {
            more = true;
        } else {
            last = Some(message.id.clone());
            told.push(wire(&event).map(|mut line| line["message"].take()));
        }
    })
    .await?;
    if !begun {
        return Err(
            Problem::not_found("there is no message of the id in `after`")
                .hint("begin without `after`, and go on with `next` of each answer"),
        );
    }
    let messages: Vec<Value> = told.into_iter().collect::<Result<_, _>>()?;
    let mut document = json!({ "v": 1, "session_id": session, "messages": messages });
    if let (Some(last), true) = (last, more) {
        document["next"] = Value::from(last.as_str());
    }
    Ok(super::json(&document))
}

/// `DELETE /v1/sessions/{id}`: with all that belongs to it.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let place = Place {
        scope: Scope::from(&*who),
        session: session_id(&id)?,
    };
    let (scope, session) = (&place.scope, &place.session);
    let deleting = app.deleting.begin(&place)?;
    if app.live.is_at_work(&place) {
        return Err(outfitter_core::CallHostError::Busy(session.clone()).into());
    }
    let held = app.hold_to_delete(&place)?;
    // And from runs of this process that come meanwhile.
    let agent = app.host.agent();
    let free = agent
        .hold(scope, session)
        .map_err(|error| Problem::from(&error))?;
    // From here on it is done to the end, whether or not who asked for it stays.
    let owner = app.clone();
    let removing = async move {
        let _kept_from_others = (held, free, deleting);
        remove(&owner, &place).await
    };
    app.live.errand(removing).await?
}

/// Removes a session that is held, and all that belongs to it.
async fn remove(app: &App, place: &Place) -> Result<Response, Problem> {
    let session = &place.session;
    let deletion = Deletion {
        log: &*app.log,
        artifacts: &*app.artifacts,
        belongings: &*app.belongings,
    };
    let left_behind = deletion.run(&place.scope, session).await?;
    app.waits.forget(place);
    app.histories.forget(place);
    if left_behind.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let left = json!({ "v": 1, "deleted": session, "left_behind": left_behind });
    Ok(super::json(&left))
}
