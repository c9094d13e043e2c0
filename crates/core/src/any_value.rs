//! Reads JSON values out of stored rows exactly as they were written. Two things get lost
//! otherwise: a `null` that is there becomes a value that is not, and an object whose first key
//! looks like a marker of `serde_json`'s own (`raw_value`) is read as what the marker stands for,
//! so that a model or a server could write a row that never reads back.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// For a field that is any JSON.
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Plain::deserialize(deserializer).map(|plain| plain.0)
}

/// For an optional field that is any JSON, with a default: `null` is a value.
pub(crate) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    value(deserializer).map(Some)
}

/// For an optional field whose type takes `null` as a value, with a default.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// What a visitor makes of a scalar, and what it expects.
macro_rules! scalars {
    () => {
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_bool<E>(self, value: bool) -> Result<serde_json::Value, E> {
            Ok(serde_json::Value::Bool(value))
        }

        fn visit_i64<E>(self, value: i64) -> Result<serde_json::Value, E> {
            Ok(value.into())
        }

        fn visit_u64<E>(self, value: u64) -> Result<serde_json::Value, E> {
            Ok(value.into())
        }

        fn visit_f64<E>(self, value: f64) -> Result<serde_json::Value, E> {
            Ok(serde_json::Value::from(value))
        }

        fn visit_str<E>(self, value: &str) -> Result<serde_json::Value, E> {
            Ok(serde_json::Value::String(value.to_owned()))
        }

        fn visit_string<E>(self, value: String) -> Result<serde_json::Value, E> {
            Ok(serde_json::Value::String(value))
        }

        fn visit_unit<E>(self) -> Result<serde_json::Value, E> {
            Ok(serde_json::Value::Null)
        }
    };
}
pub(crate) use scalars;

struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(Plain)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    scalars!();

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        value(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, Plain(value))) = entries.next_entry::<String, Plain>()? {
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use crate::{ErrorInfo, Part, ToolOutput};

    #[rstest]
    #[case(json!({"$serde_json::private::RawValue": "1"}))]
    #[case(json!({"$serde_json::private::RawValue": 5}))]
    #[case(json!([{"$serde_json::private::Number": "x"}]))]
    #[case(Value::Null)]
    fn no_value_is_taken_for_something_else(#[case] value: Value) {
        let part = Part::Provider {
            provider: "p".to_owned(),
            data: value.clone(),
        };
        let text = serde_json::to_string(&part).unwrap();
        assert_eq!(serde_json::from_str::<Part>(&text).unwrap(), part, "{text}");

        let mut error = ErrorInfo::new(crate::Code::Failed, "no");
        error.got = Some(value.clone());
        let mut output =
            ToolOutput::failed("t", crate::CallId::new("c").unwrap(), value.clone(), error);
        output.result = Some(value.clone());
        output.ui_hints = Some(crate::UiHints(value));
        let text = serde_json::to_string(&output).unwrap();
        assert_eq!(
            serde_json::from_str::<ToolOutput>(&text).unwrap(),
            output,
            "{text}"
        );
    }

    #[test]
    fn what_is_left_out_stays_out() {
        let output = ToolOutput::failed(
            "t",
            crate::CallId::new("c").unwrap(),
            json!({}),
            ErrorInfo::new(crate::Code::Failed, "no"),
        );
        let text = serde_json::to_string(&output).unwrap();
        assert_eq!(serde_json::from_str::<ToolOutput>(&text).unwrap(), output);
    }
}
