//! Calls that want nothing but their answer, read and answered here.
//!
//! The library takes every request through the task of its session, and answers it with a stream of
//! events, in which progress has its place. That costs as much as the call itself, so that a call
//! whose client asked for no progress is taken here, if nothing about it is unusual. Whatever is
//! (a field that is not known, a header that does not fit) goes to the library, which refuses it in
//! its own words: nothing is refused here.

use std::borrow::Cow;
use std::fmt::Display;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use outfitter_core::{Arguments, from_json_slice, from_json_str};
use rmcp::model::{
    CallToolResult, ClientCapabilities, ErrorData, Implementation, RequestId, ResultType,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::service::SESSION_HEADER;

/// The most bytes of a message that is looked at here.
const MOST_BYTES: u64 = 64 * 1024;

pub(super) const VERSION_HEADER: &str = "mcp-protocol-version";

/// Revisions that have sessions, and the one that has none.
pub(super) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(super) const MODERN: &str = "2026-07-28";

/// Which kind of revision a request is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// In a session.
    Legacy,
    /// Each request by itself.
    Modern,
}

/// What a message is, as far as it matters here.
#[derive(Debug)]
pub(super) enum Plain {
    /// A call that wants nothing but its answer.
    Call(PlainCall),
    /// A request of this session is not wanted any more.
    Cancelled(RequestId),
    /// Something for the library.
    Other,
}

/// A call that wants nothing but its answer.
#[derive(Debug)]
pub(super) struct PlainCall {
    pub(super) id: RequestId,
    pub(super) era: Era,
    pub(super) name: String,
    pub(super) arguments: Arguments,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    _meta: Option<Meta>,
}

/// What a request of the modern era says of itself. A token for progress is not among it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<ClientCapabilities>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<Implementation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: RequestId,
}

/// Whether the head is that of a message which is worth a look: for one of these hosts, from no
/// page of a browser, short, read as JSON and answered as JSON or as a stream.
pub(super) fn worth_a_look<B>(request: &Request<B>, hosts: &[String]) -> bool
where
    B: http_body::Body,
{
    let headers = request.headers();
    let is_short = request
        .body()
        .size_hint()
        .upper()
        .is_some_and(|length| length <= MOST_BYTES);
    let takes_both = one(headers, "accept").is_some_and(|accept| {
        let mut kinds = accept.split(',').map(str::trim);
        let mut more = kinds.clone();
        kinds.any(|kind| kind == "application/json") && more.any(|kind| kind == "text/event-stream")
    });
    request.method() == Method::POST
        && is_short
        && takes_both
        && one(headers, "content-type") == Some("application/json")
        && !headers.contains_key(header::ORIGIN)
        && request.uri().authority().is_none()
        && one(headers, "host").is_some_and(|host| is_of(host, hosts))
}

/// Reads the whole message.
///
/// # Errors
/// Why it could not be read.
pub(super) async fn whole<B>(request: Request<B>) -> Result<Request<Bytes>, String>
where
    B: http_body_util::BodyExt + Send + 'static,
    B::Error: Display,
{
    let (parts, body) = request.into_parts();
    match body.collect().await {
        Ok(body) => Ok(Request::from_parts(parts, body.to_bytes())),
        Err(error) => Err(error.to_string()),
    }
}

/// What this message is.
pub(super) fn read(request: &Request<Bytes>) -> Plain {
    let Ok(envelope) = from_json_slice::<Envelope<'_>>(request.body()) else {
        return Plain::Other;
    };
    let (Some(params), "2.0") = (envelope.params, &*envelope.jsonrpc) else {
        return Plain::Other;
    };
    match (&*envelope.method, envelope.id) {
        ("tools/call", Some(id)) => call(request.headers(), id, params).unwrap_or(Plain::Other),
        ("notifications/cancelled", None) => match from_json_str(params.get()) {
            Ok(Cancelled { request_id }) => Plain::Cancelled(request_id),
            Err(_) => Plain::Other,
        },
        _ => Plain::Other,
    }
}

/// Whether this names no session, and is of an era that has none.
pub(super) fn is_by_itself(request: &Request<Bytes>) -> bool {
    let headers = request.headers();
    !headers.contains_key(SESSION_HEADER)
        && one(headers, VERSION_HEADER).is_some_and(|version| !LEGACY.contains(&version))
}

/// The method of a message that has one.
pub(super) fn method(message: &[u8]) -> Option<Cow<'_, str>> {
    let named: Named<'_> = serde_json::from_slice(message).ok()?;
    Some(named.method)
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
}

fn call(headers: &HeaderMap, id: RequestId, params: &RawValue) -> Option<Plain> {
    let params: Params<'_> = from_json_str(params.get()).ok()?;
    let raw = params.arguments.map_or("{}", RawValue::get);
    if !raw.starts_with('{') {
        return None;
    }
    let era = era(headers, &params)?;
    Some(Plain::Call(PlainCall {
        id,
        era,
        arguments: Arguments::parse(raw),
        name: params.name,
    }))
}

/// The era, if the headers and what the request says of itself are as they should be.
fn era(headers: &HeaderMap, params: &Params<'_>) -> Option<Era> {
    let in_session = headers.contains_key(SESSION_HEADER);
    let version = match headers.contains_key(VERSION_HEADER) {
        true => Some(one(headers, VERSION_HEADER)?),
        false => None,
    };
    let legacy = version.is_none_or(|version| LEGACY.contains(&version));
    match &params._meta {
        None if legacy && in_session => Some(Era::Legacy),
        Some(Meta {
            version: Some(said),
            capabilities: Some(_),
            client: Some(_),
        }) if !in_session
            && version == Some(MODERN)
            && said == MODERN
            && one(headers, "mcp-method") == Some("tools/call")
            && one(headers, "mcp-name") == Some(&*params.name)
            && !headers
                .keys()
                .any(|name| name.as_str().starts_with("mcp-param-")) =>
        {
            Some(Era::Modern)
        }
        _ => None,
    }
}

/// A header that is there once.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a host, with a port or without, is one of these.
fn is_of(host: &str, hosts: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    hosts.iter().any(|known| known == name)
}

#[derive(Serialize)]
struct Reply<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<CallToolResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorData>,
}

/// The answer to a request whose parameters do not fit.
pub(super) fn misfit(id: &RequestId, why: String) -> Vec<u8> {
    // What an error says is the same in both eras.
    reply(id, Era::Legacy, Err(ErrorData::invalid_params(why, None)))
}

/// The answer as a message.
pub(super) fn reply(
    id: &RequestId,
    era: Era,
    answer: Result<CallToolResult, ErrorData>,
) -> Vec<u8> {
    let (result, error) = match answer {
        Ok(mut result) => {
            result.result_type = match era {
                Era::Legacy => None,
                Era::Modern => Some(ResultType::COMPLETE),
            };
            (Some(result), None)
        }
        Err(error) => (None, Some(error)),
    };
    let reply = Reply {
        jsonrpc: "2.0",
        id,
        result,
        error,
    };
    // A value of JSON can be written, and so can everything else of it.
    serde_json::to_vec(&reply).unwrap_or_default()
}
