//! Validate: the arguments are held to the schema, as they are. Nothing is coerced.

use serde_json::Value;

use super::{Head, Refusal, Shown, Stage, faults};
use crate::registered::Registered;

/// A call whose arguments fit the schema.
pub(crate) struct Checked<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
}

pub(crate) fn validate(shown: Shown<'_>) -> Stage<Checked<'_>> {
    let Shown { head, args, tool } = shown;
    if tool.validator.is_valid(&args) {
        return Ok(Checked { head, args, tool });
    }
    let error = faults::describe(tool, &args);
    Err(Refusal::new(head, args, error))
}
