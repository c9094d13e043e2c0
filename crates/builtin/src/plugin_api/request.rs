//! The arguments of a call as a request.

use outfitter_core::{ToolContext, ToolError};
use outfitter_net::ACCEPTED_ENCODINGS;
use outfitter_net::reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue,
};
use outfitter_net::reqwest::{Request, Url};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};

use super::arguments::{at, inputs, named};
use super::flat::Place;
use super::operation::Operation;
use super::path::Filling;
use super::settings::Given;
use super::styled::{in_path, pairs, simple, texts};
use super::text::percent_encode;
use super::written::written;

/// What is taken as an answer.
const TAKES: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// Makes the request of a call. Files are read last, as far as who calls reaches.
pub(super) async fn make(
    cx: &ToolContext,
    operation: &Operation,
    given: &Given,
    args: &Map<String, Value>,
) -> Result<Request, ToolError> {
    let url = url(operation, given, args)?;
    let mut request = Request::new(operation.method.clone(), url);
    let headers = headers(operation, given, args)?;
    if let Some(written) = written(cx, operation, args).await? {
        let kind = HeaderValue::from_str(&written.kind)
            .map_err(|_| ToolError::internal("the media type of a body is no header"))?;
        request.headers_mut().insert(CONTENT_TYPE, kind);
        *request.body_mut() = Some(written.bytes.into());
    }
    request.headers_mut().extend(headers);
    Ok(request)
}

fn url(operation: &Operation, given: &Given, args: &Map<String, Value>) -> Result<Url, ToolError> {
    let mut url = operation.base.clone();
    if let Some(filled) = filled(operation, args)? {
        let path = format!("{}{filled}", operation.base.path().trim_end_matches('/'));
        url.set_path(&path);
        // Whatever was filled in, it is the path that was meant.
        if url.path() != path || url.origin() != operation.base.origin() {
            return Err(ToolError::invalid(
                "",
                "the path would lead to another place",
            ));
        }
    }
    let mut query: Vec<String> = Vec::new();
    for (input, value) in inputs(operation, Place::Query, args) {
        for (name, value) in pairs(input, value, percent_encode)? {
            if given.has_query(&name) {
                let message = format!("{name} is set for every call");
                return Err(ToolError::invalid(at(input), message));
            }
            query.push(format!("{}={value}", percent_encode(&name)));
        }
    }
    for (name, value) in &given.query {
        let value = percent_encode(value.expose_secret());
        query.push(format!("{}={value}", percent_encode(name)));
    }
    if !query.is_empty() {
        url.set_query(Some(&query.join("&")));
    }
    Ok(url)
}

/// The path of the operation with its arguments; none where it has none of its own.
pub(super) fn filled(
    operation: &Operation,
    args: &Map<String, Value>,
) -> Result<Option<String>, ToolError> {
    let template = operation.path.as_ref();
    template
        .map(|template| template.fill(|name| filling(operation, name, args)))
        .transpose()
}

fn filling(
    operation: &Operation,
    name: &str,
    args: &Map<String, Value>,
) -> Result<Filling, ToolError> {
    let mut inputs = inputs(operation, Place::Path, args);
    let Some((input, value)) = inputs.find(|(input, _)| input.name == name) else {
        let message = format!("{name} is a part of the path and not there");
        return Err(ToolError::invalid(
            named(operation, Place::Path, name),
            message,
        ));
    };
    let said = texts(input, value)?;
    let encoded = in_path(input, value, &said);
    let mut filling = Filling {
        encoded,
        said: Vec::new(),
        at: at(input),
    };
    for (key, text) in said {
        filling.said.extend(key);
        filling.said.push(text);
    }
    Ok(filling)
}

fn headers(
    operation: &Operation,
    given: &Given,
    args: &Map<String, Value>,
) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(TAKES));
    headers.insert(
        ACCEPT_ENCODING,
        HeaderValue::from_static(ACCEPTED_ENCODINGS),
    );
    for (input, value) in inputs(operation, Place::Header, args) {
        let text = simple(input.form, &texts(input, value)?, str::to_owned);
        let name = HeaderName::from_bytes(input.name.as_bytes());
        let value = HeaderValue::from_str(&text).ok();
        let (Ok(name), Some(value)) = (name, value.filter(|_| text.is_ascii())) else {
            let message = "a header is one line of ASCII characters";
            return Err(ToolError::invalid(at(input), message));
        };
        headers.insert(name, value);
    }
    let mut cookies: Vec<String> = Vec::new();
    for (input, value) in inputs(operation, Place::Cookie, args) {
        for (name, value) in pairs(input, value, percent_encode)? {
            if given.has_cookie(&name) {
                let message = format!("the cookie {name} is set for every call");
                return Err(ToolError::invalid(at(input), message));
            }
            cookies.push(format!("{}={value}", percent_encode(&name)));
        }
    }
    if let Some(given) = &given.cookies {
        cookies.push(given.expose_secret().to_owned());
    }
    if !cookies.is_empty() {
        let mut value = HeaderValue::from_str(&cookies.join("; "))
            .map_err(|_| ToolError::invalid("", "a cookie is one line of ASCII characters"))?;
        value.set_sensitive(true);
        headers.insert(COOKIE, value);
    }
    // What is said for every call counts.
    headers.extend(given.headers.clone());
    Ok(headers)
}
