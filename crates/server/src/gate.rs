//! What every request passes first: that it is for us, from a page that may call, of a kind we
//! read, of a size we read, and from somebody.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::Limited;
use outfitter_core::{Code, ErrorInfo};
use url::{Host, Url};

use crate::app::App;
use crate::principals::Caller;
use crate::problem::Problem;

/// The most bytes of a body.
pub const DEFAULT_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The same at `/agui`, whose clients send all that was said with every run.
const AGUI_BODY_BYTES: usize = 16 * 1024 * 1024;

/// How long a browser may remember what it was told of an origin, in seconds.
const PREFLIGHT_AGE: &str = "600";

pub(crate) async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match admit(&app, request).await {
        Ok(Admitted::Preflight) => StatusCode::NO_CONTENT.into_response(),
        Ok(Admitted::Request(request)) => next.run(*request).await,
        Err(problem) => {
            let mut response = problem.into_response();
            is_ours(response.headers_mut());
            return response;
        }
    };
    if is_plain_refusal(&response) {
        response = Problem::malformed("the path or the query cannot be read").into_response();
    }
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        may_read(headers, origin);
    }
    is_ours(headers);
    response
}

/// A header that everything has that is answered here, and nothing that is answered for us.
pub(crate) const OURS: header::HeaderName = header::X_CONTENT_TYPE_OPTIONS;

fn is_ours(headers: &mut HeaderMap) {
    headers.insert(OURS, HeaderValue::from_static("nosniff"));
}

enum Admitted {
    Preflight,
    Request(Box<Request>),
}

async fn admit(app: &App, mut request: Request) -> Result<Admitted, Problem> {
    let allowed = &app.config.allowed_origins;
    check_host(&request, allowed)?;
    if let Some(origin) = request.headers().get(header::ORIGIN) {
        check_origin(origin, allowed)?;
        let asks = header::ACCESS_CONTROL_REQUEST_METHOD;
        if request.method() == Method::OPTIONS && request.headers().contains_key(asks) {
            return Ok(Admitted::Preflight);
        }
    }
    if !request.body().is_end_stream() {
        check_type(request.headers())?;
    }
    let path = request.uri().path();
    if !matches!(path, "/healthz" | "/readyz") {
        let channel = match path {
            "/mcp" => "mcp",
            path if path.starts_with("/mcp/") => "mcp",
            path if path.starts_with("/agui") => "agui",
            _ => "http",
        };
        let caller = Caller {
            bearer: credential(request.headers())?,
            channel: channel.into(),
        };
        let who = app.principals.identify(&caller).await?;
        request.extensions_mut().insert(Arc::new(who));
    }
    let most = match request.uri().path() {
        "/agui" => AGUI_BODY_BYTES,
        _ => DEFAULT_BODY_BYTES,
    };
    Ok(Admitted::Request(Box::new(
        request.map(|body| Body::new(Limited::new(body, most))),
    )))
}

/// What the router says itself when it cannot read a path.
fn is_plain_refusal(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::BAD_REQUEST
        && kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"))
}

/// Somebody else's name that leads here: a page that had its own name point to this machine.
fn check_host(request: &Request, allowed: &[String]) -> Result<(), Problem> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok());
    let host = host.filter(|_| named.next().is_none());
    let is_known = |host: &str| {
        if is_usual(host) {
            return true;
        }
        Url::parse(&format!("http://{host}/"))
            .ok()
            .filter(|url| url.path() == "/" && url.username().is_empty())
            .is_some_and(|url| {
                is_loopback(url.host().as_ref())
                    || allowed.iter().any(|origin| has_host(origin, &url))
            })
    };
    // A request may say its whole address, which then stands above the header.
    let whole = request.uri().authority();
    if host.is_some_and(is_known) && whole.is_none_or(|whole| is_known(whole.as_str())) {
        Ok(())
    } else {
        Err(forbidden("the Host is not this server's"))
    }
}

/// The names that clients on this machine use, written as they are, with a port or without.
fn is_usual(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    matches!(name, "127.0.0.1" | "localhost") && is_port
}

fn has_host(origin: &str, url: &Url) -> bool {
    Url::parse(origin).is_ok_and(|origin| origin.host().is_some() && origin.host() == url.host())
}

fn check_origin(origin: &HeaderValue, allowed: &[String]) -> Result<(), Problem> {
    let text = origin.to_str().unwrap_or_default();
    let listed = allowed
        .iter()
        .any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(text));
    let ours = || {
        Url::parse(text).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && is_loopback(url.host().as_ref())
        })
    };
    if listed || ours() {
        Ok(())
    } else {
        Err(forbidden("pages of this Origin may not call"))
    }
}

fn is_loopback(host: Option<&Host<&str>>) -> bool {
    match host {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => IpAddr::from(*address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(*address).is_loopback(),
        None => false,
    }
}

fn forbidden(message: &str) -> Problem {
    Problem::from(
        ErrorInfo::new(Code::NotPermitted, message)
            .with_hint("call it by a loopback name, or set [server] allowed_origins"),
    )
}

/// A body is JSON: what a page can send without asking first is not.
fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let sent = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(
            Problem::unsupported_type("a body must be sent as application/json")
                .hint("send the header `Content-Type: application/json`"),
        )
    }
}

fn credential(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = sent.next() else {
        return Ok(None);
    };
    let bearer = first
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    match (bearer, sent.next()) {
        (Some(token), None) => Ok(Some(token)),
        _ => Err(ErrorInfo::new(
            Code::Unauthenticated,
            "the Authorization header must be one bearer token",
        )
        .with_hint("send `Authorization: Bearer TOKEN`, or no such header")
        .into()),
    }
}

fn may_read(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let fixed = [
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, DELETE, OPTIONS",
        ),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id",
        ),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "mcp-session-id, outfitter-run-id, outfitter-session-id, outfitter-total-bytes, \
             outfitter-next-offset",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
