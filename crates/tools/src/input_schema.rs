//! JSON Schemas of Rust types, as models should read them.
//!
//! They are written without references where the type is not recursive, without titles and formats
//! that only Rust means, and they allow no more than deserialisation does.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schema of the arguments of a tool: an object that refuses unknown parameters. What the type
/// says of itself is left out, because the tool has a description of its own.
#[must_use]
pub fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::for_deserialize);
    if let Value::Object(map) = &mut schema {
        map.remove("description");
        if map.get("type").is_some_and(|kind| kind == "object") {
            map.entry("properties").or_insert_with(|| json!({}));
            map.entry("additionalProperties")
                .or_insert(Value::Bool(false));
        }
    }
    schema
}

/// The schema of a result.
#[must_use]
pub fn output_schema<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::for_serialize)
}

fn generate<T: JsonSchema>(contract: impl FnOnce(SchemaSettings) -> SchemaSettings) -> Value {
    let settings = contract(SchemaSettings::draft2020_12()).with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings
        .with_transform(Tidy)
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

#[derive(Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(map) = schema.as_object_mut() else {
            return;
        };
        map.remove("title");
        if map.get("default").is_some_and(Value::is_null) {
            map.remove("default");
        }
        drop_rust_formats(map);
        merge_nullable(map);
        if let Some(Value::String(text)) = map.get_mut("description") {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

/// `int32`, `uint`, `double` are no formats of JSON Schema.
fn drop_rust_formats(map: &mut Map<String, Value>) {
    let numeric = |kind: &Value| kind == "integer" || kind == "number";
    let is_number = match map.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(numeric),
        Some(kind) => numeric(kind),
        None => false,
    };
    if is_number {
        map.remove("format");
    }
}

/// `anyOf: [X, null]` where X has one type is X with a second type.
fn merge_nullable(map: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = map.get("anyOf") else {
        return;
    };
    let [Value::Object(some), Value::Object(none)] = parts.as_slice() else {
        return;
    };
    let only_null = none.len() == 1 && none.get("type").is_some_and(|kind| kind == "null");
    let Some(kind @ Value::String(_)) = some.get("type") else {
        return;
    };
    let clash = some
        .keys()
        .any(|key| key != "description" && map.contains_key(key));
    if !only_null || clash || some.contains_key("const") {
        return;
    }
    let kind = json!([kind, "null"]);
    let mut some = some.clone();
    some.insert("type".to_owned(), kind);
    if let Some(Value::Array(choices)) = some.get_mut("enum") {
        choices.push(Value::Null);
    }
    map.shift_remove("anyOf");
    for (key, value) in some {
        map.entry(key).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// The path, over
        /// two lines.
        path: String,
        /// How many.
        #[schemars(range(min = 1))]
        limit: Option<u32>,
        #[serde(default)]
        mode: Mode,
        maybe: Option<Mode>,
        steps: Vec<Step>,
        more: BTreeMap<String, f64>,
    }

    #[derive(JsonSchema, serde::Serialize, Default)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Mode {
        #[default]
        Overwrite,
        Append,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Step {
        /// Literal text.
        Replace {
            old: String,
            new: String,
        },
        Lines {
            start: u64,
        },
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tree {
        children: Vec<Tree>,
    }

    #[test]
    fn a_schema_says_what_a_model_needs_and_no_more() {
        insta::assert_json_snapshot!(input_schema::<Args>());
    }

    #[test]
    fn a_recursive_type_ends_in_a_reference_that_resolves() {
        let schema = input_schema::<Tree>();
        assert!(crate::spec_check::compile(&schema).is_ok(), "{schema:#}");
    }

    #[test]
    fn a_type_without_fields_takes_nothing() {
        #[derive(JsonSchema)]
        struct Nothing {}
        assert_eq!(
            input_schema::<Nothing>(),
            json!({"type": "object", "properties": {}, "additionalProperties": false})
        );
    }
}
