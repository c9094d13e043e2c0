//! `/v1/runs`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use outfitter_agent::{Input, RunRequest, TurnWorkflow, WorkflowChoice};
use outfitter_core::{EventBody, Mode, Principal, RunId, Scope, SessionId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::narrow::{bounded, in_mode, narrowed, one_name};
use super::with_header;
use crate::app::{App, RUN_ID, no_run};
use crate::follow::{self, Replay};
use crate::problem::Problem;
use crate::stream::{Seat, line, lines};
use crate::{body, entries, query};

/// What a run is asked for with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    session_id: Option<SessionId>,
    input: String,
    agent_id: Option<String>,
    available_tools: Option<Vec<String>>,
    available_skills: Option<Vec<String>>,
    mode: Option<Mode>,
    workflow: Option<String>,
}

/// `POST /v1/runs`: a new turn, told as it happens.
pub(super) async fn start(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    body: Body,
) -> Result<Response, Problem> {
    let wanted: Wanted = body::json(body).await?;
    if wanted.input.trim().is_empty() {
        return Err(Problem::malformed("input must not be empty").hint("say what is to be done"));
    }
    if let Some(agent) = wanted.agent_id {
        one_name(&agent)?;
        return Err(
            Problem::not_found(format!("there is no agent {agent}: none is configured"))
                .hint("leave `agent_id` out"),
        );
    }
    for names in [&wanted.available_tools, &wanted.available_skills] {
        bounded(names.as_deref())?;
    }
    let workflow = chosen(wanted.workflow.as_deref())?;
    let id = wanted
        .session_id
        .unwrap_or_else(|| SessionId::mint(app.clock()));
    let session = app.open(who, &id).await?;
    let (session, notes) = narrowed(
        &app,
        session,
        wanted.available_tools,
        wanted.available_skills,
    );
    let session = in_mode(session, wanted.mode);
    let request = RunRequest {
        input: Input::Prompt(wanted.input),
        notes,
        message: None,
        workflow,
        client_run: None,
    };
    let started = app.start(session, request).await?;
    let run = started.run.clone();
    let response = lines(Seat::first(&app, started));
    let response = with_header(response, "outfitter-run-id", run.as_str());
    Ok(with_header(response, "outfitter-session-id", id.as_str()))
}

/// The workflow that a request asks for: a name, or `off`, `lexical` or `model`.
pub(super) fn chosen(word: Option<&str>) -> Result<TurnWorkflow, Problem> {
    let Some(word) = word else {
        return Ok(TurnWorkflow::AsConfigured);
    };
    one_name(word)?;
    Ok(TurnWorkflow::Asked(WorkflowChoice::of(word)))
}

fn run_id(id: &str) -> Result<RunId, Problem> {
    RunId::new(id).map_err(|_| Problem::not_found("there is no run of such an id").hint(RUN_ID))
}

/// `GET /v1/runs/{id}`: what is known of it.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let scope = Scope::from(&*who);
    let session = app.session_of(&scope, &run).await?;
    let mut known = json!({
        "v": 1, "run_id": run, "session_id": session,
        "status": "running",
    });
    let mut events = 0;
    let mut fault = None;
    entries::each(&*app.log, &scope, &session, |entry| {
        if entry.run != run {
            return;
        }
        let Some(event) = entries::event(&session, entry) else {
            return;
        };
        events = event.seq.0;
        match &event.body {
            EventBody::RunStarted(started) => {
                known["started_at"] = seconds(event.at);
                if let Some(resumes) = &started.resumes {
                    known["resumes"] = Value::from(resumes.as_str());
                }
                if let Some(model) = &started.model {
                    known["model"] = Value::from(model.as_str());
                }
            }
            EventBody::RunFinished { outcome, .. } => {
                known["status"] = Value::from(outcome.as_str());
                known["finished_at"] = seconds(event.at);
                match wire(&event) {
                    Ok(mut told) => known["output"] = told["output"].take(),
                    Err(problem) => fault = Some(problem),
                }
            }
            EventBody::Message(_)
            | EventBody::ToolCall { .. }
            | EventBody::Interrupt(_)
            | EventBody::Answered { .. }
            | EventBody::Warning { .. }
            | EventBody::Usage(_)
            | EventBody::Delta { .. }
            | EventBody::ToolProgress { .. } => {}
        }
    })
    .await?;
    if events == 0 {
        return Err(no_run(&run));
    }
    known["last_seq"] = Value::from(events);
    fault.map_or_else(|| Ok(super::json(&known)), Err)
}

/// The event as its line says it.
pub(super) fn wire(event: &outfitter_core::Event) -> Result<Value, Problem> {
    let line = line(event).map_err(|_| unreadable())?;
    serde_json::from_slice(&line).map_err(|_| unreadable())
}

fn unreadable() -> Problem {
    outfitter_core::ErrorInfo::new(
        outfitter_core::Code::Internal,
        "an event could not be written",
    )
    .into()
}

/// Unix seconds, as everywhere in what programs read.
pub(super) fn seconds(at: outfitter_core::UnixMs) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "exact until the year 287396")]
    Value::from(at.0 as f64 / 1_000.0)
}

/// Where to begin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct From {
    from_seq: Option<u64>,
}

/// `GET /v1/runs/{id}/events`: from the log, then as it happens.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    from: Result<Query<From>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let from = query::wanted(from)?;
    let run = run_id(&id)?;
    let scope = Scope::from(&*who);
    let session = app.session_of(&scope, &run).await?;
    Ok(follow::replay(Replay {
        app,
        scope,
        session,
        run,
        from: from.from_seq.unwrap_or(0),
    }))
}

/// `POST /v1/runs/{id}/cancel`: the run ends as soon as it can; its events say when.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let scope = Scope::from(&*who);
    let live = app.live.get(&scope, &run);
    if let Some(live) = &live {
        live.cancel.cancel();
    } else {
        app.session_of(&scope, &run).await?;
    }
    let cancelling = live.is_some();
    let mut response = super::json(&json!({ "v": 1, "run_id": run, "cancelling": cancelling }));
    if cancelling {
        *response.status_mut() = http::StatusCode::ACCEPTED;
    }
    Ok(response)
}
