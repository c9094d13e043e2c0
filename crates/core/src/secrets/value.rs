//! JSON without its secrets.

use std::borrow::Cow;

use serde_json::Value;

use super::written::redact_malformed;
use super::{REDACTED, is_secret_key, redact_addresses};
use crate::{Arguments, canonical};

/// A value for showing: without what stands under the names of secrets, and each text of it, names
/// of members too, as `text` gives it.
#[must_use]
pub fn redact_value(value: &Value, text: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) -> Value {
    if betrays(value, text) {
        taken_out(value, text)
    } else {
        value.clone()
    }
}

/// The text of a call's arguments for showing. It is what was written, to the letter, unless
/// secrets have to be taken out of it.
#[must_use]
pub fn redact_arguments(raw: &str) -> Cow<'_, str> {
    match Arguments::parse(raw).parsed {
        Ok(value) if betrays(&value, &redact_addresses) => {
            canonical(&taken_out(&value, &redact_addresses)).into()
        }
        Ok(_) => raw.into(),
        Err(_) => redact_malformed(raw),
    }
}

fn taken_out(value: &Value, text: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let value = if is_secret_key(key) && !value.is_null() {
                    Value::String(REDACTED.to_owned())
                } else {
                    taken_out(value, text)
                };
                (text(key).into_owned(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| taken_out(item, text)).collect(),
        Value::String(said) => Value::String(text(said).into_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Whether there is anything to take out, which is rare.
fn betrays(value: &Value, text: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) -> bool {
    let finds = |said: &str| matches!(text(said), Cow::Owned(_));
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            (is_secret_key(key) && !value.is_null()) || finds(key) || betrays(value, text)
        }),
        Value::Array(items) => items.iter().any(|item| betrays(item, text)),
        Value::String(said) => finds(said),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_arguments_showed_a_password_under_its_name() {
        for (raw, shown) in [
            (
                r#"{"command":"echo 1","password":"hunter22","n":1,"n":2}"#,
                r#"{"command":"echo 1","password":"[redacted]","n":1,"n":2}"#,
            ),
            (
                r#"{"command":"echo 1","password":"hunter22""#,
                r#"{"command":"echo 1","password":"[redacted]""#,
            ),
            (
                r#"{"password":"hunter22",}"#,
                r#"{"password":"[redacted]",}"#,
            ),
            (
                r#"{"a": {"token": ["hunter22"#,
                r#"{"a": {"token": "[redacted]""#,
            ),
            (
                r#"{ "a" : "\u00e9", "n":1, "n":2}"#,
                r#"{ "a" : "\u00e9", "n":1, "n":2}"#,
            ),
            (
                "https://u:S3,x@a.example/",
                "https://u:[redacted]@a.example/",
            ),
        ] {
            assert_eq!(redact_arguments(raw), shown);
            let called = Arguments::parse(raw);
            assert!(called.parsed.is_err(), "{raw}");
            assert_eq!(called.shown(), Value::from(shown));
        }
    }

    #[test]
    fn arguments_are_to_the_letter_unless_there_is_a_secret_in_them() {
        let plain = r#"{ "urls" : ["https://a.example/?q=1"], "n": 1.0 }"#;
        assert_eq!(redact_arguments(plain), plain);
        assert_eq!(redact_arguments(""), "");
        assert_eq!(
            redact_arguments(
                r#"{"urls": ["https:\/\/a.example\/?q=1\u0026token=S3"], "password": 1}"#
            ),
            r#"{"password":"[redacted]","urls":["https://a.example/?q=1&token=[redacted]"]}"#
        );
        assert_eq!(
            redact_arguments(r#"{"urls": ["https://u:S3@a.example/?token=S3""#),
            r#"{"urls": ["https://u:[redacted]@a.example/?token=[redacted]""#
        );
    }
}
