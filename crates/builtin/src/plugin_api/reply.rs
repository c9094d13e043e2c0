//! What an API answered, as the result of a call.

use outfitter_core::{
    ArtifactId, Bytes, Code, ErrorInfo, Outcome, OutcomeState, ToolContext, ToolName, parse_strict,
    redact_addresses,
};
use outfitter_net::read_body;
use outfitter_net::reqwest::Method;
use outfitter_net::reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use outfitter_net::reqwest::{Response, Url};
use outfitter_net::{NetError, Origin};
use serde_json::{Map, Value, json};

use super::media::{essence, is_json};
use crate::web::{Form, Readable, keep, readable};

/// How much of a reply is read, unpacked.
pub(super) const MAX_REPLY_BYTES: usize = 10 * 1024 * 1024;

/// The longest header that is told.
const MAX_HEADER_CHARS: usize = 2000;

/// The schema of a result.
pub(super) fn schema() -> Value {
    crate::spec::object(
        &["status"],
        json!({
            "status": { "type": "integer", "description": "Of HTTP." },
            "content_type": { "type": "string", "description": "What the body is." },
            "body": { "description": "The body: JSON as it is, anything else as text." },
            "artifact": { "type": "string", "description": "The body, where it is no text." },
            "size": { "type": "integer", "description": "Its bytes, where it is no text." },
            "location": { "type": "string", "description": "Where it leads." },
            "truncated": { "type": "boolean", "description": "Whether only its beginning is here." },
        }),
    )
}

/// Reads a reply.
pub(super) async fn read(
    cx: &ToolContext,
    method: &Method,
    url: Url,
    response: Response,
) -> Result<Outcome, NetError> {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let kind = header(&headers, &CONTENT_TYPE).unwrap_or_default();
    let body = read_body(response, MAX_REPLY_BYTES).await?;
    let mut result = Map::from_iter([("status".to_owned(), json!(status))]);
    if let Some(location) = header(&headers, &LOCATION) {
        let shown = redact_addresses(&location).into_owned();
        result.insert("location".to_owned(), shown.into());
    }
    let mut fault = None;
    let mut artifact = None;
    if !body.bytes.is_empty() {
        if !kind.is_empty() {
            result.insert("content_type".to_owned(), kind.clone().into());
        }
        let held = Held {
            bytes: body.bytes.into(),
            cut: body.cut,
        };
        (artifact, fault) = tell(cx, &kind, &url, held, &mut result).await;
    }
    let failed = match refused(status, method, &headers) {
        Some(error) => Some(error),
        None => fault,
    };
    let state = match (&failed, body.cut) {
        (None, true) => OutcomeState::Partial,
        _ => OutcomeState::Complete,
    };
    Ok(Outcome {
        artifacts: artifact.into_iter().collect(),
        failed,
        state,
        ..Outcome::json(Value::Object(result))
    })
}

/// What there is of a body.
struct Held {
    bytes: Bytes,
    cut: bool,
}

/// Puts a body into the result: what it is kept as, and what is wrong with it.
async fn tell(
    cx: &ToolContext,
    kind: &str,
    url: &Url,
    held: Held,
    result: &mut Map<String, Value>,
) -> (Option<ArtifactId>, Option<ErrorInfo>) {
    if held.cut {
        result.insert("truncated".to_owned(), true.into());
    }
    let says_json = !essence(kind).contains('*') && is_json(kind);
    let mut fault = None;
    if says_json && !held.cut {
        let text = std::str::from_utf8(&held.bytes).map(|text| text.trim_start_matches('\u{feff}'));
        let read = text.map_err(|error| error.to_string()).and_then(|text| {
            // What JSON itself allows, and what would lose something here, is text.
            match parse_strict(text) {
                Ok(value) => Ok(Some(value)),
                Err(_) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => Ok(None),
                Err(error) => Err(error.message),
            }
        });
        match read {
            Ok(Some(value)) => {
                result.insert("body".to_owned(), value);
                return (None, None);
            }
            Ok(None) => {}
            Err(why) => {
                let message = format!("its reply says that it is JSON and is none: {why}");
                fault = Some(ErrorInfo::new(Code::ProtocolError, message));
            }
        }
    }
    let size = held.bytes.len();
    match readable(&held.bytes, kind, url, Form::Raw) {
        Readable::Text { text, .. } => {
            result.insert("body".to_owned(), text.into());
            (None, fault)
        }
        Readable::Binary(mime) => {
            result.insert("size".to_owned(), json!(size));
            if held.cut {
                let message = format!(
                    "its reply is longer than {MAX_REPLY_BYTES} bytes; a part of what is no text is \
                     of no use"
                );
                return (None, Some(ErrorInfo::new(Code::TooLarge, message)));
            }
            let kept = keep(cx, &mime, "reply", held.bytes).await;
            match &kept {
                Some(id) => {
                    result.insert("artifact".to_owned(), id.as_str().into());
                }
                None => {
                    let message = "its reply is no text, and there is nowhere to keep it";
                    fault = Some(ErrorInfo::new(Code::Unavailable, message));
                }
            }
            result.insert("content_type".to_owned(), mime.into());
            (kept, fault)
        }
    }
}

/// What a status means, where it is none of success.
fn refused(status: u16, method: &Method, headers: &HeaderMap) -> Option<ErrorInfo> {
    let code = match status {
        200..=299 => return None,
        400 | 422 => Code::InvalidArguments,
        401 => Code::Unauthenticated,
        403 => Code::NotPermitted,
        404 | 410 => Code::NotFound,
        409 | 412 => Code::Conflict,
        413 => Code::TooLarge,
        429 => Code::RateLimited,
        408 | 504 => Code::Timeout,
        502 => Code::ProtocolError,
        500..=599 => Code::Unavailable,
        _ => Code::Failed,
    };
    let mut error = ErrorInfo::new(code, format!("the API answered {status}"));
    if code == Code::Unauthenticated {
        error = error.with_hint("its credentials are in the configuration, under `headers`");
    }
    if let Some(after) = header(headers, &RETRY_AFTER) {
        error = error.with_hint(format!("it says to try again after {after}"));
    }
    // It may have been done: whoever makes the call again has to look first.
    let may_be_done = matches!(code, Code::Timeout | Code::Unavailable) && status != 503;
    if may_be_done && !is_safe(method) {
        error.retryable = false;
    }
    Some(error)
}

/// A redirect that is not followed.
pub(super) fn elsewhere(to: &Url) -> ErrorInfo {
    let message = format!(
        "the API leads on to {}, which is another origin",
        Origin::of(to)
    );
    ErrorInfo::new(Code::Failed, message)
        .with_hint("where the API has moved, its `url` in the configuration says so")
}

/// A redirect to what another call would be, which has rules of its own.
pub(super) fn another(to: &Url, tool: &ToolName) -> ErrorInfo {
    let path = to.path();
    let message = format!("the API leads on to {path}, which is another call: of {tool}");
    ErrorInfo::new(Code::Failed, message).with_hint(format!(
        "call {tool}, if it is wanted and there is such a tool"
    ))
}

/// Whether a call can simply be made again.
pub(super) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    Some(text.chars().take(MAX_HEADER_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(500, Code::Unavailable)]
    #[case(599, Code::Unavailable)]
    #[case(600, Code::Failed)]
    #[case(999, Code::Failed)]
    fn a_status_that_none_is_was_told_as_worth_another_try(
        #[case] status: u16,
        #[case] code: Code,
    ) {
        let error = refused(status, &Method::GET, &HeaderMap::new()).unwrap();
        assert_eq!((error.code, error.retryable), (code, code.retryable()));
        assert_eq!(error.retryable, status < 600);
    }
}
