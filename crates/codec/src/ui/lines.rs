//! A value as a short text.

use std::fmt::Write as _;

use serde_json::Value;

/// How deep a value is looked into.
const DEPTH: usize = 8;

/// The canonical JSON of a value, or its beginning where it is longer than `most` bytes or deeper
/// than is of use. The work is bounded too, whatever the value is.
pub(super) fn json_text(value: &Value, most: usize) -> String {
    let mut out = String::new();
    write(value, most, DEPTH, &mut out);
    if out.len() > most {
        out.truncate(out.floor_char_boundary(most));
        out.push('…');
    }
    out
}

fn write(value: &Value, most: usize, depth: usize, out: &mut String) {
    if out.len() > most {
        return;
    }
    match value {
        Value::Array(items) if !items.is_empty() && depth == 0 => out.push_str("[…]"),
        Value::Object(map) if !map.is_empty() && depth == 0 => out.push_str("{…}"),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if out.len() > most {
                    return;
                }
                if at > 0 {
                    out.push(',');
                }
                write(item, most, depth - 1, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, key) in sorted_keys(map).into_iter().enumerate() {
                if out.len() > most {
                    return;
                }
                if at > 0 {
                    out.push(',');
                }
                string(key, most, out);
                out.push(':');
                if let Some(value) = map.get(key) {
                    write(value, most, depth - 1, out);
                }
            }
            out.push('}');
        }
        Value::String(text) => string(text, most, out),
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => {
            let _ = write!(out, "{yes}");
        }
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
    }
}

fn string(text: &str, most: usize, out: &mut String) {
    let head = &text[..text.floor_char_boundary(most.saturating_add(1))];
    out.push_str(&outfitter_core::canonical(&Value::from(head)));
}

/// The keys of an object by their bytes: the order inside a value depends on who made it.
pub(super) fn sorted_keys(map: &serde_json::Map<String, Value>) -> Vec<&str> {
    let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
