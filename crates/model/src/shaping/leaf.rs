//! Types, values, formats and the words that are left.

use serde_json::{Map, Value, json};

use super::clean::inclusive;
use super::rules::{Enums, Known, Nulls, Untyped};
use super::walk::{Walk, describe};

/// The words that have a rule elsewhere and stay.
const RULED: [&str; 12] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "nullable",
    "properties",
    "required",
    "type",
];

impl Walk<'_> {
    /// The type, where the schema only implies it, and null in the provider's way.
    pub(super) fn types(&mut self, object: &mut Map<String, Value>) {
        if self.rules.nulls == Nulls::Nullable {
            null_apart(object);
        }
        if !object.contains_key("type")
            && let Some(kind) = implied(object)
        {
            object.insert("type".to_owned(), Value::from(kind));
        }
        match object.get("type") {
            Some(Value::String(_)) | None => {}
            Some(Value::Array(kinds)) => {
                let kinds: Vec<Value> = kinds.clone();
                if kinds.len() == 1 {
                    object.insert("type".to_owned(), kinds[0].clone());
                }
            }
            Some(_) => {
                self.note("a type that is no word");
                object.remove("type");
            }
        }
        if self.rules.nulls == Nulls::Nullable {
            self.nullable(object);
        }
        if self.rules.untyped == Untyped::Spell && !object.contains_key("type") {
            let union = ["anyOf", "oneOf", "allOf", "$ref"];
            if !union.iter().any(|key| object.contains_key(*key)) {
                let Value::Object(open) = self.open("") else {
                    return;
                };
                for (key, value) in open {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }

    fn nullable(&mut self, object: &mut Map<String, Value>) {
        let kinds = match object.get("type") {
            Some(Value::Array(kinds)) => kinds.clone(),
            Some(kind) if *kind == "null" => vec![kind.clone()],
            _ => return,
        };
        let rest: Vec<Value> = kinds
            .iter()
            .filter(|kind| **kind != "null")
            .cloned()
            .collect();
        if rest.len() < kinds.len() {
            object.insert("nullable".to_owned(), Value::Bool(true));
        }
        match rest.as_slice() {
            [] => {
                // Nothing but null: any type will do for it.
                self.note("that it is null and nothing else");
                describe(object, "null");
                object.insert("type".to_owned(), json!("string"));
            }
            [one] => {
                object.insert("type".to_owned(), one.clone());
            }
            several => {
                object.remove("type");
                if object.contains_key("anyOf") {
                    return;
                }
                let inner = std::mem::take(object);
                let branches = several.iter().map(|kind| {
                    let mut branch = of_kind(&inner, kind);
                    branch.insert("type".to_owned(), kind.clone());
                    Value::Object(branch)
                });
                object.insert("anyOf".to_owned(), branches.collect());
                for key in ["description", "nullable", "title", "default"] {
                    if let Some(value) = inner.get(key) {
                        object.insert(key.to_owned(), value.clone());
                    }
                }
            }
        }
    }

    /// `required` names what there is.
    pub(super) fn required(&mut self, object: &mut Map<String, Value>) {
        let Some(Value::Array(required)) = object.remove("required") else {
            return;
        };
        let mut names: Vec<Value> = Vec::with_capacity(required.len());
        for name in required {
            let Some(text) = name.as_str() else { continue };
            if names.contains(&name) {
                continue;
            }
            let known = object
                .get("properties")
                .and_then(|all| all.get(text))
                .is_some();
            if !known && self.rules.untyped == Untyped::Spell {
                // What is required and not described is described as anything.
                let open = self.open("");
                let all = object.entry("properties").or_insert_with(|| json!({}));
                if let Value::Object(all) = all {
                    all.insert(text.to_owned(), open);
                }
            }
            names.push(name);
        }
        if !names.is_empty() {
            object.insert("required".to_owned(), Value::Array(names));
        }
    }

    /// What is left: listed values, formats, and words that the provider does not know.
    pub(super) fn leaf(&mut self, object: &mut Map<String, Value>) {
        self.values(object);
        if let Some(format) = object.get("format") {
            let known = format
                .as_str()
                .is_some_and(|format| self.rules.formats.has(format));
            if !known {
                let format = object.remove("format").unwrap_or_default();
                self.note(format!("the format {format}"));
                if let Some(format) = format.as_str().filter(|format| says_something(format)) {
                    describe(object, format);
                }
            }
        }
        let Known::Only(_) = self.rules.keywords else {
            return;
        };
        if inclusive(object) {
            self.note("that the bound itself is out");
        }
        if let Some(extra) = object.remove("additionalProperties") {
            match &extra {
                Value::Object(values) if !values.is_empty() => {
                    let kind = values
                        .get("type")
                        .and_then(Value::as_str)
                        .unwrap_or("any value");
                    self.note("what further properties are");
                    describe(object, &format!("any further property is allowed: {kind}"));
                }
                Value::Bool(false) => self.note("that there are no further properties"),
                _ => {}
            }
        }
        let known = |key: &String| RULED.contains(&key.as_str()) || self.rules.keywords.has(key);
        let unknown: Vec<String> = object.keys().filter(|key| !known(key)).cloned().collect();
        for key in unknown {
            object.remove(&key);
            self.note(format!("`{key}`"));
        }
    }

    fn values(&mut self, object: &mut Map<String, Value>) {
        if self.rules.enums != Enums::Any
            && let Some(only) = object.remove("const")
        {
            object.insert("enum".to_owned(), json!([only]));
        }
        let Some(Value::Array(values)) = object.get("enum") else {
            object.remove("enum");
            return;
        };
        if values.is_empty() {
            object.remove("enum");
            self.note("that no value is allowed");
            return;
        }
        if self.rules.enums != Enums::Strings || values.iter().all(Value::is_string) {
            return;
        }
        let said: Vec<String> = values.iter().map(outfitter_core::canonical).collect();
        object.remove("enum");
        self.note("the list of values");
        describe(object, &format!("one of {}", said.join(", ")));
    }
}

/// Takes null out of the values that are listed.
fn null_apart(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && values.contains(&Value::Null)
    {
        values.retain(|value| !value.is_null());
        object.insert("nullable".to_owned(), Value::Bool(true));
    }
    if object.get("const").is_some_and(Value::is_null) {
        object.remove("const");
        object.insert("type".to_owned(), json!("null"));
    }
}

/// The type that a schema implies.
fn implied(object: &Map<String, Value>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| object.contains_key(*key));
    if let Some(values) = listed(object) {
        let mut kinds = values.into_iter().map(kind_of_value);
        let first = kinds.next()?;
        return kinds.all(|kind| kind == first).then_some(first);
    }
    // A union or a reference says it better.
    if has(&["anyOf", "oneOf", "allOf", "$ref", "not", "if"]) {
        return None;
    }
    if has(&[
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
    ]) {
        Some("object")
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        Some("array")
    } else if has(&["minLength", "maxLength", "pattern"]) {
        Some("string")
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        Some("number")
    } else {
        None
    }
}

fn listed(object: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (object.get("const"), object.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Of a schema of several types, what says something about one of them.
fn of_kind(object: &Map<String, Value>, kind: &Value) -> Map<String, Value> {
    let fits = |key: &str| match key {
        "description" | "nullable" | "title" | "default" => false,
        "minLength" | "maxLength" | "pattern" | "format" => *kind == "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            *kind == "number" || *kind == "integer"
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => *kind == "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties" => *kind == "object",
        _ => true,
    };
    let mut out: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| fits(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(Value::Array(values)) = out.get_mut("enum") {
        let number = |value: &Value| *kind == "number" && value.is_number();
        values.retain(|value| *kind == kind_of_value(value) || number(value));
        if values.is_empty() {
            out.remove("enum");
        }
    }
    out
}

/// Whether a format is a word that tells a model something.
fn says_something(format: &str) -> bool {
    !matches!(
        format,
        "uint" | "int" | "uint8" | "uint16" | "uint32" | "uint64" | "int8" | "int16" | "uint128"
    )
}
