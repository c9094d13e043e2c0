//! Several schemas of one value as one.

use serde_json::{Map, Value, json};

/// Both hold: what a value of `allOf` is. Where they disagree about a property, both of its schemas
/// stand in an `allOf`; where they disagree about anything else, the first says it, which loosens.
pub(super) fn both(into: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (key.as_str(), into.get_mut(&key)) {
            (_, None) => {
                into.insert(key, value);
            }
            ("properties", Some(Value::Object(have))) => {
                let Value::Object(more) = value else { continue };
                for (name, schema) in more {
                    match have.get_mut(&name) {
                        None => {
                            have.insert(name, schema);
                        }
                        Some(same) if *same == schema => {}
                        Some(held) => *held = json!({"allOf": [held.clone(), schema]}),
                    }
                }
            }
            ("required", Some(Value::Array(have))) => {
                let Value::Array(more) = value else { continue };
                for name in more {
                    if !have.contains(&name) {
                        have.push(name);
                    }
                }
            }
            ("allOf", Some(Value::Array(have))) => {
                have.extend(value.as_array().cloned().unwrap_or_default());
            }
            ("type", Some(have)) => narrow(have, &value),
            ("enum", Some(Value::Array(have))) => {
                if let Value::Array(more) = value {
                    let common: Vec<Value> = have
                        .iter()
                        .filter(|one| more.contains(one))
                        .cloned()
                        .collect();
                    // Nothing in common can never hold; the checker will say so, not the schema.
                    if !common.is_empty() {
                        *have = common;
                    }
                }
            }
            ("additionalProperties", Some(have)) => {
                // Each part closes over its own properties only; together they close over nothing
                // that the other has, which one schema cannot say.
                if *have != value || value == Value::Bool(false) {
                    *have = Value::Bool(true);
                }
            }
            (_, Some(_)) => {}
        }
    }
}

/// A type that both allow.
fn narrow(have: &mut Value, other: &Value) {
    let list = |value: &Value| match value {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let (mine, theirs) = (list(have), list(other));
    let common: Vec<Value> = mine
        .iter()
        .filter_map(|one| {
            if theirs.contains(one) {
                return Some(one.clone());
            }
            // An integer is a number too.
            let both = [json!("integer"), json!("number")];
            let whole = both.contains(one) && theirs.iter().any(|other| both.contains(other));
            whole.then(|| json!("integer"))
        })
        .collect();
    match common.len() {
        0 => {}
        1 => *have = common[0].clone(),
        _ => *have = Value::Array(common),
    }
}

/// One of them holds: what a property is that several branches have.
pub(super) fn either(first: Value, second: Value) -> Value {
    if first == second {
        return first;
    }
    if let (Some(mut values), Some(more)) = (values(&first), values(&second)) {
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let mut out = Map::new();
        // The kind of value that both have is worth keeping.
        for key in ["type", "description"] {
            if let Some(same) = first.get(key).filter(|same| second.get(key) == Some(same)) {
                out.insert(key.to_owned(), same.clone());
            }
        }
        out.insert("enum".to_owned(), Value::Array(values));
        return Value::Object(out);
    }
    let mut branches = Vec::new();
    for one in [first, second] {
        match lone_union(&one) {
            Some(inner) => branches.extend(inner),
            None => branches.push(one),
        }
    }
    branches.dedup();
    json!({"anyOf": branches})
}

/// The values of a schema that lists them and says little else.
fn values(schema: &Value) -> Option<Vec<Value>> {
    let object = schema.as_object()?;
    let known = ["enum", "const", "type", "description", "title"];
    if !object.keys().all(|key| known.contains(&key.as_str())) {
        return None;
    }
    if let Some(one) = object.get("const") {
        return Some(vec![one.clone()]);
    }
    object.get("enum")?.as_array().cloned()
}

fn lone_union(schema: &Value) -> Option<Vec<Value>> {
    let object = schema.as_object().filter(|object| object.len() == 1)?;
    object.get("anyOf")?.as_array().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(json!({"const": "a"}), json!({"const": "b"}), json!({"enum": ["a", "b"]}))]
    #[case(
        json!({"type": "string", "const": "a"}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "string", "enum": ["a", "b"]})
    )]
    #[case(
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})
    )]
    fn one_of_two(#[case] a: Value, #[case] b: Value, #[case] out: Value) {
        assert_eq!(either(a, b), out);
    }

    #[test]
    fn all_of_two() {
        let mut one = json!({
            "type": ["number", "null"], "required": ["a"],
            "properties": {"a": {"type": "string"}}, "additionalProperties": false,
        });
        let other = json!({
            "type": ["integer", "null"], "required": ["b", "a"],
            "properties": {"a": {"minLength": 1}, "b": {}}, "additionalProperties": false,
        });
        both(
            one.as_object_mut().unwrap(),
            other.as_object().unwrap().clone(),
        );
        assert_eq!(
            one,
            json!({
                "type": ["integer", "null"], "required": ["a", "b"],
                "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "b": {}},
                "additionalProperties": true,
            })
        );
    }
}
