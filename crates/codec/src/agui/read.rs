//! Reads a client's JSON, strictly where it matters, with the place of every fault.

use outfitter_core::{Code, ErrorInfo};
use serde_json::{Map, Value};

/// Why a body is no `RunAgentInput`. Each is a 400: it does not parse, or it does not fit.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Not JSON.
    #[error("read the body as JSON")]
    Syntax(#[source] serde_json::Error),
    /// JSON of another form.
    #[error("read the body: {} must be {expected}, not {got}", place(.path))]
    Shape {
        /// Where, as a JSON Pointer (RFC 6901).
        path: String,
        /// What was expected there.
        expected: &'static str,
        /// What was found there, in a word.
        got: &'static str,
    },
}

impl InputError {
    /// The error as clients read it.
    #[must_use]
    pub fn info(&self) -> ErrorInfo {
        let message = match self {
            Self::Syntax(why) => format!("failed to {self}: {why}"),
            Self::Shape { .. } => format!("failed to {self}"),
        };
        let error = ErrorInfo::new(Code::InvalidArguments, message);
        match self {
            Self::Syntax(_) => error,
            Self::Shape {
                path,
                expected,
                got,
            } => ErrorInfo {
                expected: Some(Value::from(*expected)),
                got: Some(Value::from(*got)),
                ..error.at(path.as_str())
            },
        }
    }
}

/// The place in words: the pointer to the whole is empty.
fn place(path: &str) -> &str {
    match path {
        "" => "it",
        path => path,
    }
}

/// A value and where it is.
#[derive(Debug, Clone)]
pub(super) struct At<'a> {
    pub(super) value: Option<&'a Value>,
    pub(super) path: String,
}

impl<'a> At<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self {
            value: Some(value),
            path: String::new(),
        }
    }

    pub(super) fn fault(&self, expected: &'static str) -> InputError {
        let got = match self.value {
            None => "nothing",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "a boolean",
            Some(Value::Number(_)) => "a number",
            Some(Value::String(_)) => "this text",
            Some(Value::Array(_)) => "a list",
            Some(Value::Object(_)) => "an object",
        };
        InputError::Shape {
            path: self.path.clone(),
            expected,
            got,
        }
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>, InputError> {
        self.value
            .and_then(Value::as_object)
            .ok_or_else(|| self.fault("an object"))
    }

    /// A member; one that is not there, or `null`, is nothing. Clients of before send nulls.
    pub(super) fn member(&self, name: &'static str) -> Result<Self, InputError> {
        let value = self.object()?.get(name).filter(|value| !value.is_null());
        Ok(Self {
            value,
            path: format!("{}/{name}", self.path),
        })
    }

    /// The items of a list; nothing is an empty one.
    pub(super) fn items(&self) -> Result<Vec<Self>, InputError> {
        let items = match self.value {
            None => &[],
            Some(Value::Array(items)) => &items[..],
            Some(_) => return Err(self.fault("a list")),
        };
        Ok(items
            .iter()
            .enumerate()
            .map(|(at, item)| Self {
                value: Some(item),
                path: format!("{}/{at}", self.path),
            })
            .collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, InputError> {
        self.optional_text()?.ok_or_else(|| self.fault("a text"))
    }

    pub(super) fn optional_text(&self) -> Result<Option<&'a str>, InputError> {
        match self.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.fault("a text")),
        }
    }
}
