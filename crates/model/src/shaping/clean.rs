//! One schema object in the words of draft 2020-12, whatever draft it was written in.

use serde_json::{Map, Number, Value, json};

/// What says something about the document, not about a value.
const ABOUT: [&str; 12] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$vocabulary",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$defs",
    "definitions",
    "$recursiveRef",
    "$dynamicRef",
];

/// The object without what is about the document, and with older spellings replaced:
/// `items` as a list, `exclusiveMinimum` as a flag, `dependencies`, `nullable`, `example`.
pub(super) fn cleaned(object: &Map<String, Value>) -> Map<String, Value> {
    let mut out: Map<String, Value> = object
        .iter()
        .filter(|(key, value)| !is_about(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    // A `$dynamicRef` is a `$ref` that may be overridden, which a lone schema cannot be.
    if !out.contains_key("$ref")
        && let Some(reference) = object.get("$dynamicRef").or(object.get("$recursiveRef"))
    {
        out.insert("$ref".to_owned(), reference.clone());
    }
    if let Some(Value::Array(places)) = out.get("items") {
        let places = places.clone();
        out.insert("prefixItems".to_owned(), Value::Array(places));
        out.remove("items");
        if let Some(rest) = out.remove("additionalItems") {
            out.insert("items".to_owned(), rest);
        }
    } else {
        out.remove("additionalItems");
    }
    limit(&mut out, "minimum", "exclusiveMinimum");
    limit(&mut out, "maximum", "exclusiveMaximum");
    if out
        .get("required")
        .is_some_and(|required| !required.is_array())
    {
        // Draft 3 said it at the property.
        out.remove("required");
    }
    if out.remove("nullable") == Some(Value::Bool(true)) {
        or_null(&mut out);
    }
    if !out.get("description").is_none_or(Value::is_string) {
        out.remove("description");
    }
    out
}

/// A property of an object schema is never looked at here, so a property called `id` is safe; but
/// `id` as a keyword is only a string.
fn is_about(key: &str, value: &Value) -> bool {
    ABOUT.contains(&key) && (key != "id" || value.is_string())
}

/// Draft 4 had a flag where a number is now.
fn limit(object: &mut Map<String, Value>, inclusive: &str, exclusive: &str) {
    match object.get(exclusive) {
        Some(Value::Bool(true)) => {
            object.remove(exclusive);
            if let Some(bound) = object.remove(inclusive) {
                object.insert(exclusive.to_owned(), bound);
            }
        }
        Some(Value::Bool(false)) => {
            object.remove(exclusive);
        }
        _ => {}
    }
}

/// Lets null be a value too.
fn or_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match object.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
        Some(one @ Value::String(_)) if *one != "null" => *one = json!([one.clone(), "null"]),
        Some(_) => {}
        None => {
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = object.get_mut(key) {
                    branches.push(json!({"type": "null"}));
                    return;
                }
            }
            if let Some(reference) = object.remove("$ref") {
                object.insert(
                    "anyOf".to_owned(),
                    json!([{"$ref": reference}, {"type": "null"}]),
                );
            }
        }
    }
}

/// A limit that leaves its bound out, as one that has it in: what no provider of the stricter kind
/// can say exactly.
pub(super) fn inclusive(object: &mut Map<String, Value>) -> bool {
    let mut changed = false;
    for (exclusive, inclusive, step) in [
        ("exclusiveMinimum", "minimum", 1_i64),
        ("exclusiveMaximum", "maximum", -1),
    ] {
        let Some(bound) = object.remove(exclusive) else {
            continue;
        };
        let whole = object.get("type").is_some_and(|kind| kind == "integer");
        // For integers it is the next one; otherwise the bound itself comes in with it.
        let exact = bound
            .as_i64()
            .filter(|_| whole)
            .and_then(|bound| bound.checked_add(step))
            .map(Number::from);
        changed |= exact.is_none();
        let bound = exact.map_or(bound, Value::Number);
        object.entry(inclusive.to_owned()).or_insert(bound);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::a_list_of_items(
        json!({"items": [{"type": "string"}], "additionalItems": false}),
        json!({"prefixItems": [{"type": "string"}], "items": false})
    )]
    #[case::flags(
        json!({"minimum": 1, "exclusiveMinimum": true, "maximum": 2, "exclusiveMaximum": false}),
        json!({"exclusiveMinimum": 1, "maximum": 2})
    )]
    #[case::nullable(json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]}))]
    #[case::nullable_reference(
        json!({"$ref": "#/$defs/A", "nullable": true}),
        json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]})
    )]
    #[case::nullable_values(
        json!({"type": "string", "enum": ["a"], "nullable": true}),
        json!({"type": ["string", "null"], "enum": ["a", null]})
    )]
    #[case::about(
        json!({"$schema": "x", "$id": "y", "$comment": "z", "definitions": {}, "type": "object"}),
        json!({"type": "object"})
    )]
    #[case::required_of_draft_3(json!({"type": "string", "required": true}), json!({"type": "string"}))]
    fn older_words_become_new_ones(#[case] old: Value, #[case] new: Value) {
        assert_eq!(Value::Object(cleaned(old.as_object().unwrap())), new);
    }

    #[rstest]
    #[case(json!({"type": "integer", "exclusiveMinimum": 0}), json!({"type": "integer", "minimum": 1}))]
    #[case(json!({"type": "number", "exclusiveMaximum": 1}), json!({"type": "number", "maximum": 1}))]
    fn an_open_limit_is_closed(#[case] open: Value, #[case] closed: Value) {
        let mut object = open.as_object().unwrap().clone();
        inclusive(&mut object);
        assert_eq!(Value::Object(object), closed);
    }
}
