//! The body of a request: which media type it has, and which arguments are in it.

use serde_json::{Map, Value};

use super::document::Document;
use super::error::Unusable;
use super::flat::{Flat, Need, Place};
use super::parameter::{Input, Style};
use super::schema::Schemas;

/// Keywords of a schema whose properties can stand beside other arguments. One with any other says
/// something of them together, and stays in one piece.
const APART: [&str; 16] = [
    "$id",
    "$schema",
    "additionalProperties",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "xml",
];

/// How a body is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON, as this media type.
    Json(String),
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// A text, as this media type.
    Text(String),
}

/// The body of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) media: Media,
    /// Where its arguments come from.
    pub(super) from: From,
    /// Whether there is one in every call.
    pub(super) need: Need,
}

/// Where the arguments of a body come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum From {
    /// All of it is one argument of this name.
    Whole(String),
    /// Each of its fields is an argument; those of these names (of the API) have to be there.
    Fields { required: Vec<String> },
}

/// What came of reading a body.
pub(super) struct Read {
    pub(super) body: Option<Body>,
    pub(super) inputs: Vec<Input>,
    /// What was left out, and why.
    pub(super) left_out: Vec<String>,
}

/// Reads the body of an operation.
pub(super) fn read<'d>(
    document: &'d Document,
    operation: &'d Value,
    flat: &mut Flat,
    schemas: &mut Schemas<'d>,
) -> Result<Read, Unusable> {
    let mut read = Read {
        body: None,
        inputs: Vec::new(),
        left_out: Vec::new(),
    };
    let Some(said) = operation.get("requestBody") else {
        return Ok(read);
    };
    let said = document.resolve(said)?;
    let need = match said.get("required") {
        Some(Value::Bool(true)) => Need::Required,
        _ => Need::Optional,
    };
    let content = said["content"].as_object();
    let chosen = content.and_then(|content| choose(content));
    let Some((media, of)) = chosen else {
        let kinds: Vec<&str> = content
            .into_iter()
            .flatten()
            .map(|(kind, _)| &**kind)
            .collect();
        let why = format!("its body can only be of {kinds:?}, which are not written");
        return match need {
            Need::Required => Err(Unusable::new(why)),
            Need::Optional => {
                read.left_out.push(why);
                Ok(read)
            }
        };
    };
    let Some(schema) = of.get("schema") else {
        let schema = Value::Bool(true);
        return read.whole(media, schema, need, flat);
    };
    let plain = document.resolve(schema)?;
    let Some(properties) = apart(&media, plain) else {
        if matches!(media, Media::Form | Media::Multipart) {
            return Err(Unusable::new("its form is not an object of named fields"));
        }
        let schema = schemas.take(schema)?;
        return read.whole(media, schema, need, flat);
    };
    let required = names(plain);
    let mut there = Vec::new();
    for (name, schema) in properties {
        let field = document.resolve(schema)?;
        if field.get("readOnly") == Some(&Value::Bool(true)) {
            continue;
        }
        let has_to = required.contains(&name.as_str());
        if media == Media::Multipart && is_file(document, field) {
            let why = format!("its field {name:?} is a file, and only texts are written");
            if has_to {
                return Err(Unusable::new(why));
            }
            read.left_out.push(why);
            continue;
        }
        if has_to {
            there.push(name.clone());
        }
        // A body that need not be there has nothing that has to be in it.
        let field_need = match need {
            Need::Required if has_to => Need::Required,
            Need::Required | Need::Optional => Need::Optional,
        };
        let property = flat.add(Place::Body, name, schemas.take(schema)?, field_need)?;
        read.inputs.push(Input {
            property,
            name: name.clone(),
            place: Place::Body,
            form: Style::Json,
        });
    }
    read.body = Some(Body {
        media,
        from: From::Fields { required: there },
        need,
    });
    Ok(read)
}

impl Read {
    fn whole(
        mut self,
        media: Media,
        schema: Value,
        need: Need,
        flat: &mut Flat,
    ) -> Result<Self, Unusable> {
        let schema = match (&media, schema) {
            (Media::Text(_), Value::Bool(true)) => serde_json::json!({ "type": "string" }),
            (_, Value::Bool(true)) => serde_json::json!({}),
            (_, schema) => schema,
        };
        let property = flat.add(Place::Body, "body", schema, need)?;
        self.body = Some(Body {
            media,
            from: From::Whole(property),
            need,
        });
        Ok(self)
    }
}

/// The properties of a body whose fields can stand by themselves.
pub(super) fn apart<'v>(media: &Media, schema: &'v Value) -> Option<&'v Map<String, Value>> {
    let map = schema.as_object()?;
    let properties = map.get("properties")?.as_object()?;
    let is_object = match map.get("type") {
        None => true,
        Some(kind) => kind == "object",
    };
    let closed = match map.get("additionalProperties") {
        None | Some(Value::Bool(false)) => true,
        // Forms have no other form than one of fields.
        Some(_) => matches!(media, Media::Form | Media::Multipart),
    };
    let known = |key: &String| APART.contains(&key.as_str()) || key.starts_with("x-");
    let fields = !matches!(media, Media::Text(_));
    (fields && is_object && closed && map.keys().all(known)).then_some(properties)
}

/// The names that a schema requires.
pub(super) fn names(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The first media type that is written here, best first.
fn choose(content: &Map<String, Value>) -> Option<(Media, &Value)> {
    let find =
        |wanted: &dyn Fn(&str) -> bool| content.iter().find(|(kind, _)| wanted(&essence(kind)));
    let json = find(&is_json).map(|(kind, of)| {
        let kind = if kind.contains('*') {
            "application/json"
        } else {
            kind
        };
        (Media::Json(kind.to_owned()), of)
    });
    json.or_else(|| {
        let (_, of) = find(&|kind| kind == "application/x-www-form-urlencoded")?;
        Some((Media::Form, of))
    })
    .or_else(|| {
        let (_, of) = find(&|kind| kind == "multipart/form-data")?;
        Some((Media::Multipart, of))
    })
    .or_else(|| {
        let (kind, of) = find(&|kind| kind.starts_with("text/"))?;
        let kind = if kind.contains('*') {
            "text/plain"
        } else {
            kind
        };
        Some((Media::Text(kind.to_owned()), of))
    })
}

/// Whether a media type is JSON, or stands for it.
pub(super) fn is_json(kind: &str) -> bool {
    let kind = essence(kind);
    matches!(
        kind.as_str(),
        "application/json" | "text/json" | "*/*" | "application/*"
    ) || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// A media type without its parameters.
pub(super) fn essence(kind: &str) -> String {
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether a field is a file, or a list of files: bytes that no text stands for.
fn is_file(document: &Document, field: &Value) -> bool {
    let binary = |schema: &Value| {
        schema["format"] == "binary"
            || schema["type"] == "file"
            || schema
                .get("contentMediaType")
                .and_then(Value::as_str)
                .is_some_and(|kind| !kind.starts_with("text/") && !is_json(kind))
    };
    let items = field
        .get("items")
        .and_then(|items| document.resolve(items).ok());
    binary(field) || items.is_some_and(binary)
}

/// The field that a body which is given cannot do without, and does.
pub(super) fn missing<'r>(required: &'r [String], fields: &Map<String, Value>) -> Option<&'r str> {
    let mut required = required.iter();
    let missing = required.find(|name| !fields.contains_key(*name));
    missing.map(String::as_str)
}
