//! What a model wrote as the arguments of a call.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::strict_json::parse_strict;
use crate::{redact_addresses, redact_arguments, redact_value};

/// Why a text is not the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedKind {
    /// Not JSON.
    Syntax,
    /// JSON that ends too early: the reply hit a length limit or the connection broke.
    CutOff,
    /// An object with one key twice.
    DuplicateKey,
    /// An integer that neither `i64` nor `u64` holds.
    Integer,
    /// JSON, but not an object.
    NotAnObject,
}

/// Arguments that are not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// What kind of fault.
    pub kind: MalformedKind,
    /// Where, as a JSON Pointer (RFC 6901); empty for the whole.
    pub path: String,
    /// One lowercase fragment.
    pub message: String,
}

/// The arguments of a call: the text as it was written, and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// The text as the model wrote it; stored and replayed byte for byte.
    pub raw: Arc<str>,
    /// What it says: always an object, or why it says nothing.
    pub parsed: Result<Value, Malformed>,
}

impl Arguments {
    /// Reads a text. Empty, blank and `null` are `{}`: models leave arguments out of calls that
    /// need none.
    #[must_use]
    pub fn parse(raw: impl Into<Arc<str>>) -> Self {
        let raw = raw.into();
        let parsed = match raw.trim() {
            "" | "null" => Ok(Value::Object(Map::new())),
            text => parse_strict(text).and_then(object),
        };
        Self { raw, parsed }
    }

    /// The arguments of a call that a program makes.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self {
            raw: crate::canonical(&value).into(),
            parsed: object(value),
        }
    }

    /// The arguments as a value for showing: the object, or the text itself when it is malformed,
    /// without what its names and its addresses betray as secret.
    #[must_use]
    pub fn shown(&self) -> Value {
        match &self.parsed {
            Ok(value) => redact_value(value, &redact_addresses),
            Err(_) => Value::String(redact_arguments(&self.raw).into_owned()),
        }
    }
}

fn object(value: Value) -> Result<Value, Malformed> {
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Ok(Value::Object(Map::new())),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(Malformed {
            kind: MalformedKind::NotAnObject,
            path: String::new(),
            message: "the arguments are JSON but not an object".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::tests::any_json;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("")]
    #[case("  \n")]
    #[case("null")]
    #[case(" null ")]
    #[case("{}")]
    fn nothing_said_is_an_empty_object(#[case] raw: &str) {
        let arguments = Arguments::parse(raw);
        assert_eq!(arguments.parsed, Ok(json!({})));
        assert_eq!(&*arguments.raw, raw, "the text is kept as it was");
    }

    #[rstest]
    #[case(r#"{"path":"a.txt","content":"abc"#, MalformedKind::CutOff, "/content")]
    #[case(r#"{"path":"#, MalformedKind::CutOff, "/path")]
    #[case("{", MalformedKind::CutOff, "")]
    #[case(r#"{"a":1,"a":2}"#, MalformedKind::DuplicateKey, "")]
    #[case(r#"{"o":{"b":1,"b":2}}"#, MalformedKind::DuplicateKey, "/o")]
    #[case(r#"{"n":12345678901234567890123}"#, MalformedKind::Integer, "/n")]
    #[case(
        r#"{"l":["x",{"n":-9223372036854775809}]}"#,
        MalformedKind::Integer,
        "/l/1/n"
    )]
    #[case("[1]", MalformedKind::NotAnObject, "")]
    #[case("{} {}", MalformedKind::Syntax, "")]
    #[case("{'a':1}", MalformedKind::Syntax, "")]
    #[case(r#"{"a":NaN}"#, MalformedKind::Syntax, "/a")]
    fn what_is_not_an_object_says_why_and_where(
        #[case] raw: &str,
        #[case] kind: MalformedKind,
        #[case] path: &str,
    ) {
        let fault = Arguments::parse(raw).parsed.unwrap_err();
        assert_eq!(
            (fault.kind, fault.path.as_str()),
            (kind, path),
            "{}",
            fault.message
        );
    }

    #[rstest]
    #[case(r#"{"n":18446744073709551615}"#)]
    #[case(r#"{"n":-9223372036854775808}"#)]
    #[case(r#"{"s":"12345678901234567890123"}"#)]
    #[case(r#"{"n":1234567890123456789012.5}"#)]
    fn a_long_run_of_digits_that_is_no_oversized_integer_is_fine(#[case] raw: &str) {
        assert!(Arguments::parse(raw).parsed.is_ok());
    }

    #[rstest]
    #[case(r#"{"password":12345678901234567890123}"#)]
    #[case(r#"{"token":[{"a":12345678901234567890123}]}"#)]
    fn an_integer_that_does_not_fit_was_told_under_the_name_of_a_secret(#[case] raw: &str) {
        let fault = Arguments::parse(raw).parsed.unwrap_err();
        assert_eq!(fault.kind, MalformedKind::Integer);
        assert_eq!(
            fault.message,
            "the integer [redacted] does not fit in 64 bits"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(
            Arguments::parse(deep).parsed.unwrap_err().kind,
            MalformedKind::Syntax
        );
    }

    proptest! {
        #[test]
        fn every_object_is_read_as_serde_json_reads_it(value in any_json()) {
            let value = json!({"k": value});
            let parsed = Arguments::parse(value.to_string()).parsed.unwrap();
            prop_assert_eq!(parsed, value);
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = Arguments::parse(text);
        }

        #[test]
        fn a_cut_anywhere_is_never_arguments(value in any_json(), at in 0.0..1.0f64) {
            let text = json!({"key": value}).to_string();
            let cut = (text.len() as f64 * at) as usize;
            if let Some(head) = text.get(..cut).filter(|head| !head.is_empty()) {
                prop_assert!(Arguments::parse(head).parsed.is_err());
            }
        }
    }
}
