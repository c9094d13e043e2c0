//! `/v1/questions/{id}/answer` and `/v1/approvals/{id}`: the run that goes on with the answer is
//! followed by its events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use outfitter_agent::{Answered, Input, Session, TurnLog};
use outfitter_core::{
    AnswerKind, ApprovalScope, Code, Interrupt, InterruptId, InterruptKind, Principal, RunId,
    Scope, SessionId,
};
use outfitter_tools::approval_answer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::problem::Problem;
use crate::{body, entries};

/// How long an answer waits for what works on its session and takes none, and how often that is
/// looked at.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(10);

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
    let nothing = || {
        Problem::not_found(format!("nothing waits or waited that is called {id}")).hint(
            "`GET /v1/sessions/ID` lists what waits; questions and approvals have a path each",
        )
    };
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
    let answered = Answered {
        interrupt,
        value,
        by,
    };
    let run = hand_in(app, open, answered).await?;
    let mut response = super::json(&json!({
        "v": 1, "run_id": run, "session_id": session,
    }));
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

/// Gives the run that goes on with an answer: the one under way, which records it, or one that is
/// made of it. What works on the session and takes no answers, a call without a model or a run that
/// is just beginning or ending, is waited for.
async fn hand_in(app: &Arc<App>, open: Session, answered: Answered) -> Result<RunId, Problem> {
    let patience = Instant::now() + PATIENCE;
    loop {
        let input = Input::Answer(answered.clone());
        match app.start(open.clone(), input.into()).await {
            Ok(started) => {
                started.live.hub.leave(&started.mailbox);
                return Ok(started.run);
            }
            Err(problem) if problem.error().code == Code::Busy => {
                if let Some(run) = hand_to_run(app, &open, &answered).await? {
                    return Ok(run);
                }
                if Instant::now() > patience {
                    return Err(problem);
                }
                tokio::time::sleep(AGAIN).await;
            }
            Err(problem) => return Err(problem),
        }
    }
}

/// Hands an answer to the run under way. It is written to that run's log, which must not stop
/// between the writing and what is known of it when who answers hangs up.
async fn hand_to_run(
    app: &Arc<App>,
    open: &Session,
    answered: &Answered,
) -> Result<Option<RunId>, Problem> {
    let (owner, open, answers) = (app.clone(), open.clone(), vec![answered.clone()]);
    let handing = async move {
        let agent = owner.host.agent();
        agent.answer_under_way(&open, answers).await
    };
    let under_way = app.live.errand(handing).await?;
    under_way.map_err(|error| Problem::from(&error))
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
