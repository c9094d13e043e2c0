//! Through a schema from the root to its leaves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::ShapeNote;
use super::clean::cleaned;
use super::merge::both;
use super::refs::{WHOLE, definition, target, to_definition, word};
use super::rules::{Refs, Rules, Unions, Untyped};

/// How deep a schema may be; what is below is an open value. The strictest provider takes less,
/// but counts differently.
pub(super) const MAX_DEPTH: usize = 32;

/// How many schemas one schema may become. References put in place can multiply without end.
pub(super) const MAX_SCHEMAS: usize = 4_000;

/// The most notes that are kept.
const MAX_NOTES: usize = 64;

/// The state of one shaping.
pub(super) struct Walk<'a> {
    pub(super) rules: &'static Rules,
    pub(super) document: &'a Value,
    /// The references that we are inside of.
    stack: Vec<String>,
    pub(super) path: Vec<String>,
    schemas: usize,
    notes: Vec<ShapeNote>,
    /// Definitions that something refers to.
    pub(super) wanted: BTreeSet<String>,
    pub(super) defs: BTreeMap<String, Value>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(rules: &'static Rules, document: &'a Value) -> Self {
        Self {
            rules,
            document,
            stack: Vec::new(),
            path: Vec::new(),
            schemas: 0,
            notes: Vec::new(),
            wanted: BTreeSet::new(),
            defs: BTreeMap::new(),
        }
    }

    pub(super) fn into_notes(self) -> Vec<ShapeNote> {
        self.notes
    }

    pub(super) fn note(&mut self, lost: impl Into<String>) {
        if self.notes.len() < MAX_NOTES {
            let path = self.path.iter().flat_map(|step| ["/", step]).collect();
            self.notes.push(ShapeNote {
                path,
                lost: lost.into(),
            });
        }
    }

    /// One schema.
    pub(super) fn schema(&mut self, schema: &Value) -> Value {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS || self.path.len() > MAX_DEPTH {
            let bound = if self.schemas > MAX_SCHEMAS {
                format!("more than {MAX_SCHEMAS} schemas")
            } else {
                format!("more than {MAX_DEPTH} levels")
            };
            self.note(format!("what is here, because it has {bound}"));
            return self.open("any value");
        }
        match schema {
            Value::Bool(true) => self.open(""),
            Value::Bool(false) => {
                self.note("that nothing may stand here");
                self.open("leave it out")
            }
            Value::Object(object) => self.object(object),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.note("a schema that is none");
                self.open("any value")
            }
        }
    }

    fn object(&mut self, object: &Map<String, Value>) -> Value {
        let mut object = cleaned(object);
        if let Some(reference) = object.remove("$ref") {
            return self.reference(&reference, object);
        }
        self.unions(&mut object);
        self.inside(object)
    }

    /// What is not a reference and has its unions in order.
    fn inside(&mut self, mut object: Map<String, Value>) -> Value {
        self.types(&mut object);
        self.list(&mut object);
        self.properties(&mut object);
        self.branches(&mut object);
        self.leaf(&mut object);
        if self.rules.unions == Unions::LoneAnyOf {
            self.lone(&mut object);
        }
        Value::Object(object)
    }

    fn reference(&mut self, reference: &Value, beside: Map<String, Value>) -> Value {
        let Some(reference) = reference.as_str() else {
            self.note("a reference that is no text");
            return self.open("any value");
        };
        let Some(found) = target(self.document, reference) else {
            self.note(format!("what {reference} is, which is not in the schema"));
            let mut beside = beside;
            beside.entry("description").or_insert(json!("any value"));
            return self.object(&beside);
        };
        if self.rules.refs == Refs::Keep
            && let Some(name) = definition(reference)
        {
            let mut out = match self.schema(&Value::Object(beside)) {
                Value::Object(out) => out,
                _ => Map::new(),
            };
            out.insert("$ref".to_owned(), Value::from(to_definition(&name)));
            self.wanted.insert(name);
            return Value::Object(out);
        }
        if self.stack.iter().any(|inside| inside == reference) {
            self.note(format!("the inside of {reference}, which contains itself"));
            return self.again(found, word(reference), &beside);
        }
        let mut merged = beside;
        match found {
            Value::Object(found) => {
                for (key, value) in found {
                    merged.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            other => {
                if merged.is_empty() {
                    return self.schema(other);
                }
            }
        }
        self.stack.push(reference.to_owned());
        let out = self.object(&merged);
        self.stack.pop();
        out
    }

    /// A value that contains itself, where it is inside of itself.
    fn again(&mut self, found: &Value, name: &str, beside: &Map<String, Value>) -> Value {
        let mut out = Map::new();
        let kind = found
            .get("type")
            .cloned()
            .or_else(|| found.get("properties").map(|_| json!("object")));
        if let Some(kind) = kind {
            out.insert("type".to_owned(), kind);
        }
        let article = if name == WHOLE { "" } else { "a " };
        let more = format!("again {article}{name}, as described above");
        let said = beside.get("description").and_then(Value::as_str);
        out.insert(
            "description".to_owned(),
            Value::from(said.map_or(more.clone(), |said| format!("{said} ({more})"))),
        );
        self.object(&out)
    }

    /// Any value, in the words of the provider.
    pub(super) fn open(&mut self, said: &str) -> Value {
        let mut out = Map::new();
        if !said.is_empty() {
            out.insert("description".to_owned(), Value::from(said));
        }
        if self.rules.untyped == Untyped::Spell {
            out.insert("anyOf".to_owned(), any_type());
        }
        let mut out = out;
        if self.rules.unions == Unions::LoneAnyOf {
            self.lone(&mut out);
        }
        Value::Object(out)
    }

    /// `oneOf` and `allOf` where they may not stay, and conditions.
    fn unions(&mut self, object: &mut Map<String, Value>) {
        if self.rules.unions == Unions::Any {
            return;
        }
        for key in [
            "if",
            "then",
            "else",
            "not",
            "dependentSchemas",
            "dependentRequired",
            "dependencies",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedProperties",
            "unevaluatedItems",
            "propertyNames",
            "contentSchema",
            "contentEncoding",
            "contentMediaType",
        ] {
            if object.remove(key).is_some() {
                self.note(format!("`{key}`"));
            }
        }
        if let Some(Value::Array(parts)) = object.remove("allOf") {
            for part in parts {
                let part = self.resolved(&part, 0);
                both(object, part);
            }
            // A part may itself be made of parts.
            if object.contains_key("allOf") {
                self.note("parts of parts");
                object.remove("allOf");
            }
        }
        if let Some(branches) = object.remove("oneOf") {
            if object.contains_key("anyOf") {
                self.note("`oneOf` beside `anyOf`");
            } else {
                object.insert("anyOf".to_owned(), branches);
            }
        }
    }

    /// The object that a schema is once its references and `allOf` are put in place.
    pub(super) fn resolved(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let Value::Object(object) = schema else {
            return Map::new();
        };
        let mut object = cleaned(object);
        if depth > MAX_DEPTH {
            self.note("parts that contain themselves");
            return Map::new();
        }
        if let Some(reference) = object.remove("$ref") {
            let found = reference
                .as_str()
                .and_then(|reference| target(self.document, reference));
            match found {
                Some(found) => {
                    let found = self.resolved(&found.clone(), depth + 1);
                    both(&mut object, found);
                }
                None => self.note(format!("what {reference} is, which is not in the schema")),
            }
        }
        if let Some(Value::Array(parts)) = object.remove("allOf") {
            for part in parts {
                let part = self.resolved(&part, depth + 1);
                both(&mut object, part);
            }
        }
        object
    }

    pub(super) fn below<const N: usize, T>(
        &mut self,
        steps: [&str; N],
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let depth = self.path.len();
        let steps = steps.map(|step| step.replace('~', "~0").replace('/', "~1"));
        self.path.extend(steps);
        let out = work(self);
        self.path.truncate(depth);
        out
    }
}

/// Every type there is, for a provider that has no word for any.
fn any_type() -> Value {
    json!([
        {"type": "string", "nullable": true},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}},
    ])
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema
        .get("type")
        .is_some_and(|kind| *kind == "null" || *kind == json!(["null"]))
        || schema.get("const").is_some_and(Value::is_null)
}

/// Adds to what a schema says in words.
pub(super) fn describe(object: &mut Map<String, Value>, more: &str) {
    let text = match object.get("description").and_then(Value::as_str) {
        Some(said) if said.contains(more) => return,
        Some(said) if !said.is_empty() => format!("{said} ({more})"),
        _ => more.to_owned(),
    };
    object.insert("description".to_owned(), Value::from(text));
}
