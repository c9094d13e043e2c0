//! Presented? A model may call only what it was shown, because it has guessed at the rest.

use outfitter_core::{Code, ErrorInfo};
use serde_json::Value;

use super::{Head, Refusal, Resolved, Stage};
use crate::ToolView;
use crate::expand_tools::EXPAND_TOOLS;
use crate::registered::Registered;

/// A call of a tool that is before the model, or needs not be.
pub(crate) struct Shown<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
}

pub(crate) fn present<'v>(resolved: Resolved<'v>, view: &ToolView) -> Stage<Shown<'v>> {
    if resolved.presented {
        return Ok(resumed(resolved));
    }
    let mut error = ErrorInfo::new(
        Code::NotPresented,
        format!(
            "{} may be used, but its schema is not in this request",
            resolved.tool.spec.name
        ),
    );
    error.expected = Some(Value::clone(&resolved.tool.spec.input_schema));
    let name = resolved.tool.spec.name.as_str();
    let hint = match view.way_in() {
        Some(EXPAND_TOOLS) => {
            format!(
                "call {EXPAND_TOOLS} with {:?} first; its schema is in `expected`",
                [name]
            )
        }
        Some(other) => format!("call {other} with {name:?} first; its schema is in `expected`"),
        None => "its schema is in `expected`; nothing in this session can add it to a request"
            .to_owned(),
    };
    Err(Refusal::new(
        resolved.head,
        resolved.args,
        error.with_hint(hint),
    ))
}

/// A call that passed this stage before it waited, or that no model makes.
pub(crate) fn resumed(resolved: Resolved<'_>) -> Shown<'_> {
    Shown {
        head: resolved.head,
        args: resolved.args,
        tool: resolved.tool,
    }
}
