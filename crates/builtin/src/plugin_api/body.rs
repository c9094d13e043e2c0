//! The body of a request: which media type it has, and which arguments are in it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::document::{Document, Version};
use super::error::Unusable;
use super::field::{self, Field, File};
use super::flat::{Flat, Need, Place};
use super::media::{Media, MediaTypes, Transfer, essence, is_binary, is_json};
use super::parameter::Input;
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
    Fields {
        required: Vec<String>,
        /// What fields are on the wire, by their names, where that is not simply JSON.
        fields: BTreeMap<String, Field>,
    },
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
    let chosen = content.and_then(|content| choose(document, content));
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
    if matches!(media, Media::Bytes(..)) {
        let schema = field::one(of.get("schema").unwrap_or(&Value::Null));
        return read.whole(media, schema, need, flat);
    }
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
    let (mut there, mut fields) = (Vec::new(), BTreeMap::new());
    for (name, schema) in properties {
        if document.resolve(schema)?.get("readOnly") == Some(&Value::Bool(true)) {
            continue;
        }
        let has_to = required.contains(&name.as_str());
        let said = of.get("encoding").and_then(|all| all.get(name));
        let one = match field::read(document, &media, schema, said) {
            Ok(one) => one,
            Err(why) if has_to => return Err(why),
            Err(why) => {
                read.left_out.push(format!("its field {name:?}: {why}"));
                continue;
            }
        };
        if has_to {
            there.push(name.clone());
        }
        // A body that need not be there has nothing that has to be in it.
        let field_need = match need {
            Need::Required if has_to => Need::Required,
            Need::Required | Need::Optional => Need::Optional,
        };
        let schema = match one.schema {
            Some(schema) => schema,
            None => schemas.take(schema)?,
        };
        let property = flat.add(Place::Body, name, schema, field_need)?;
        if media == Media::Multipart {
            fields.insert(name.clone(), one.field);
        }
        read.inputs.push(Input {
            property,
            name: name.clone(),
            place: Place::Body,
            form: one.form,
        });
    }
    read.body = Some(Body {
        media,
        from: From::Fields {
            required: there,
            fields,
        },
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
        let name = match media {
            Media::Bytes(..) => "file",
            Media::Json(_) | Media::Form | Media::Multipart | Media::Text(_) => "body",
        };
        let property = flat.add(Place::Body, name, schema, need)?;
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
    let fields = !matches!(media, Media::Text(_) | Media::Bytes(..));
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
fn choose<'v>(document: &Document, content: &'v Map<String, Value>) -> Option<(Media, &'v Value)> {
    let find =
        |wanted: &dyn Fn(&str) -> bool| content.iter().find(|(kind, _)| wanted(&essence(kind)));
    // What stands for anything stands for JSON, but not where it is said to be bytes.
    let bytes = |kind: &String, of: &Value| bytes_of(document, kind, of);
    let json = content
        .iter()
        .find(|(kind, of)| is_json(kind) && (!kind.contains('*') || bytes(kind, of).is_none()));
    let json = json.map(|(kind, of)| {
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
    .or_else(|| {
        let mut kinds = MediaTypes::default();
        let mut first = None;
        for (kind, of) in content {
            if let Some(transfer) = bytes(kind, of) {
                let (known, _) = *first.get_or_insert((transfer, of));
                // One argument is written in one way.
                if known == transfer {
                    kinds.push(kind);
                }
            }
        }
        let (transfer, of) = first.filter(|_| !kinds.is_empty())?;
        Some((Media::Bytes(kinds, transfer), of))
    })
}

/// How a body of this media type is the bytes of a file, where it is that.
fn bytes_of(document: &Document, kind: &str, of: &Value) -> Option<Transfer> {
    let schema = of.get("schema");
    let mut kinds = MediaTypes::default();
    kinds.push(kind);
    let file = schema.and_then(|schema| File::of(document, schema, &kinds));
    match (file, schema) {
        (Some(file), _) if !file.is_list() => Some(file.transfer),
        (None, None) if is_binary(kind) && !kind.contains("multipart") => Some(Transfer::Bytes),
        // A schema that says nothing is none.
        (None, Some(Value::Object(map)))
            if map.is_empty() && is_binary(kind) && document.version == Version::V30 =>
        {
            Some(Transfer::Bytes)
        }
        (Some(_) | None, _) => None,
    }
}
