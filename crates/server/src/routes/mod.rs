//! The routes, one file for each kind of thing.

mod agui;
mod answers;
mod artifacts;
mod client_runs;
mod listings;
mod narrow;
mod runs;
mod sessions;
mod standing;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use http::{HeaderValue, StatusCode, header};
use outfitter_core::{Code, ErrorInfo, PageRequest};
use serde_json::Value;

pub(crate) use agui::Histories;
pub(crate) use client_runs::ClientRuns;

use crate::app::App;
use crate::problem::Problem;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(healthy))
        .route("/readyz", get(ready))
        .route("/v1/runs", post(runs::start))
        .route("/v1/runs/{id}", get(runs::show))
        .route("/v1/runs/{id}/events", get(runs::events))
        .route("/v1/runs/{id}/cancel", post(runs::cancel))
        .route("/v1/questions/{id}/answer", post(answers::answer))
        .route("/v1/approvals", get(standing::list))
        .route(
            "/v1/approvals/{id}",
            post(answers::approve).merge(delete(standing::revoke)),
        )
        .route("/agui", post(agui::run))
        .route("/agui/capabilities", get(agui::capabilities))
        .route("/v1/tools", get(tools::list))
        .route("/v1/tools/{name}/call", post(tools::call))
        .route("/v1/skills", get(listings::skills))
        .route("/v1/mcp/servers", get(listings::mcp_servers))
        .route("/v1/diagnostics", get(listings::diagnostics))
        .route("/v1/sessions", get(sessions::list))
        .route(
            "/v1/sessions/{id}",
            get(sessions::show).merge(delete(sessions::delete)),
        )
        .route("/v1/sessions/{id}/messages", get(sessions::messages))
        .route("/v1/artifacts/{id}", get(artifacts::read))
        .fallback(async || {
            Problem::not_found("there is nothing at this path")
                .hint("runs are at /v1/runs and /agui, tools at /v1/tools, MCP at /mcp")
        })
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                ErrorInfo::new(Code::Usage, "this path does not take this method"),
            )
            .hint("the header `allow` names those that it takes")
        })
}

async fn healthy() -> Response {
    json(&Value::from("ok"))
}

/// Whether requests can be served: the log answers, and the server is not about to stop.
async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if app.live.stop().is_cancelled() {
        return Err(crate::live::stopping());
    }
    for scope in app.principals.known_scopes() {
        let page = PageRequest {
            after: None,
            limit: 1,
        };
        app.log.list(&scope, page).await?;
    }
    Ok(json(&Value::from("ready")))
}

/// A JSON document.
fn json(value: &Value) -> Response {
    document(value.to_string().into_bytes())
}

fn document(mut bytes: Vec<u8>) -> Response {
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    let mut response = bytes.into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// What our own encoders cannot write, which no value of ours is.
fn unwritable(error: &outfitter_codec::EncodeError) -> Problem {
    tracing::error!(%error, "a document could not be written");
    ErrorInfo::new(Code::Internal, "the answer could not be written").into()
}

/// How much of something is told at once. Nothing at once would be read on for ever.
fn limit(wanted: Option<u64>, unless_told: u32, most: u32) -> Result<u32, Problem> {
    let wanted = wanted.unwrap_or(unless_told.into());
    u32::try_from(wanted)
        .ok()
        .filter(|limit| (1..=most).contains(limit))
        .ok_or_else(|| Problem::malformed(format!("limit must be 1 to {most}")))
}

fn with_header(mut response: Response, name: &'static str, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
