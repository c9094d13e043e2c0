//! What a run waits for, as AG-UI says it.

use outfitter_core::{Interrupt, InterruptKind};
use serde_json::{Value, json};

use super::event::AguiInterrupt;
use super::instant::rfc3339;
use super::result::{AskMetadata, Outfitter};
use crate::approval::scopes;

/// One interrupt. Its `state` stays inside.
pub(super) fn told(interrupt: &Interrupt) -> AguiInterrupt {
    let (reason, message, response_schema) = match &interrupt.kind {
        InterruptKind::Question {
            question, choices, ..
        } => (
            "input_required",
            Some(question.clone()),
            Some(answers(interrupt.schema.as_ref(), choices)),
        ),
        InterruptKind::Approval { reason } => {
            ("tool_call", Some(reason.clone()), Some(approval(interrupt)))
        }
        InterruptKind::Delay => ("outfitter:delay", None, None),
        InterruptKind::Remote { what } => ("outfitter:remote", Some(what.clone()), None),
    };
    AguiInterrupt {
        id: interrupt.id.to_string(),
        reason,
        message,
        tool_call_id: interrupt.call.to_string(),
        response_schema,
        expires_at: rfc3339(interrupt.expires),
        metadata: sensitive(&interrupt.kind).then_some(Outfitter {
            outfitter: AskMetadata { sensitive: true },
        }),
    }
}

fn sensitive(kind: &InterruptKind) -> bool {
    match kind {
        InterruptKind::Question { sensitive, .. } => *sensitive,
        InterruptKind::Approval { .. } | InterruptKind::Delay | InterruptKind::Remote { .. } => {
            false
        }
    }
}

/// What an answer must look like: as the tool says, else one of the choices, else a text.
fn answers(schema: Option<&Value>, choices: &[String]) -> Value {
    match schema {
        Some(schema @ Value::Object(_)) => schema.clone(),
        // A schema may be a boolean, which AG-UI has no room for.
        Some(Value::Bool(true)) => json!({}),
        Some(_) => json!({ "not": {} }),
        None if choices.is_empty() => json!({ "type": "string" }),
        None => json!({ "type": "string", "enum": choices }),
    }
}

fn approval(interrupt: &Interrupt) -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": { "type": "boolean" },
            "scope": { "enum": scopes(interrupt).collect::<Vec<_>>() },
        },
        "required": ["approved"],
        "additionalProperties": false,
    })
}
