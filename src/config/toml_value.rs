//! TOML values as JSON ones and back.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;

/// What a value is, if it is one that no key can have: there is nothing like it in JSON.
pub(super) fn unheard_of(value: &DeValue<'_>) -> Option<&'static str> {
    match value {
        DeValue::Datetime(_) => Some("a date or a time"),
        DeValue::Float(_) if !to_json(value).is_number() => {
            Some("a number that is none or too large")
        }
        DeValue::Integer(_) if !to_json(value).is_number() => Some("a number of more than 64 bits"),
        _ => None,
    }
}

/// A value as it stands right of the `=`. What is [`unheard_of`] becomes its text.
pub(super) fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => integer(number.as_str(), number.radix()),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map_or_else(|| Value::String(number.as_str().to_owned()), Value::Number),
        DeValue::Boolean(is) => Value::Bool(*is),
        DeValue::Datetime(at) => Value::String(at.to_string()),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(
            table
                .iter()
                .map(|(name, value)| (name.get_ref().to_string(), to_json(value.get_ref())))
                .collect::<Map<_, _>>(),
        ),
    }
}

fn integer(digits: &str, radix: u32) -> Value {
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        return number.into();
    }
    match i64::from_str_radix(digits, radix) {
        Ok(number) => number.into(),
        Err(_) => Value::String(digits.to_owned()),
    }
}

/// Reads one value; none when it is not one.
pub(super) fn parse(text: &str) -> Option<Value> {
    DeValue::parse(text)
        .ok()
        .map(|value| to_json(value.get_ref()))
}

/// Writes a value as it would stand right of the `=`.
pub(crate) fn write(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(is) => is.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(write).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let entries: Vec<_> = map
                .iter()
                .map(|(name, value)| format!("{} = {}", key(name), write(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare {
        name.to_owned()
    } else {
        toml::Value::String(name.to_owned()).to_string()
    }
}
