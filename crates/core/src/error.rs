//! What a tool says when it fails: one part for the model, one for operators.

use std::error::Error as StdError;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Code;

/// An error and its causes in one line. A cause that the text before it already says is not said
/// again.
#[must_use]
pub fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&lowercase_first(&message));
        }
        cause = error.source();
    }
    text
}

/// Other people's messages begin with a capital, ours do not; a word that is all capitals stays.
fn lowercase_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

/// An error as models and clients read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// The word of the closed table.
    pub code: Code,
    /// One lowercase fragment.
    pub message: String,
    /// Whether the same call may succeed later without being changed.
    pub retryable: bool,
    /// Where in the arguments, as a JSON Pointer (RFC 6901).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was expected there.
    #[serde(
        default,
        deserialize_with = "crate::any_value::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub expected: Option<Value>,
    /// What was found there.
    #[serde(
        default,
        deserialize_with = "crate::any_value::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub got: Option<Value>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ErrorInfo {
    /// An error with the code's own answer to "may I retry".
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.retryable(),
            path: None,
            expected: None,
            got: None,
            hint: None,
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says where in the arguments, as a JSON Pointer.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

impl fmt::Display for ErrorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A failed call. The model reads [`ToolError::info`]; operators also read the source.
#[derive(Debug)]
pub struct ToolError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    info: ErrorInfo,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ToolError {
    /// An error with a code and a message for the model.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        ErrorInfo::new(code, message).into()
    }

    /// Our own fault. The message is the model's, so it says nothing about our insides.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// The work itself says no.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Code::Failed, message)
    }

    /// No such thing, or not the caller's.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// An argument that fits the schema and still cannot be used. `path` is a JSON Pointer.
    #[must_use]
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorInfo::new(Code::InvalidArguments, message)
            .at(path)
            .into()
    }

    /// Something this call needs is not there.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// Something this call needs is not set up: it will not be there at the next try either.
    #[must_use]
    pub fn not_set_up(message: impl Into<String>) -> Self {
        let mut error = Self::unavailable(message);
        error.0.info.retryable = false;
        error
    }

    /// Says what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.info.hint = Some(hint.into());
        self
    }

    /// Keeps the cause for operators. It never reaches a model.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The part that models and clients read.
    #[must_use]
    pub fn info(&self) -> &ErrorInfo {
        &self.0.info
    }

    /// The part that models and clients read, taken out.
    #[must_use]
    pub fn into_info(self) -> ErrorInfo {
        self.0.info
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.info.code
    }
}

impl From<ErrorInfo> for ToolError {
    fn from(info: ErrorInfo) -> Self {
        Self(Box::new(Inner { info, source: None }))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.info.message)
    }
}

impl StdError for ToolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|source| &**source as &(dyn StdError + 'static))
    }
}
