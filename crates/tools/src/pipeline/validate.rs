//! Validate: the arguments are held to the schema as they are. Where they do not fit, strings that
//! spell what is asked for are read as that, and they are held to it again.

use serde_json::Value;

use super::{Head, Refusal, Shown, Stage, faults};
use crate::coerce::{Change, coerce};
use crate::registered::Registered;

/// A call whose arguments fit the schema. They are what runs, what is judged and what the record
/// shows; the text that the model wrote stays in its own message.
pub(crate) struct Checked<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
}

pub(crate) fn validate(shown: Shown<'_>) -> Stage<Checked<'_>> {
    let Shown {
        head,
        mut args,
        tool,
    } = shown;
    let fits = tool.validator.is_valid(&args)
        || match coerce(&tool.spec.input_schema, &mut args) {
            Change::Some => tool.validator.is_valid(&args),
            Change::None => false,
        };
    if fits {
        return Ok(Checked { head, args, tool });
    }
    let error = faults::describe(tool, &args);
    Err(Refusal::new(head, args, error))
}
