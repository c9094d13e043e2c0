//! `/v1/tools`: what may be called, and a call without a model.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use outfitter_codec::{encode_listing, encode_tool_output};
use outfitter_core::{
    Arguments, CallEnd, CallHost as _, CallId, Code, ErrorInfo, Principal, RawCall, RunId, Scope,
    Seq, SessionId, ToolOutput,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{document, unwritable, with_header};
use crate::app::App;
use crate::body;
use crate::calls::Leaving;
use crate::problem::{Problem, status_of};
use crate::query;

/// Whose tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Of {
    session_id: Option<SessionId>,
}

/// `GET /v1/tools`: of a session, or of one that is not there yet.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    of: Result<Query<Of>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let of = query::wanted(of)?;
    let tools = match of.session_id {
        None => {
            app.host.ready().await?;
            app.directory.tools(&who)
        }
        Some(session) => {
            // Looking makes no session.
            app.log
                .read(&Scope::from(&*who), &session, Seq(1), 1)
                .await?;
            app.host.list(&who, &session).await?
        }
    };
    let mut bytes = Vec::new();
    encode_listing(&tools, &mut bytes).map_err(|error| unwritable(&error))?;
    Ok(document(bytes))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    session_id: Option<SessionId>,
}

/// `POST /v1/tools/{name}/call`: down the same pipeline as a model's calls. The answer is the one
/// output, with the status of its code. Only a request that is no call is a problem.
pub(super) async fn call(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(name): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let wanted: Wanted = body::json(body).await?;
    let id = wanted
        .session_id
        .unwrap_or_else(|| SessionId::mint(app.clock()));
    let raw = wanted.arguments.as_deref().map_or("", RawValue::get);
    let call = RawCall {
        id: CallId::mint(app.clock()),
        name: name.clone(),
        arguments: Arguments::parse(raw),
    };
    let redactor = app.host.agent().parts().pipeline.redactor();
    let (call_id, shown) = (call.id.clone(), redactor.arguments(&call.arguments));
    let mut run = None;
    // What is asked for is a call: however it ends, also before it began, that is its one output.
    let output = match made(&app, who, &id, call, &mut run).await {
        Ok(output) => output,
        Err(problem) => {
            let error = problem.error().clone();
            Arc::new(ToolOutput::failed(&name, call_id, shown, error))
        }
    };
    let mut bytes = Vec::new();
    encode_tool_output(&output, &mut bytes).map_err(|error| unwritable(&error))?;
    let mut response = document(bytes);
    if let Some(error) = &output.error {
        *response.status_mut() = status_of(error.code);
    }
    if let Some(run) = run {
        response = with_header(response, "outfitter-run-id", run.as_str());
    }
    Ok(with_header(response, "outfitter-session-id", id.as_str()))
}

/// How the call ended. `run` is what it was, once it is one.
async fn made(
    app: &Arc<App>,
    who: Arc<Principal>,
    session: &SessionId,
    call: RawCall,
    run: &mut Option<RunId>,
) -> Result<Arc<ToolOutput>, Problem> {
    app.deleting.allows(&crate::app::place_of(&who, session))?;
    let session = app.host.open_to_call(who, session, &call.name).await?;
    let (begun, live, told) = app.call(session, call).await?;
    *run = Some(begun);
    let leaving = Leaving(live.cancel.clone());
    let end = told.await.unwrap_or_else(|_| Err(broke_down()))?;
    drop(leaving);
    match end {
        CallEnd::Output(output) => Ok(output),
        CallEnd::Waiting(_) => Err(broke_down()),
    }
}

fn broke_down() -> Problem {
    ErrorInfo::new(Code::Internal, "the call broke down").into()
}
