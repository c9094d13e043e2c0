//! The arguments of a call as a request.

use outfitter_core::{ToolError, canonical};
use outfitter_net::ACCEPTED_ENCODINGS;
use outfitter_net::reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue,
};
use outfitter_net::reqwest::{Request, Url};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};

use super::body::{self, Body, From, Media};
use super::flat::{Need, Place};
use super::multipart::{self, Part};
use super::operation::Operation;
use super::parameter::{Input, Style};
use super::path::Filling;
use super::settings::Given;
use super::text::percent_encode;

/// What is taken as an answer.
const TAKES: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// Makes the request of a call.
pub(super) fn make(
    operation: &Operation,
    given: &Given,
    args: &Map<String, Value>,
) -> Result<Request, ToolError> {
    let url = url(operation, given, args)?;
    let mut request = Request::new(operation.method.clone(), url);
    let headers = headers(operation, given, args)?;
    if let Some(written) = written(operation, args)? {
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
    let mut pairs: Vec<String> = Vec::new();
    for (input, value) in inputs(operation, Place::Query, args) {
        for (name, value) in query_pairs(input, value)? {
            if given.has_query(&name) {
                let message = format!("{name} is set for every call");
                return Err(ToolError::invalid(at(input), message));
            }
            pairs.push(format!("{}={value}", percent_encode(&name)));
        }
    }
    for (name, value) in &given.query {
        let value = percent_encode(value.expose_secret());
        pairs.push(format!("{}={value}", percent_encode(name)));
    }
    if !pairs.is_empty() {
        url.set_query(Some(&pairs.join("&")));
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

/// The arguments that go to a place, and are there. None is as good as not there, but in a body.
fn inputs<'a>(
    operation: &'a Operation,
    place: Place,
    args: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a Input, &'a Value)> {
    operation.inputs.iter().filter_map(move |input| {
        let value = args.get(&input.property)?;
        let there = input.place == place && (place == Place::Body || !value.is_null());
        there.then_some((input, value))
    })
}

/// The argument, as a JSON Pointer.
fn at(input: &Input) -> String {
    pointer(&input.property)
}

fn pointer(property: &str) -> String {
    format!("/{}", property.replace('~', "~0").replace('/', "~1"))
}

/// The argument that the document gives this name.
fn named(operation: &Operation, place: Place, name: &str) -> String {
    let mut inputs = operation.inputs.iter();
    let input = inputs.find(|input| input.place == place && input.name == name);
    input.map(at).unwrap_or_default()
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

/// The texts of a value: one, those of a list, or those of an object with their keys.
fn texts(input: &Input, value: &Value) -> Result<Vec<(Option<String>, String)>, ToolError> {
    if input.form == Style::Json {
        return Ok(vec![(None, canonical(value))]);
    }
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| Ok((None, scalar(input, item)?)))
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| Ok((Some(key.clone()), scalar(input, value)?)))
            .collect(),
        other => Ok(vec![(None, scalar(input, other)?)]),
    }
}

fn scalar(input: &Input, value: &Value) -> Result<String, ToolError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(boolean) => Ok(boolean.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(ToolError::invalid(
            at(input),
            format!(
                "a {} has no form for values inside values",
                input.place.as_str()
            ),
        )),
    }
}

/// A value as it stands in a path. What is empty in the style `simple` is refused later on.
fn in_path(input: &Input, value: &Value, said: &[(Option<String>, String)]) -> String {
    let several = matches!(value, Value::Array(_) | Value::Object(_));
    let pair = |name: &str, text: &str| match text {
        "" => percent_encode(name),
        text => format!("{}={}", percent_encode(name), percent_encode(text)),
    };
    match input.form {
        // Without items there is nothing to mark.
        Style::Label { .. } | Style::Matrix { .. } if said.is_empty() => String::new(),
        Style::Label { explode: true } if several => said
            .iter()
            .map(|(key, text)| match key {
                Some(key) => format!(".{}={}", percent_encode(key), percent_encode(text)),
                None => format!(".{}", percent_encode(text)),
            })
            .collect(),
        Style::Label { .. } => format!(".{}", simple(input.form, said, percent_encode)),
        Style::Matrix { explode: true } if several => said
            .iter()
            .map(|(key, text)| format!(";{}", pair(key.as_deref().unwrap_or(&input.name), text)))
            .collect(),
        Style::Matrix { .. } if several => {
            let list = simple(input.form, said, percent_encode);
            format!(";{}={list}", percent_encode(&input.name))
        }
        Style::Matrix { .. } => {
            let text = said.first().map_or("", |(_, text)| text.as_str());
            format!(";{}", pair(&input.name, text))
        }
        form => simple(form, said, percent_encode),
    }
}

/// `a,b`, `k,v` or `k=v`.
fn simple(form: Style, said: &[(Option<String>, String)], encode: fn(&str) -> String) -> String {
    let between = match form {
        Style::Simple { explode: true } => "=",
        Style::Simple { explode: false }
        | Style::Form { .. }
        | Style::Delimited(_)
        | Style::Label { .. }
        | Style::Matrix { .. }
        | Style::Deep
        | Style::Json => ",",
    };
    let each: Vec<String> = said
        .iter()
        .map(|(key, text)| match key {
            Some(key) => format!("{}{between}{}", encode(key), encode(text)),
            None => encode(text),
        })
        .collect();
    each.join(",")
}

/// The pairs of a query: names as they are, values as they stand in it.
fn query_pairs(input: &Input, value: &Value) -> Result<Vec<(String, String)>, ToolError> {
    if input.form == Style::Deep {
        return deep(input, value);
    }
    let said = texts(input, value)?;
    let several = matches!(value, Value::Array(_) | Value::Object(_));
    let own = || input.name.clone();
    Ok(match input.form {
        Style::Form { explode: true } if several => said
            .into_iter()
            .map(|(key, text)| (key.unwrap_or_else(own), percent_encode(&text)))
            .collect(),
        // A list without items is no parameter.
        _ if said.is_empty() => Vec::new(),
        Style::Delimited(delimiter) if several => {
            let delimiter = percent_encode(&delimiter.to_string());
            let each: Vec<String> = said
                .into_iter()
                .flat_map(|(key, text)| key.into_iter().chain([text]))
                .map(|text| percent_encode(&text))
                .collect();
            vec![(own(), each.join(&delimiter))]
        }
        form => vec![(own(), simple(form, &said, percent_encode))],
    })
}

/// `name[k]=v`. OpenAPI defines no more than one level of it, and servers do not agree on more.
fn deep(input: &Input, value: &Value) -> Result<Vec<(String, String)>, ToolError> {
    let Value::Object(fields) = value else {
        let message = "only an object can be written as name[key]=value";
        return Err(ToolError::invalid(at(input), message));
    };
    let pair = |(key, value): (&String, &Value)| {
        let text = scalar(input, value)?;
        Ok((format!("{}[{key}]", input.name), percent_encode(&text)))
    };
    fields.iter().map(pair).collect()
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
        for (name, value) in query_pairs(input, value)? {
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

/// A body, and its media type.
struct Written {
    kind: String,
    bytes: Vec<u8>,
}

fn written(operation: &Operation, args: &Map<String, Value>) -> Result<Option<Written>, ToolError> {
    let Some(body) = &operation.body else {
        return Ok(None);
    };
    match &body.from {
        From::Whole(property) => match args.get(property) {
            Some(value) => whole(body, property, value).map(Some),
            None => Ok(None),
        },
        From::Fields { required } => {
            let fields: Map<String, Value> = inputs(operation, Place::Body, args)
                .map(|(input, value)| (input.name.clone(), value.clone()))
                .collect();
            if fields.is_empty() && body.need == Need::Optional {
                return Ok(None);
            }
            if let Some(name) = body::missing(required, &fields) {
                let message =
                    format!("a body without {name:?} is none; give it, or none of the body");
                return Err(ToolError::invalid(
                    named(operation, Place::Body, name),
                    message,
                ));
            }
            Ok(Some(of_fields(body, fields)))
        }
    }
}

fn whole(body: &Body, property: &str, value: &Value) -> Result<Written, ToolError> {
    match (&body.media, value) {
        (Media::Json(kind), value) => Ok(Written {
            kind: kind.clone(),
            bytes: canonical(value).into_bytes(),
        }),
        (Media::Text(kind), Value::String(text)) => Ok(Written {
            kind: kind.clone(),
            bytes: text.clone().into_bytes(),
        }),
        (Media::Text(_) | Media::Form | Media::Multipart, _) => {
            Err(ToolError::invalid(pointer(property), "it has to be a text"))
        }
    }
}

fn of_fields(body: &Body, fields: Map<String, Value>) -> Written {
    match &body.media {
        Media::Json(kind) => Written {
            kind: kind.clone(),
            bytes: canonical(&Value::Object(fields)).into_bytes(),
        },
        Media::Text(kind) => Written {
            kind: kind.clone(),
            bytes: canonical(&Value::Object(fields)).into_bytes(),
        },
        Media::Form => {
            let pairs = each(fields);
            let pairs = pairs
                .iter()
                .map(|part| format!("{}={}", form(&part.name), form(&part.text)));
            Written {
                kind: "application/x-www-form-urlencoded".to_owned(),
                bytes: pairs.collect::<Vec<_>>().join("&").into_bytes(),
            }
        }
        Media::Multipart => {
            let (kind, bytes) = multipart::write(&each(fields));
            Written { kind, bytes }
        }
    }
}

/// The fields of a form: a list is one for each item, an object is JSON.
fn each(fields: Map<String, Value>) -> Vec<Part> {
    let part = |name: &str, value: Value| {
        let (kind, text) = match value {
            Value::String(text) => (None, text),
            Value::Null => (None, String::new()),
            other @ (Value::Bool(_) | Value::Number(_)) => (None, canonical(&other)),
            other @ (Value::Array(_) | Value::Object(_)) => {
                (Some("application/json"), canonical(&other))
            }
        };
        Part {
            name: name.to_owned(),
            kind,
            text,
        }
    };
    fields
        .into_iter()
        .flat_map(|(name, value)| match value {
            Value::Array(items) => items.into_iter().map(|item| part(&name, item)).collect(),
            one => vec![part(&name, one)],
        })
        .collect()
}

/// As forms are written: a space is a plus.
fn form(text: &str) -> String {
    percent_encode(text).replace("%20", "+")
}
