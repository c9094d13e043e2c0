//! `/v1/questions/{id}/answer` and `/v1/approvals/{id}`: the run that goes on with the answer is
//! followed by its events.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use outfitter_agent::{Answered, Input, TurnLog};
use outfitter_core::{
    AnswerKind, ApprovalScope, Interrupt, InterruptId, InterruptKind, Principal, Scope, SessionId,
};
use outfitter_tools::approval_answer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::problem::Problem;
use crate::{body, entries};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    answer: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    decision: Decision,
    #[serde(default)]
    scope: ApprovalScope,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Approve,
    Deny,
}

/// `POST /v1/questions/{id}/answer`.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let words: Words = body::json(body).await?;
    let is_question = |kind: &InterruptKind| matches!(kind, InterruptKind::Question { .. });
    let taken = take(&app, who, &id, words.answer, is_question).await;
    taken.map_err(|problem| problem.below("/answer"))
}

/// `POST /v1/approvals/{id}`.
pub(super) async fn approve(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let decided: Decided = body::json(body).await?;
    let yes = match decided.decision {
        Decision::Approve => true,
        Decision::Deny => false,
    };
    let is_approval = |kind: &InterruptKind| matches!(kind, InterruptKind::Approval { .. });
    take(
        &app,
        who,
        &id,
        approval_answer(yes, decided.scope),
        is_approval,
    )
    .await
}

async fn take(
    app: &Arc<App>,
    who: Arc<Principal>,
    id: &str,
    value: Value,
    is_meant: impl Fn(&InterruptKind) -> bool,
) -> Result<Response, Problem> {
    let nothing = || Problem::not_found(format!("nothing waits or waited that is called {id}"));
    let interrupt = InterruptId::new(id).map_err(|_| nothing())?;
    let scope = Scope::from(&*who);
    let session = session_of(app, &scope, &interrupt)
        .await?
        .ok_or_else(nothing)?;
    let log = TurnLog::read(&*app.log, &scope, &session).await?;
    let waits = |asked: &Arc<Interrupt>| asked.id == interrupt && !is_meant(&asked.kind);
    if log.waiting().iter().any(waits) {
        return Err(nothing());
    }
    let by = AnswerKind::Subject {
        subject: who.subject.clone(),
    };
    let open = app.open(who, &session).await?;
    let input = Input::Answer(Answered {
        interrupt,
        value,
        by,
    });
    let started = app.start(open, input.into()).await?;
    started.live.hub.leave(&started.mailbox);
    let mut response = super::json(&json!({
        "v": 1, "run_id": started.run, "session_id": session,
    }));
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

async fn session_of(
    app: &App,
    scope: &Scope,
    interrupt: &InterruptId,
) -> Result<Option<SessionId>, Problem> {
    match app.waits.session_of(scope, interrupt) {
        Some(session) => Ok(Some(session)),
        None => Ok(entries::session_of_interrupt(&*app.log, scope, interrupt).await?),
    }
}
