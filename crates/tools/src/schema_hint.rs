//! The arguments of a tool in one line, for a model that got them wrong.

use serde_json::{Map, Value};

/// The longest hint in bytes.
const MAX_BYTES: usize = 800;

/// Every parameter, the required ones marked with `*`: `path* string, mode "a"|"b"`.
pub(crate) fn schema_hint(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|map| !map.is_empty()) else {
        return "it takes no arguments: {}".to_owned();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut hint = String::from("its arguments (* required): ");
    for (index, (name, schema)) in properties.iter().enumerate() {
        if index > 0 {
            hint.push_str(", ");
        }
        if hint.len() > MAX_BYTES {
            hint.push('…');
            break;
        }
        hint.push_str(name);
        if required.contains(&name.as_str()) {
            hint.push('*');
        }
        if let Some(kind) = kind(schema) {
            hint.push(' ');
            hint.push_str(&kind);
        }
    }
    hint
}

/// What a value of a schema is, in a few words.
pub(crate) fn kind(schema: &Value) -> Option<String> {
    /// The most alternatives that are spelled out.
    const MAX_CHOICES: usize = 12;
    let schema: &Map<String, Value> = schema.as_object()?;
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = choices
            .iter()
            .take(MAX_CHOICES)
            .map(Value::to_string)
            .collect();
        return Some(words.join("|"));
    }
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            Some(match schema.get("items").and_then(kind_of_items) {
                Some(items) => format!("array of {items}"),
                None => "array".to_owned(),
            })
        }
        Some(Value::String(kind)) => Some(kind.clone()),
        Some(Value::Array(kinds)) => {
            let words: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            Some(words.join("|"))
        }
        Some(_) | None => ["anyOf", "oneOf"]
            .into_iter()
            .find_map(|keyword| schema.get(keyword)?.as_array())
            .map(|parts| {
                let words: Vec<String> = parts.iter().take(MAX_CHOICES).filter_map(kind).collect();
                words.join("|")
            })
            .filter(|words| !words.is_empty()),
    }
}

fn kind_of_items(items: &Value) -> Option<String> {
    // One level is enough for a hint, and ends for any schema.
    match items.get("type") {
        Some(Value::String(kind)) => Some(kind.clone()),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_hint_names_every_argument() {
        let hint = schema_hint(&json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "lines": {"type": ["integer", "null"]},
                "mode": {"enum": ["append", "create"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "any": {},
                "either": {"anyOf": [{"type": "string"}, {"type": "object"}]},
            },
            "required": ["path"],
        }));
        insta::assert_snapshot!(hint);
    }

    #[test]
    fn a_hint_is_bounded_and_a_tool_without_arguments_says_so() {
        let properties: Map<String, Value> = (0..1000)
            .map(|n| (format!("parameter_{n}"), json!({"type": "string"})))
            .collect();
        assert!(schema_hint(&json!({"properties": properties})).len() < MAX_BYTES + 100);
        assert_eq!(schema_hint(&json!({})), "it takes no arguments: {}");
    }
}
