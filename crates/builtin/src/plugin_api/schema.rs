//! Schemas of a document as JSON Schema 2020-12 that stands alone.
//!
//! What a reference leads to becomes one of `$defs`, once, however often and in whatever circle it is
//! referred to. Schemas of OpenAPI 3.0 are a dialect of their own and are rewritten.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::document::{Document, Version, pointer};
use super::error::Unusable;

/// How deep a schema nests.
const MAX_DEPTH: usize = 64;

/// How many schemas there are in the arguments of one operation.
const MAX_SCHEMAS: usize = 5000;

/// Keywords that have one schema.
const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords that have schemas by name.
const NAMED: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];

/// Keywords that have a list of schemas.
const LISTED: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords that say nothing of values, or that mean something only where the schema stood.
const LEFT_OUT: [&str; 10] = [
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "xml",
];

/// Makes schemas of one operation stand alone.
pub(super) struct Schemas<'d> {
    document: &'d Document,
    /// What the schema at a place in the document is called here.
    names: BTreeMap<String, String>,
    waiting: Vec<(String, &'d Value)>,
    defs: Map<String, Value>,
    count: usize,
}

impl<'d> Schemas<'d> {
    /// None yet.
    pub(super) fn of(document: &'d Document) -> Self {
        Self {
            document,
            names: BTreeMap::new(),
            waiting: Vec::new(),
            defs: Map::new(),
            count: 0,
        }
    }

    /// A schema of the document, its references leading into [`Schemas::finish`].
    pub(super) fn take(&mut self, schema: &'d Value) -> Result<Value, Unusable> {
        self.schema(schema, MAX_DEPTH)
    }

    /// What all references lead to.
    pub(super) fn finish(mut self) -> Result<Map<String, Value>, Unusable> {
        while let Some((name, schema)) = self.waiting.pop() {
            let schema = self.schema(schema, MAX_DEPTH)?;
            self.defs.insert(name, schema);
        }
        self.defs.sort_keys();
        Ok(self.defs)
    }

    fn schema(&mut self, schema: &'d Value, depth: usize) -> Result<Value, Unusable> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| Unusable::new(format!("its schema nests deeper than {MAX_DEPTH}")))?;
        self.count += 1;
        if self.count > MAX_SCHEMAS {
            return Err(Unusable::new(format!(
                "its arguments have more than {MAX_SCHEMAS} schemas"
            )));
        }
        let map = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(map) => map,
            other => return Err(Unusable::new(format!("it has {other} for a schema"))),
        };
        if map.contains_key("$dynamicRef") {
            return Err(Unusable::new("its schema has a $dynamicRef"));
        }
        let mut made = Map::new();
        if let Some(reference) = map.get("$ref") {
            let Value::String(reference) = reference else {
                return Err(Unusable::new(format!("it has the reference {reference}")));
            };
            made.insert("$ref".to_owned(), self.refer(reference)?.into());
            if self.document.version == Version::V30 {
                // What stands beside it means nothing there.
                return Ok(Value::Object(made));
            }
        }
        for (key, value) in map {
            if key == "$ref" || LEFT_OUT.contains(&key.as_str()) || key.starts_with("x-") {
                continue;
            }
            let value = self.keyword(key, value, depth)?;
            made.insert(key.clone(), value);
        }
        self.without_read_only(map, &mut made);
        if self.document.version == Version::V30 {
            to_2020(&mut made);
        }
        Ok(Value::Object(made))
    }

    fn keyword(&mut self, key: &str, value: &'d Value, depth: usize) -> Result<Value, Unusable> {
        if ONE.contains(&key) {
            return self.schema(value, depth);
        }
        match value {
            Value::Object(named) if NAMED.contains(&key) => {
                let mut made = Map::new();
                for (name, schema) in named {
                    made.insert(name.clone(), self.schema(schema, depth)?);
                }
                Ok(Value::Object(made))
            }
            Value::Array(list) if LISTED.contains(&key) => {
                let made = list.iter().map(|schema| self.schema(schema, depth));
                made.collect()
            }
            // Values, not schemas: they stay as they are.
            other => Ok(other.clone()),
        }
    }

    fn refer(&mut self, reference: &str) -> Result<String, Unusable> {
        let place = pointer(reference)?;
        if let Some(name) = self.names.get(&place) {
            return Ok(format!("#/$defs/{name}"));
        }
        let target = self.document.at(reference)?;
        let last = place.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' | '.' => c,
            _ => '_',
        };
        let word: String = last.chars().map(plain).take(64).collect();
        let taken = |name: &String| self.names.values().any(|known| known == name);
        let mut name = word.clone();
        let mut next = 2;
        while taken(&name) || name.is_empty() {
            name = format!("{word}_{next}");
            next += 1;
        }
        self.names.insert(place, name.clone());
        self.waiting.push((name.clone(), target));
        Ok(format!("#/$defs/{name}"))
    }

    /// What only a server gives is no argument.
    fn without_read_only(&self, map: &Map<String, Value>, made: &mut Map<String, Value>) {
        let Some(Value::Object(properties)) = map.get("properties") else {
            return;
        };
        let read_only: Vec<&String> = properties
            .iter()
            .filter(|(_, schema)| schema.get("readOnly") == Some(&Value::Bool(true)))
            .map(|(name, _)| name)
            .collect();
        if let Some(Value::Object(properties)) = made.get_mut("properties") {
            properties.retain(|name, _| !read_only.contains(&name));
        }
        if let Some(Value::Array(required)) = made.get_mut("required") {
            required.retain(|name| !read_only.iter().any(|gone| name == gone.as_str()));
        }
    }
}

/// The dialect of OpenAPI 3.0 as 2020-12.
fn to_2020(schema: &mut Map<String, Value>) {
    for (limit, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        match schema.get(exclusive) {
            Some(Value::Bool(true)) => {
                schema.shift_remove(exclusive);
                if let Some(number) = schema.shift_remove(limit) {
                    schema.insert(exclusive.to_owned(), number);
                }
            }
            Some(Value::Bool(false)) => {
                schema.shift_remove(exclusive);
            }
            _ => {}
        }
    }
    if schema.shift_remove("nullable") == Some(Value::Bool(true))
        && let Some(Value::String(kind)) = schema.get("type")
    {
        let kinds = json!([kind, "null"]);
        schema.insert("type".to_owned(), kinds);
    }
}
