//! Parse: arguments that are not one JSON object never run.

use outfitter_core::{Code, ErrorInfo, Malformed, MalformedKind, RawCall, ToolSpec};
use serde_json::{Value, json};

use super::{Head, Refusal, Stage};
use crate::schema_hint::schema_hint;
use crate::view::Found;
use crate::{Redactor, ToolView};

/// How much of a malformed text the error shows: its end, where it was cut off.
const SHOWN_BYTES: usize = 80;

/// What to do about most malformed arguments.
const AGAIN: &str = "send the call again with one valid JSON object";

/// A call whose arguments are an object.
pub(crate) struct Parsed {
    pub(crate) head: Head,
    pub(crate) args: Value,
}

pub(crate) fn parse(call: RawCall, view: &ToolView, redactor: &Redactor) -> Stage<Parsed> {
    let mut head = Head {
        id: call.id,
        name: call.name,
        resolved: None,
        raw: call.arguments.raw,
        written: None,
        presets: None,
    };
    match call.arguments.parsed {
        Ok(args) => Ok(Parsed { head, args }),
        Err(fault) => {
            let spec = match view.find(&head.name) {
                Found::Callable(spec) | Found::NotPresented(spec) => Some(spec),
                Found::NotPermitted | Found::Unknown(_) => None,
            };
            let shown = redactor.arguments_carry();
            let error = malformed(&fault, &shown.whole(&head.raw), spec);
            head.resolve(spec);
            let text = Value::String(head.raw.to_string());
            Err(Refusal::new(head, text, error))
        }
    }
}

/// What was wrong with a text that is shown as `shown`.
fn malformed(fault: &Malformed, shown: &str, spec: Option<&ToolSpec>) -> ErrorInfo {
    let (what, advice) = match fault.kind {
        MalformedKind::CutOff => (
            "truncated JSON",
            "send them whole, or less of them in one call",
        ),
        MalformedKind::Syntax => ("invalid JSON", AGAIN),
        MalformedKind::DuplicateKey | MalformedKind::Integer => ("ambiguous JSON", AGAIN),
        MalformedKind::NotAnObject => ("no JSON object", AGAIN),
    };
    let mut error = ErrorInfo::new(
        Code::InvalidArguments,
        format!("the arguments are {what}, nothing was run: {fault}"),
    )
    .at(fault.path.clone());
    error.expected = Some(json!("one JSON object"));
    let end = &shown[shown.ceil_char_boundary(shown.len().saturating_sub(SHOWN_BYTES))..];
    error.got = Some(json!(if end.len() < shown.len() {
        format!("…{end}")
    } else {
        end.to_owned()
    }));
    let hint = match spec {
        Some(spec) => format!("{advice}; {}", schema_hint(&spec.input_schema)),
        None => advice.to_owned(),
    };
    error.with_hint(hint)
}
