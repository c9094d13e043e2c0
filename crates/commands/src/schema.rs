//! A JSON Schema that a program gave, and what is wrong with a value.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use outfitter_core::canonical;
use serde_json::{Value, json};

/// The most faults that are listed.
const MAX_FAULTS: usize = 20;

/// The longest value that is shown as it is, in bytes of JSON.
const MAX_SHOWN_BYTES: usize = 120;

/// A schema that was compiled once.
pub(crate) struct Schema {
    pub(crate) value: Arc<Value>,
    validator: Validator,
}

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Where, as a JSON Pointer.
    pub(crate) path: String,
    /// What, one fragment.
    pub(crate) says: String,
    pub(crate) expected: Option<Value>,
    pub(crate) got: Option<Value>,
}

impl Schema {
    /// References are never fetched.
    pub(crate) fn compile(value: Value) -> Result<Self, String> {
        if !value.is_object() {
            return Err("is not an object".to_owned());
        }
        let validator = jsonschema::options()
            .offline()
            .build(&value)
            .map_err(|error| format!("cannot be used: {error}"))?;
        Ok(Self {
            value: Arc::new(value),
            validator,
        })
    }

    /// Everything that is wrong, by path.
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let mut faults: Vec<Fault> = self
            .validator
            .iter_errors(value)
            .take(MAX_FAULTS)
            .flat_map(|error| self.describe(&error))
            .take(MAX_FAULTS)
            .collect();
        faults.sort_by(|a, b| (&a.path, &a.says).cmp(&(&b.path, &b.says)));
        faults
    }

    fn describe(&self, error: &ValidationError<'_>) -> Vec<Fault> {
        let at = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
                .iter()
                .map(|name| {
                    unknown(
                        &format!("{at}/{}", escaped(name)),
                        error.instance().get(name),
                    )
                })
                .collect(),
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let path = format!("{at}/{}", escaped(name));
                vec![Fault {
                    says: format!("{path} is missing"),
                    path,
                    expected: Some(json!("a value")),
                    got: None,
                }]
            }
            kind => {
                let expected = json!({ kind.keyword(): self.wanted(error) });
                let got = shown(error.instance());
                vec![Fault {
                    says: format!(
                        "{}: expected {}, got {}",
                        if at.is_empty() { "/" } else { at },
                        canonical(&expected),
                        canonical(&got)
                    ),
                    path: at.to_owned(),
                    expected: Some(expected),
                    got: Some(got),
                }]
            }
        }
    }

    /// What the keyword that does not hold says.
    fn wanted(&self, error: &ValidationError<'_>) -> Value {
        self.value
            .pointer(error.schema_path().as_str())
            .map_or(Value::Null, shown)
    }
}

/// An argument that is not known.
pub(crate) fn unknown(path: &str, got: Option<&Value>) -> Fault {
    Fault {
        path: path.to_owned(),
        says: format!("{path} is not known"),
        expected: None,
        got: got.map(shown),
    }
}

/// All of them in one fragment.
pub(crate) fn listed(faults: &[Fault]) -> String {
    let says: Vec<&str> = faults.iter().map(|fault| fault.says.as_str()).collect();
    says.join("; ")
}

/// A value as an error shows it: itself where it is short.
fn shown(value: &Value) -> Value {
    let text = canonical(value);
    if text.len() <= MAX_SHOWN_BYTES {
        return value.clone();
    }
    json!(match value {
        Value::String(text) => format!("a string of {} bytes", text.len()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(map) => format!("an object of {} keys", map.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("{} bytes", text.len()),
    })
}

pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
