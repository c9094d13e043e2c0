//! The fields of a form: which are files, and how each is written.

use serde_json::{Map, Value, json};

use super::document::{Document, Version};
use super::error::Unusable;
use super::flat::Place;
use super::media::{Media, MediaTypes, Transfer, is_binary, is_json};
use super::parameter::{self, Style};

/// How many alternatives and references lead from a schema to the only one that it can be.
const MAX_THROUGH: usize = 8;

/// The most bytes of all files of one call.
pub(super) const MAX_UPLOAD_BYTES: u64 = 32 << 20;

/// The longest list of files.
const MAX_FILES: u64 = 100;

/// Keywords that say nothing of what a value is.
const ANNOTATIONS: [&str; 12] = [
    "$comment",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "externalDocs",
    "readOnly",
    "title",
    "writeOnly",
    "xml",
];

/// What a field is on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) sent: Sent,
    /// The media types that its part may have; none is any.
    pub(super) kinds: MediaTypes,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// The argument itself, as text or JSON.
    Value,
    /// The file that it names.
    File(Transfer),
}

/// What came of reading a field.
pub(super) struct Read {
    pub(super) field: Field,
    pub(super) form: Style,
    /// The schema of its argument, where that is not the document's.
    pub(super) schema: Option<Value>,
}

/// Reads one. `said` is what the document says of its encoding.
pub(super) fn read(
    document: &Document,
    media: &Media,
    schema: &Value,
    said: Option<&Value>,
) -> Result<Read, Unusable> {
    let said = said.and_then(Value::as_object);
    let said = |key: &str| said.and_then(|said| said.get(key));
    let kinds = match said("contentType").and_then(Value::as_str) {
        Some(list) if *media == Media::Multipart => MediaTypes::parse(list)?,
        Some(_) | None => MediaTypes::default(),
    };
    // RFC 7578 has no styles, and only later versions of OpenAPI have them there.
    let styled = *media == Media::Form || document.version == Version::V31;
    let form = match (said("style"), said("explode")) {
        (None, None) => Style::Json,
        _ if !styled => Style::Json,
        (style, explode) => {
            let pairs = [("style", style), ("explode", explode)];
            let pairs = pairs.into_iter();
            let given = pairs.filter_map(|(key, value)| Some((key.to_owned(), value?.clone())));
            parameter::form(&given.collect(), Place::Query)?.0
        }
    };
    if *media != Media::Multipart {
        return Ok(Read {
            field: Field {
                sent: Sent::Value,
                kinds,
            },
            form,
            schema: None,
        });
    }
    let headers = said("headers").and_then(Value::as_object);
    for (name, header) in headers.into_iter().flatten() {
        let needed = document.resolve(header)?.get("required") == Some(&Value::Bool(true));
        if needed && !name.eq_ignore_ascii_case("content-type") {
            let why = format!("its part needs the header {name:?}, which is not written");
            return Err(Unusable::new(why));
        }
    }
    let file = File::of(document, schema, &kinds);
    let Some(file) = file else {
        let object = only(document, schema).get("type") == Some(&json!("object"));
        if object && kinds.first().is_some_and(|kind| !is_json(kind)) {
            let why = "its part is an object and no JSON, and only JSON is written";
            return Err(Unusable::new(why));
        }
        return Ok(Read {
            field: Field {
                sent: Sent::Value,
                kinds,
            },
            form,
            schema: None,
        });
    };
    let described = document.resolve(schema)?;
    let mut kinds = kinds;
    if kinds.is_empty()
        && let Some(kind) = &file.kind
    {
        kinds.push(kind);
    }
    Ok(Read {
        schema: Some(match file.list {
            None => one(described),
            Some(list) => many(list),
        }),
        field: Field {
            sent: Sent::File(file.transfer),
            kinds,
        },
        form: Style::Json,
    })
}

/// The schema of the argument that names a file; of what is said of it, what a person would read
/// stays.
pub(super) fn one(said: &Value) -> Value {
    let hint = format!(
        "A file: its path in the workspace, or the id of an artifact (art_…). At most {} MiB, all \
         files of a call together.",
        MAX_UPLOAD_BYTES >> 20
    );
    json!({
        "type": "string", "minLength": 1, "maxLength": 4096,
        "description": described(said, &hint),
    })
}

fn many(list: &Value) -> Value {
    let limit = |key: &str| list.get(key).and_then(Value::as_u64);
    let mut schema = json!({
        "type": "array",
        "items": one(&list["items"]),
        "maxItems": limit("maxItems").unwrap_or(MAX_FILES).min(MAX_FILES),
        "description": described(list, "Files."),
    });
    if let Some(least) = limit("minItems") {
        schema["minItems"] = least.into();
    }
    schema
}

fn described(said: &Value, hint: &str) -> String {
    let text = said.get("description").and_then(Value::as_str);
    let text = text.or_else(|| said.get("title").and_then(Value::as_str));
    let text = text.unwrap_or_default().trim();
    format!("{text}\n{hint}").trim().to_owned()
}

/// A file that a schema stands for.
#[derive(Debug)]
pub(super) struct File<'d> {
    pub(super) transfer: Transfer,
    /// Its media type, where the schema says it.
    pub(super) kind: Option<String>,
    /// The schema of the list, where it is one of files.
    list: Option<&'d Value>,
}

impl<'d> File<'d> {
    /// Whether it is a list of files.
    pub(super) fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The file, or the list of files, that a schema stands for, where its part has one of these
    /// media types.
    pub(super) fn of(
        document: &'d Document,
        schema: &'d Value,
        kinds: &MediaTypes,
    ) -> Option<Self> {
        let schema = only(document, schema);
        if is(schema, "array") {
            let items = only(document, schema.get("items")?);
            return Some(Self {
                list: Some(schema),
                ..single(document, items, kinds)?
            });
        }
        single(document, schema, kinds)
    }
}

/// The file that a schema stands for: bytes that no text does.
fn single<'d>(document: &Document, schema: &Value, kinds: &MediaTypes) -> Option<File<'d>> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let kind = text("contentMediaType");
    let transfer = match text("contentEncoding")
        .map(str::to_ascii_lowercase)
        .as_deref()
    {
        None | Some("binary" | "7bit" | "8bit") => Transfer::Bytes,
        Some("base64") => Transfer::Base64 { url: false },
        Some("base64url") => Transfer::Base64 { url: true },
        // Written as text by whoever makes the call.
        Some(_) => return None,
    };
    let plain = transfer == Transfer::Bytes;
    let untyped = || {
        let map: Option<&Map<String, Value>> = schema.as_object();
        let says_nothing =
            |map: &Map<String, Value>| map.keys().all(|key| ANNOTATIONS.contains(&key.as_str()));
        let anything = map.is_some_and(says_nothing) || schema == &Value::Bool(true);
        document.version == Version::V31 && anything && kind.is_none_or(is_binary)
    };
    let is_file = text("format") == Some("binary")
        || text("type") == Some("file")
        || kind.is_some_and(is_binary)
        || plain && untyped() && (kinds.is_empty() || kinds.are_binary())
        || plain && is(schema, "string") && kinds.are_binary() && text("format") != Some("byte");
    is_file.then(|| File {
        transfer,
        kind: kind.map(str::to_owned),
        list: None,
    })
}

/// Whether a schema says that values are of this type; null beside it does not count.
fn is(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(said)) => said == kind,
        Some(Value::Array(said)) => {
            let mut said = said.iter().filter(|one| *one != "null");
            said.next().is_some_and(|one| one == kind) && said.next().is_none()
        }
        _ => false,
    }
}

/// What a schema comes to, through references and where it is one thing or null.
fn only<'d>(document: &'d Document, schema: &'d Value) -> &'d Value {
    let mut at = schema;
    for _ in 0..MAX_THROUGH {
        let Ok(resolved) = document.resolve(at) else {
            return at;
        };
        at = resolved;
        let lists = ["anyOf", "oneOf", "allOf"].into_iter();
        let Some(Value::Array(parts)) = lists.filter_map(|key| at.get(key)).next() else {
            return at;
        };
        let mut parts = parts.iter().filter(|part| part["type"] != "null");
        match (parts.next(), parts.next()) {
            (Some(part), None) => at = part,
            _ => return at,
        }
    }
    at
}
