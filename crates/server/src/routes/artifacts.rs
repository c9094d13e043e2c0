//! `/v1/artifacts/{id}`: content too large or too binary to inline, piece by piece.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use outfitter_core::{ArtifactChunk, ArtifactError, ArtifactId, Principal, Scope, SessionId};
use serde::Deserialize;

use super::with_header;
use crate::app::App;
use crate::entries;
use crate::problem::Problem;
use crate::query;

/// Bytes of one answer, unless told otherwise, and at most.
const LIMIT: u32 = 1024 * 1024;
const MOST: u32 = 16 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
    /// Where it is, for who knows: it need not be looked for then.
    session_id: Option<SessionId>,
}

pub(super) async fn read(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    range: Result<Query<Range>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let range = query::wanted(range)?;
    let missing = || {
        Problem::not_found(format!("there is no artifact {id}"))
            .hint("its id is in the result it belongs to, and it goes with its session")
    };
    let artifact = ArtifactId::new(id.as_str()).map_err(|_| missing())?;
    let scope = Scope::from(&*who);
    let sessions = match &range.session_id {
        Some(session) => vec![session.clone()],
        None => entries::sessions(&*app.log, &scope)
            .await?
            .into_iter()
            .map(|session| session.id)
            .collect(),
    };
    let most = super::limit(range.limit, LIMIT, MOST)?.into();
    for session in sessions {
        let read = app
            .artifacts
            .read(&scope, &session, &artifact, range.offset, most);
        match read.await {
            Ok(chunk) => return Ok(told(chunk, range.offset)),
            Err(ArtifactError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(missing())
}

/// The bytes, as a file to keep: what a tool made must not run as a page of ours.
fn told(chunk: ArtifactChunk, offset: u64) -> Response {
    let (info, length) = (chunk.info, chunk.bytes.len() as u64);
    let mut response = chunk.bytes.into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&info.mime);
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, kind);
    for (name, value) in [
        (header::CONTENT_DISPOSITION, "attachment"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
        (header::CACHE_CONTROL, "private, no-cache"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let response = with_header(response, "outfitter-total-bytes", &info.size.to_string());
    let next = offset.saturating_add(length);
    if next < info.size {
        with_header(response, "outfitter-next-offset", &next.to_string())
    } else {
        response
    }
}
