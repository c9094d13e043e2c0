//! The parameters of an operation: where each goes, and in which form.

use serde_json::{Map, Value};

use super::document::Document;
use super::error::Unusable;
use super::flat::{Flat, Need, Place};
use super::schema::Schemas;
use super::settings::Given;

/// Headers that a document cannot have as parameters (OpenAPI says to ignore the first three), or
/// that belong to the connection.
const NO_PARAMETERS: [&str; 13] = [
    "accept",
    "authorization",
    "content-type",
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// How a value becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `a,b` and `k,v`, or `k=v` where it is exploded. For paths and headers.
    Simple { explode: bool },
    /// `name=a,b`, or `name=a&name=b` and `k=v` where it is exploded. For queries and cookies.
    Form { explode: bool },
    /// `name=a b` or `name=a|b`.
    Delimited(char),
    /// `.a,b` and `.k,v`, or `.a.b` and `.k=v` where it is exploded (RFC 6570, 3.2.5). For paths.
    Label { explode: bool },
    /// `;name=a,b` and `;name=k,v`, or `;name=a;name=b` and `;k=v` where it is exploded (RFC 6570,
    /// 3.2.7). For paths.
    Matrix { explode: bool },
    /// `name[k]=v`, an object of one level. For queries.
    Deep,
    /// JSON.
    Json,
}

/// One argument, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    /// What it is called here.
    pub(super) property: String,
    /// What the API calls it.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) form: Style,
}

/// What is needed to read parameters.
pub(super) struct Reader<'r> {
    pub(super) document: &'r Document,
    pub(super) given: &'r Given,
    pub(super) is_credential: fn(&str) -> bool,
}

/// What came of reading the parameters.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) inputs: Vec<Input>,
    /// What was left out, and why.
    pub(super) left_out: Vec<String>,
}

impl<'r> Reader<'r> {
    /// The parameters of an operation and of its path. Those of the operation win.
    pub(super) fn read(
        &self,
        item: &'r Value,
        operation: &'r Value,
        flat: &mut Flat,
        schemas: &mut Schemas<'r>,
    ) -> Result<Read, Unusable> {
        let mut found: Vec<&Map<String, Value>> = Vec::new();
        for list in [operation, item] {
            for parameter in list["parameters"].as_array().into_iter().flatten() {
                let parameter = self
                    .document
                    .resolve(parameter)?
                    .as_object()
                    .ok_or_else(|| Unusable::new("it has a parameter that is no object"))?;
                let same = |known: &&Map<String, Value>| {
                    known.get("name") == parameter.get("name")
                        && known.get("in") == parameter.get("in")
                };
                if !found.iter().any(same) {
                    found.push(parameter);
                }
            }
        }
        let mut read = Read::default();
        for parameter in found {
            let name = text(parameter, "name");
            let need = match parameter.get("required") {
                Some(Value::Bool(true)) => Need::Required,
                _ => Need::Optional,
            };
            match self.one(parameter, need, flat, schemas) {
                Ok(Some(input)) => read.inputs.push(input),
                Ok(None) => {}
                // Whatever it wants there, it does without.
                Err(why) if need == Need::Optional && place(parameter) != Some(Place::Path) => {
                    read.left_out.push(format!("its parameter {name:?}: {why}"));
                }
                Err(why) => {
                    return Err(Unusable::new(format!("its parameter {name:?}: {why}")));
                }
            }
        }
        Ok(read)
    }

    /// One parameter; none where it is given already or is nobody's to give.
    fn one(
        &self,
        parameter: &'r Map<String, Value>,
        need: Need,
        flat: &mut Flat,
        schemas: &mut Schemas<'r>,
    ) -> Result<Option<Input>, Unusable> {
        let name = text(parameter, "name");
        let Some(place) = place(parameter) else {
            let place = text(parameter, "in");
            return Err(Unusable::new(format!("there is no place {place:?}")));
        };
        if name.is_empty() {
            return Err(Unusable::new("it has no name"));
        }
        let given = match place {
            Place::Header => {
                NO_PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
                    || self.given.has_header(name)
            }
            Place::Query => self.given.has_query(name),
            Place::Cookie => self.given.has_cookie(name),
            Place::Path | Place::Body => false,
        };
        if given {
            return Ok(None);
        }
        if place != Place::Path && self.is_credential(place, name) {
            return match need {
                Need::Optional => Ok(None),
                Need::Required => Err(Unusable::new(format!(
                    "it is a credential, which no call gives; name it under `{}` of the API",
                    if place == Place::Query {
                        "query"
                    } else {
                        "headers"
                    }
                ))),
            };
        }
        let (form, schema) = form(parameter, place)?;
        let mut schema = match schema {
            Some(schema) => schemas.take(schema)?,
            None => Value::Object(Map::new()),
        };
        if let Value::Object(schema) = &mut schema
            && let Some(described) = parameter.get("description").filter(|text| text.is_string())
        {
            schema.insert("description".to_owned(), described.clone());
        }
        // There is no path without it.
        let need = if place == Place::Path {
            Need::Required
        } else {
            need
        };
        let property = flat.add(place, name, schema, need)?;
        Ok(Some(Input {
            property,
            name: name.to_owned(),
            place,
            form,
        }))
    }

    /// Whether it is a credential: by its name, or because the document says so.
    fn is_credential(&self, place: Place, name: &str) -> bool {
        let schemes = self.document.root.pointer("/components/securitySchemes");
        let mut schemes = schemes.and_then(Value::as_object).into_iter().flatten();
        (self.is_credential)(name)
            || schemes.any(|(_, scheme)| {
                let scheme = self.document.resolve(scheme).unwrap_or(scheme);
                let same = scheme["name"].as_str().is_some_and(|known| match place {
                    Place::Header => known.eq_ignore_ascii_case(name),
                    Place::Path | Place::Query | Place::Cookie | Place::Body => known == name,
                });
                same && scheme["type"] == "apiKey" && scheme["in"] == place.as_str()
            })
    }
}

fn text<'v>(map: &'v Map<String, Value>, key: &str) -> &'v str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn place(parameter: &Map<String, Value>) -> Option<Place> {
    match text(parameter, "in") {
        "path" => Some(Place::Path),
        "query" => Some(Place::Query),
        "header" => Some(Place::Header),
        "cookie" => Some(Place::Cookie),
        _ => None,
    }
}

/// In which form a value is written, and its schema.
pub(super) fn form(
    parameter: &Map<String, Value>,
    place: Place,
) -> Result<(Style, Option<&Value>), Unusable> {
    if let Some(Value::Object(content)) = parameter.get("content") {
        let mut kinds = content.iter();
        return match (kinds.next(), kinds.next()) {
            (Some((kind, media)), None) if super::media::is_json(kind) => {
                Ok((Style::Json, media.get("schema")))
            }
            (Some((kind, _)), None) => Err(Unusable::new(format!(
                "its content is {kind:?}, and only JSON is written"
            ))),
            _ => Err(Unusable::new("its content is not of one type")),
        };
    }
    let usual = match place {
        Place::Path | Place::Header => "simple",
        Place::Query | Place::Cookie | Place::Body => "form",
    };
    let style = match text(parameter, "style") {
        "" => usual,
        style => style,
    };
    let explode = match parameter.get("explode") {
        Some(Value::Bool(explode)) => *explode,
        _ => style == "form",
    };
    let form = match (place, style) {
        (Place::Path | Place::Header, "simple") => Style::Simple { explode },
        (Place::Query | Place::Cookie, "form") => Style::Form { explode },
        (Place::Query, "spaceDelimited") if !explode => Style::Delimited(' '),
        (Place::Query, "pipeDelimited") if !explode => Style::Delimited('|'),
        (Place::Query, "spaceDelimited" | "pipeDelimited") => Style::Form { explode },
        (Place::Path, "label") => Style::Label { explode },
        (Place::Path, "matrix") => Style::Matrix { explode },
        // Whatever `explode` says, there is one form.
        (Place::Query, "deepObject") => Style::Deep,
        (place, style) => {
            return Err(Unusable::new(format!(
                "the style {style:?} is not written in a {}",
                place.as_str()
            )));
        }
    };
    Ok((form, parameter.get("schema")))
}
