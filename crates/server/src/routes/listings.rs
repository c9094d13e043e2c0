//! What there is beside tools: skills, MCP servers, and what was skipped.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use outfitter_core::Principal;
use serde_json::Value;

use crate::app::App;
use crate::problem::Problem;

pub(super) async fn skills(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
) -> Result<Response, Problem> {
    app.host.ready().await?;
    Ok(super::json(&Value::Array(app.directory.skills(&who))))
}

pub(super) async fn mcp_servers(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
) -> Result<Response, Problem> {
    app.host.ready().await?;
    Ok(super::json(&Value::Array(app.directory.mcp_servers(&who))))
}

pub(super) async fn diagnostics(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
) -> Result<Response, Problem> {
    app.host.ready().await?;
    Ok(super::json(&Value::Array(app.directory.diagnostics(&who))))
}
