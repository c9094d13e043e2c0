//! What the code that `#[tool]` writes needs. Not for use by hand; it changes without notice.
//!
//! Whatever the macro's `crate = path` names must hold exactly this module under the same name:
//! `pub use outfitter_tools::__private;`.

pub use async_trait::async_trait;
pub use inventory;
pub use outfitter_core as core;
pub use schemars;
pub use serde;
pub use serde_json;

pub use crate::input_schema::{input_schema, output_schema};
pub use crate::native::NativeTool;
pub use crate::returned::{
    JsonKind, PlainShape, ReplyKind, ResultShape, TextErrorKind, ToolErrorKind,
};

/// Reads the arguments of a call into the type of a tool.
///
/// # Errors
/// `invalid_arguments` where the type is stricter than its schema.
pub fn read_arguments<T: serde::de::DeserializeOwned>(
    args: serde_json::Value,
) -> Result<T, core::ToolError> {
    serde_json::from_value(args)
        .map_err(|error| core::ToolError::invalid("", format!("the arguments do not fit: {error}")))
}

/// The name of a tool written in Rust, which its author or the macro has checked.
///
/// # Panics
/// When it is no tool's name.
#[must_use]
pub fn native_name(name: &'static str) -> core::ToolName {
    match core::ToolName::new(name) {
        Ok(name) => name,
        Err(error) => unreachable!("the name {name:?} was checked when it was written: {error}"),
    }
}
