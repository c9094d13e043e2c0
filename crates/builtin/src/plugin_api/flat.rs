//! The arguments of a call as one flat object: path, query, headers, cookies and body side by side.

use outfitter_core::IDENTITY_PARAMETERS;
use serde_json::{Map, Value, json};

use super::error::Unusable;

/// The longest name of an argument that every provider takes.
const MAX_PROPERTY: usize = 64;

/// The longest schema of arguments, in bytes.
const MAX_SCHEMA_BYTES: usize = 128 * 1024;

/// Where an argument goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Into a place of the path.
    Path,
    /// Into the query.
    Query,
    /// Into a header.
    Header,
    /// Into a cookie.
    Cookie,
    /// Into the body.
    Body,
}

impl Place {
    /// The word of OpenAPI.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Body => "body",
        }
    }
}

/// Whether a call has to have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It has to.
    Required,
    /// It need not.
    Optional,
}

/// The arguments while they are put together.
#[derive(Debug, Default)]
pub(super) struct Flat {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Flat {
    /// Adds one and gives what it is called: by its own name where that can be, else after its
    /// place.
    pub(super) fn add(
        &mut self,
        place: Place,
        name: &str,
        schema: Value,
        need: Need,
    ) -> Result<String, Unusable> {
        let plain = property(name);
        let placed = property(&format!("{}_{name}", place.as_str()));
        // What an API calls so is plain data to it, and named after its place: `path_user_id`.
        let own = (!IDENTITY_PARAMETERS.contains(&plain.as_str())).then_some(plain);
        let free = |name: &String| !name.is_empty() && !self.properties.contains_key(name);
        let property = own.into_iter().chain([placed]).find(free).ok_or_else(|| {
            Unusable::new(format!(
                "its {} parameter {name:?} has the name of another",
                place.as_str()
            ))
        })?;
        self.properties.insert(property.clone(), schema);
        if need == Need::Required {
            self.required.push(property.clone());
        }
        Ok(property)
    }

    /// The schema of all.
    pub(super) fn schema(self, defs: Map<String, Value>) -> Result<Value, Unusable> {
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        });
        if !defs.is_empty() {
            schema["$defs"] = Value::Object(defs);
        }
        let bytes = schema.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Err(Unusable::new(format!(
                "the schema of its arguments has {bytes} bytes, more than {MAX_SCHEMA_BYTES}"
            )));
        }
        Ok(schema)
    }
}

/// A name as every provider takes one.
fn property(name: &str) -> String {
    let plain = |c: char| match c {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' | '.' => c,
        _ => '_',
    };
    name.chars().map(plain).take(MAX_PROPERTY).collect()
}
