//! One operation of a document: what it takes and where it is.

use std::collections::BTreeMap;

use outfitter_core::ToolName;
use outfitter_net::Origin;
use outfitter_net::reqwest::{Method, Url};
use serde_json::{Map, Value};

use super::body::{self, Body, From};
use super::error::Unusable;
use super::flat::{Flat, Need, Place};
use super::media::Media;
use super::parameter::{Input, Reader, Style};
use super::path::Template;
use super::schema::Schemas;
use super::server;

/// How much of a description is taken.
const MAX_DESCRIPTION_CHARS: usize = 2000;

/// The methods whose operations become tools, as documents write them.
pub(super) const METHODS: [&str; 6] = ["get", "head", "put", "post", "delete", "patch"];

/// One operation.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// The name of its tool.
    pub(super) tool: ToolName,
    pub(super) method: Method,
    /// Where the API is; its path is what the operation's begins with.
    pub(super) base: Url,
    /// None where the URL of the API is that of the operation.
    pub(super) path: Option<Template>,
    pub(super) inputs: Vec<Input>,
    pub(super) body: Option<Body>,
    /// The schema of all arguments.
    pub(super) schema: Value,
    pub(super) description: String,
    pub(super) keywords: Vec<String>,
}

/// What came of reading an operation.
pub(super) struct Read {
    pub(super) operation: Operation,
    /// What was left out of it, and why.
    pub(super) left_out: Vec<String>,
}

/// Where an operation stands in its document.
pub(super) struct Stands<'d> {
    /// The name of its tool.
    pub(super) tool: ToolName,
    pub(super) method: Method,
    /// Its path as it is written.
    pub(super) path: &'d str,
    /// What is said of the path.
    pub(super) item: &'d Value,
    /// What is said of the operation.
    pub(super) said: &'d Value,
}

/// Reads one.
pub(super) fn read<'r>(
    reader: &Reader<'r>,
    given: Option<&Url>,
    stands: Stands<'r>,
) -> Result<Read, Unusable> {
    let document = reader.document;
    let Stands {
        tool,
        method,
        path,
        item,
        said,
    } = stands;
    let template = Template::parse(path)?;
    let base = server::of(given, document, item, said)?;
    let mut flat = Flat::default();
    let mut schemas = Schemas::of(document);
    let parameters = reader.read(item, said, &mut flat, &mut schemas)?;
    let body = body::read(document, said, &mut flat, &mut schemas)?;
    if body.body.is_some() && method == Method::HEAD {
        return Err(Unusable::new("it is a HEAD with a body"));
    }
    let mut inputs = parameters.inputs;
    inputs.extend(body.inputs);
    let has = |name: &str| {
        let mut inputs = inputs.iter();
        inputs.any(|input| input.place == Place::Path && input.name == name)
    };
    if let Some(name) = template.parameters().find(|name| !has(name)) {
        let why = format!("its path has a place for {name:?}, which is no parameter of it");
        return Err(Unusable::new(why));
    }
    let mut left_out = parameters.left_out;
    left_out.extend(body.left_out);
    let tags = said["tags"].as_array().into_iter().flatten();
    let operation = Operation {
        tool,
        description: description(said, item, &method, path),
        keywords: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
        method,
        base,
        path: Some(template),
        inputs,
        body: body.body,
        schema: flat.schema(schemas.finish()?)?,
    };
    Ok(Read {
        operation,
        left_out,
    })
}

/// The operation of an API that has one: its arguments go into the query where the method has no
/// body, else into a body of JSON.
pub(super) fn only(
    tool: ToolName,
    method: Method,
    base: Url,
    schema: &Value,
) -> Result<Operation, Unusable> {
    let with_body = !matches!(method, Method::GET | Method::HEAD | Method::DELETE);
    let media = Media::Json("application/json".to_owned());
    let mut flat = Flat::default();
    let mut inputs = Vec::new();
    let mut defs = schema["$defs"].as_object().cloned().unwrap_or_default();
    let (apart, whole) = match schema {
        Value::Object(map) => {
            let mut plain = map.clone();
            plain.shift_remove("$defs");
            // What names no argument and does not speak of others has none.
            if !plain.contains_key("properties") && !plain.contains_key("additionalProperties") {
                plain.insert("properties".to_owned(), Value::Object(Map::new()));
            }
            (body::apart(&media, &Value::Object(plain)).cloned(), schema)
        }
        other => return Err(Unusable::new(format!("it is {other}, and no schema"))),
    };
    let from = match apart {
        Some(properties) => {
            let required = body::names(schema);
            for (name, field) in properties {
                let need = match required.contains(&name.as_str()) {
                    true => Need::Required,
                    false => Need::Optional,
                };
                let (place, form) = match with_body {
                    true => (Place::Body, Style::Json),
                    false => (Place::Query, Style::Form { explode: true }),
                };
                let property = flat.add(place, &name, field, need)?;
                inputs.push(Input {
                    property,
                    name,
                    place,
                    form,
                });
            }
            From::Fields {
                required: Vec::new(),
                fields: BTreeMap::new(),
            }
        }
        None if with_body => {
            let mut whole = whole.clone();
            if let Value::Object(whole) = &mut whole {
                whole.shift_remove("$defs");
            }
            From::Whole(flat.add(Place::Body, "body", whole, Need::Required)?)
        }
        None => {
            return Err(Unusable::new(
                "a query is made of named properties, and it says more than which there are",
            ));
        }
    };
    defs.sort_keys();
    let text = |key: &str| schema[key].as_str().unwrap_or_default().to_owned();
    let said = [text("title"), text("description")].join("\n");
    Ok(Operation {
        tool,
        description: cut(&format!("{}\n{method} {}", said.trim(), Origin::of(&base))),
        keywords: Vec::new(),
        inputs,
        body: with_body.then_some(Body {
            media,
            from,
            need: Need::Required,
        }),
        method,
        base,
        path: None,
        schema: flat.schema(defs)?,
    })
}

fn description(said: &Value, item: &Value, method: &Method, path: &str) -> String {
    let text = |key: &str| {
        let own = said[key].as_str().filter(|text| !text.trim().is_empty());
        own.or_else(|| item[key].as_str())
            .unwrap_or_default()
            .trim()
    };
    let (summary, long) = (text("summary"), text("description"));
    let mut words: Vec<&str> = vec![summary];
    if long != summary {
        words.push(long);
    }
    let place = format!("{method} {path}");
    words.push(&place);
    words.retain(|word| !word.is_empty());
    cut(&words.join("\n"))
}

fn cut(text: &str) -> String {
    match text.trim().char_indices().nth(MAX_DESCRIPTION_CHARS) {
        None => text.trim().to_owned(),
        Some((at, _)) => format!("{}…", &text.trim()[..at]),
    }
}
