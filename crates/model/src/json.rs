//! Leniency where wires differ in the JSON type of a field.

use outfitter_core::{Arguments, ModelError, canonical};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A field as it was written; a missing one and `null` are both none.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// A text field that is not empty.
pub(crate) fn text(raw: Raw<'_>) -> Option<String> {
    let raw = raw?.get();
    if !raw.starts_with('"') {
        return None;
    }
    serde_json::from_str::<String>(raw)
        .ok()
        .filter(|text| !text.is_empty())
}

/// An identifier, which some servers send as a number.
pub(crate) fn id(raw: Raw<'_>) -> Option<String> {
    text(raw).or_else(|| {
        let raw = raw?.get();
        raw.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| raw.to_owned())
    })
}

/// A count: servers send integers of any size, floats, and digits as text. What is none is 0.
pub(crate) fn count(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::Number(number)) => number
            .as_u64()
            .or_else(|| number.as_f64().map(whole))
            .unwrap_or(0),
        Some(Value::String(text)) => text.trim().parse().unwrap_or(0),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => 0,
    }
}

/// A place in a list: an integer, or a float that is one.
pub(crate) fn index(raw: Raw<'_>) -> Option<u64> {
    let raw = raw?.get().trim_matches('"');
    raw.parse::<u64>()
        .ok()
        .or_else(|| raw.parse::<f64>().ok().filter(|n| *n >= 0.0).map(whole))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and below zero it is zero"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Arguments as text: as it is where the wire has a string, as it was written where the wire has
/// JSON in its place.
pub(crate) fn arguments(raw: Raw<'_>) -> String {
    let Some(raw) = raw.map(RawValue::get) else {
        return String::new();
    };
    if raw.starts_with('"') {
        return serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned());
    }
    raw.to_owned()
}

/// A value with its keys sorted, whatever order it has inside.
pub(crate) struct Sorted<'a>(pub(crate) &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
                let mut out = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    out.serialize_entry(key, &Sorted(value))?;
                }
                out.end()
            }
            Value::Array(items) => {
                let mut out = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    out.serialize_element(&Sorted(item))?;
                }
                out.end()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.0.serialize(serializer)
            }
        }
    }
}

/// JSON that is sent as it is.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(canonical(value)).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Arguments where a wire wants an object: what was written where it is one, and what was written
/// as text where it is none.
pub(crate) fn object_arguments(text: &std::sync::Arc<str>) -> Box<RawValue> {
    match Arguments::parse(text.clone()).parsed {
        Ok(value) => RawValue::from_string(text.trim().to_owned())
            .ok()
            .filter(|written| written.get().starts_with('{'))
            .unwrap_or_else(|| raw(&value)),
        Err(_) => raw(&json!({"malformed_arguments": &**text})),
    }
}

/// Nothing of a list of tools is written here: another library does.
pub(crate) fn raw_list(_: &[crate::shaping::ShapedTool]) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string("[]".to_owned())
}

/// A request that is no JSON, which only a fault of ours makes.
pub(crate) fn unwritable(error: &serde_json::Error) -> ModelError {
    ModelError::Protocol {
        message: format!("the request cannot be written: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!(12), 12)]
    #[case(json!(12.0), 12)]
    #[case(json!(3_000_000_000_u64), 3_000_000_000)]
    #[case(json!("12"), 12)]
    #[case(json!(-1), 0)]
    #[case(json!(null), 0)]
    #[case(json!([1]), 0)]
    fn a_count_is_read_from_what_servers_send(#[case] value: Value, #[case] expected: u64) {
        assert_eq!(count(Some(&value)), expected);
    }

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"z": 1, "a": 2}], "a": 1.5});
        assert_eq!(
            serde_json::to_string(&Sorted(&value)).unwrap(),
            canonical(&value)
        );
    }
}
