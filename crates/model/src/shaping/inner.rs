//! What is inside a schema: branches, items, properties.

use serde_json::{Map, Value, json};

use super::rules::{Nulls, PropertyNames, Tuples};
use super::walk::{Walk, describe, is_null};

impl Walk<'_> {
    /// The branches of the unions that are left.
    pub(super) fn branches(&mut self, object: &mut Map<String, Value>) {
        for key in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(branches)) = object.remove(key) else {
                continue;
            };
            let mut out: Vec<Value> = Vec::with_capacity(branches.len());
            for (at, branch) in branches.iter().enumerate() {
                if self.rules.nulls == Nulls::Nullable && is_null(branch) {
                    object.insert("nullable".to_owned(), Value::Bool(true));
                    continue;
                }
                let shaped = self.below([key, &at.to_string()], |walk| walk.schema(branch));
                if !out.contains(&shaped) {
                    out.push(shaped);
                }
            }
            match out.len() {
                0 => {}
                1 if key != "allOf" => {
                    if let Some(Value::Object(only)) = out.pop() {
                        for (key, value) in only {
                            object.entry(key).or_insert(value);
                        }
                    }
                }
                _ => {
                    object.insert(key.to_owned(), Value::Array(out));
                }
            }
        }
        for key in ["not", "if", "then", "else", "contains", "propertyNames"] {
            if let Some(inner) = object.get(key).cloned() {
                let shaped = self.below([key], |walk| walk.schema(&inner));
                object.insert(key.to_owned(), shaped);
            }
        }
    }

    /// Items of a list.
    pub(super) fn list(&mut self, object: &mut Map<String, Value>) {
        let lists = object.get("type").is_some_and(|kind| match kind {
            Value::Array(types) => types.contains(&json!("array")),
            kind => kind == "array",
        });
        let places = match object.remove("prefixItems") {
            Some(Value::Array(places)) => places,
            _ => Vec::new(),
        };
        let rest = object.remove("items");
        if !lists && places.is_empty() && rest.is_none() {
            return;
        }
        let mut shaped: Vec<Value> = Vec::with_capacity(places.len());
        for (at, place) in places.iter().enumerate() {
            shaped.push(self.below(["prefixItems", &at.to_string()], |walk| walk.schema(place)));
        }
        if self.rules.tuples == Tuples::PrefixItems && !shaped.is_empty() {
            object.insert("prefixItems".to_owned(), Value::Array(shaped));
            if let Some(rest) = rest {
                let closed = rest == Value::Bool(false);
                let items = if closed {
                    rest
                } else {
                    self.below(["items"], |walk| walk.schema(&rest))
                };
                object.insert("items".to_owned(), items);
            }
            return;
        }
        if !shaped.is_empty() {
            self.note("which place of the list has which schema");
            match &rest {
                Some(Value::Bool(false)) => {
                    let most = Value::from(places.len());
                    object.entry("maxItems").or_insert(most);
                }
                // Anything may follow, so anything may stand anywhere.
                None | Some(Value::Bool(true)) => shaped.clear(),
                Some(rest) => shaped.push(self.below(["items"], |walk| walk.schema(rest))),
            }
            let said: Vec<String> = places.iter().map(kind_of).collect();
            describe(object, &format!("in this order: {}", said.join(", ")));
            shaped.dedup();
            let items = match shaped.len() {
                0 => self.open(""),
                1 => shaped.remove(0),
                _ => json!({"anyOf": shaped}),
            };
            object.insert("items".to_owned(), items);
            return;
        }
        // A list that does not say what is in it is refused by most.
        let items = match rest {
            Some(rest) => self.below(["items"], |walk| walk.schema(&rest)),
            None => self.open(""),
        };
        object.insert("items".to_owned(), items);
    }

    /// Properties by name, by pattern, and any other.
    pub(super) fn properties(&mut self, object: &mut Map<String, Value>) {
        if let Some(Value::Object(properties)) = object.remove("properties") {
            let mut out = Map::new();
            for (name, schema) in &properties {
                if self.rules.property_names == PropertyNames::Plain && !is_plain_property(name) {
                    self.note(format!(
                        "the property {name:?}, whose name it does not take"
                    ));
                    describe(object, &format!("it also takes {name:?}"));
                    object.remove("additionalProperties");
                    if let Some(Value::Array(required)) = object.get_mut("required") {
                        required.retain(|one| one != name);
                    }
                    continue;
                }
                let shaped = self.below(["properties", name], |walk| walk.schema(schema));
                out.insert(name.clone(), shaped);
            }
            object.insert("properties".to_owned(), Value::Object(out));
        }
        if let Some(Value::Object(patterns)) = object.remove("patternProperties") {
            let mut out = Map::new();
            for (pattern, schema) in &patterns {
                let shaped = self.below(["patternProperties", pattern], |walk| walk.schema(schema));
                out.insert(pattern.clone(), shaped);
            }
            object.insert("patternProperties".to_owned(), Value::Object(out));
        }
        if let Some(extra @ Value::Object(_)) = object.get("additionalProperties").cloned() {
            let shaped = self.below(["additionalProperties"], |walk| walk.schema(&extra));
            object.insert("additionalProperties".to_owned(), shaped);
        }
        self.required(object);
    }

    /// Puts what stands beside `anyOf` into its branches.
    pub(super) fn lone(&mut self, object: &mut Map<String, Value>) {
        let Some(Value::Array(branches)) = object.remove("anyOf") else {
            return;
        };
        let beside = std::mem::take(object);
        let branches = branches.into_iter().map(|branch| {
            let mut branch = match branch {
                Value::Object(branch) => branch,
                _ => Map::new(),
            };
            for (key, value) in &beside {
                if key != "default" && !branch.contains_key("anyOf") {
                    branch.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            Value::Object(branch)
        });
        object.insert("anyOf".to_owned(), branches.collect());
    }
}

fn is_plain_property(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

/// A schema in a word.
fn kind_of(schema: &Value) -> String {
    match (schema.get("description"), schema.get("type")) {
        (Some(Value::String(said)), _) if said.len() <= 60 => said.clone(),
        (_, Some(Value::String(kind))) => kind.clone(),
        (_, Some(Value::Array(kinds))) => {
            let words: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            words.join(" or ")
        }
        _ => "any value".to_owned(),
    }
}
