//! What a function under `#[tool]` may return, told apart by the methods that its type has.
//!
//! The macro sees only the text of a type, so it lets method resolution choose: a method on a
//! reference is taken only when the more special one, on the value, is not there. This way
//! `Result` under any alias, [`Reply`], [`Outcome`] and everything that serialises work alike.

use std::convert::Infallible;
use std::fmt::Display;

use outfitter_core::{Outcome, Reply, ToolError};
use serde::Serialize;

/// Says how a value splits into what was returned and an error.
pub struct SplitResult;
/// Says that a value is no `Result`.
pub struct SplitPlain;
/// Says that a value is a reply already.
pub struct AsReply;
/// Says that a value serialises.
pub struct AsJson;
/// Says that an error is a [`ToolError`] or becomes one.
pub struct AsToolError;
/// Says that an error can only be shown.
pub struct AsText;

/// Of every `Result`.
pub trait ResultShape {
    /// How it splits.
    fn outfitter_shape(&self) -> SplitResult {
        SplitResult
    }
}
impl<T, E> ResultShape for Result<T, E> {}

/// Of anything else.
pub trait PlainShape {
    /// How it splits.
    fn outfitter_shape(&self) -> SplitPlain {
        SplitPlain
    }
}
impl<T> PlainShape for &T {}

impl SplitResult {
    /// The value and the error.
    pub fn split<T, E>(self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

impl SplitPlain {
    /// The value; there is no error.
    pub fn split<T>(self, value: T) -> Result<T, Infallible> {
        Ok(value)
    }
}

/// Of what is a reply already.
pub trait ReplyKind: Into<Reply> {
    /// How it becomes one.
    fn outfitter_kind(&self) -> AsReply {
        AsReply
    }
}
impl ReplyKind for Reply {}
impl ReplyKind for Outcome {}

/// Of what serialises.
pub trait JsonKind {
    /// How it becomes a reply.
    fn outfitter_kind(&self) -> AsJson {
        AsJson
    }
}
impl<T: Serialize> JsonKind for &T {}

impl AsReply {
    /// The reply.
    ///
    /// # Errors
    /// Never.
    pub fn reply(self, value: impl Into<Reply>) -> Result<Reply, ToolError> {
        Ok(value.into())
    }
}

impl AsJson {
    /// The value as the result of a call.
    ///
    /// # Errors
    /// `internal` when the value cannot be written as JSON.
    pub fn reply(self, value: impl Serialize) -> Result<Reply, ToolError> {
        serde_json::to_value(value)
            .map(|value| Outcome::json(value).into())
            .map_err(|error| {
                ToolError::internal("the result of the tool cannot be written as JSON")
                    .with_source(error)
            })
    }
}

/// Of errors that are or become a [`ToolError`].
pub trait ToolErrorKind: Into<ToolError> {
    /// How it becomes one.
    fn outfitter_error(&self) -> AsToolError {
        AsToolError
    }
}
impl<E: Into<ToolError>> ToolErrorKind for E {}

/// Of errors that can only be shown.
pub trait TextErrorKind {
    /// How it becomes an error.
    fn outfitter_error(&self) -> AsText {
        AsText
    }
}
impl<E: Display> TextErrorKind for &E {}

impl AsToolError {
    /// The error.
    pub fn error(self, error: impl Into<ToolError>) -> ToolError {
        error.into()
    }
}

impl AsText {
    /// The error with its text, under the code `failed`.
    pub fn error(self, error: impl Display) -> ToolError {
        ToolError::failed(error.to_string())
    }
}
