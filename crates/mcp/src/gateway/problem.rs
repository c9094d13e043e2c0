//! Refusals as clients of the HTTP API read them: `application/problem+json` (RFC 9457) with a code.
//!
//! The library refuses in plain text, and takes a body that it cannot read for a wrong content type.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use outfitter_core::{Code, ErrorInfo};
use serde_json::{Map, Value};

use super::late::Answer;
use super::plain::{LEGACY, MODERN};

/// How the library's refusal of a body that it cannot read begins; it has the status 415.
const UNREADABLE: &[u8] = b"fail to deserialize request body";

/// A refusal.
pub(super) fn refuse(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = status;
    written(answer.map(|_| why.to_owned()))
}

/// What the library answers, with its refusals as ours are. Messages of the protocol stay as they
/// are, also those that say no.
pub(super) async fn readable(answer: Answer) -> Answer {
    let status = answer.status();
    let is_message = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !(status.is_client_error() || status.is_server_error()) || is_message {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let said = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    let why = if said.starts_with(UNREADABLE) {
        parts.status = StatusCode::BAD_REQUEST;
        "the body is not one JSON-RPC message".to_owned()
    } else if status.is_server_error() {
        // How it fails inside is for the log, where it is.
        "the request failed inside; the log says more".to_owned()
    } else {
        without_title(&String::from_utf8_lossy(&said), status)
    };
    written(Response::from_parts(parts, why))
}

/// The library begins with the words of the status, which have a place of their own here.
fn without_title(said: &str, status: StatusCode) -> String {
    let title = status.canonical_reason().unwrap_or_default();
    let why = said.strip_prefix(title).unwrap_or(said);
    let why = why.trim_start_matches(':').trim();
    if why.is_empty() {
        "this path does not take such a request".to_owned()
    } else {
        why.to_owned()
    }
}

/// The same shape as everywhere in the HTTP API.
fn written(answer: Response<String>) -> Answer {
    let status = answer.status();
    let (mut parts, why) = answer.into_parts();
    let hint = hint_to(status, &why);
    let mut error = ErrorInfo::new(code_of(status), why);
    error.hint = hint;
    let title = status.canonical_reason().unwrap_or_default();
    let mut body = Map::from_iter([
        ("type".to_owned(), Value::from("about:blank")),
        ("title".to_owned(), Value::from(title)),
        ("status".to_owned(), Value::from(status.as_u16())),
        ("detail".to_owned(), Value::from(error.message.as_str())),
    ]);
    if let Ok(Value::Object(error)) = serde_json::to_value(&error) {
        body.extend(error.into_iter().filter(|(key, _)| key != "message"));
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    if status == StatusCode::UNAUTHORIZED {
        let bearer = HeaderValue::from_static("Bearer");
        parts.headers.insert(header::WWW_AUTHENTICATE, bearer);
    }
    let body = Full::from(Value::Object(body).to_string());
    Response::from_parts(parts, body.boxed())
}

/// What to do next, where that is known.
fn hint_to(status: StatusCode, why: &str) -> Option<String> {
    let hint = match status {
        StatusCode::BAD_REQUEST if why.contains("Session ID is required") => {
            "begin with `initialize`, and send the `Mcp-Session-Id` of its answer with every request; \
             or speak 2026-07-28, which has no sessions: name it in the header \
             `MCP-Protocol-Version` and in `_meta`"
        }
        StatusCode::BAD_REQUEST if why.contains("MCP-Protocol-Version") => {
            return Some(format!("known are {} and {MODERN}", LEGACY.join(", ")));
        }
        StatusCode::BAD_REQUEST if why.contains("JSON-RPC") => {
            "send one object with `jsonrpc`, `id`, `method` and `params`; several at once are not taken"
        }
        StatusCode::BAD_REQUEST if why.contains("has this id") => {
            "give each request of a session an id of its own"
        }
        StatusCode::NOT_FOUND if why.contains("Session") => {
            "it has ended, or was never yours: begin a new one with `initialize`"
        }
        StatusCode::NOT_ACCEPTABLE => "send `Accept: application/json, text/event-stream`",
        StatusCode::METHOD_NOT_ALLOWED => {
            "send messages by POST; GET hears of changes in a session, and DELETE ends it"
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "send `Content-Type: application/json`",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn code_of(status: StatusCode) -> Code {
    match status {
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::NotPermitted,
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_ACCEPTABLE => Code::Usage,
        StatusCode::PAYLOAD_TOO_LARGE => Code::TooLarge,
        status if status.is_server_error() => Code::Internal,
        _ => Code::InvalidArguments,
    }
}
