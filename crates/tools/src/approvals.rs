//! Approvals: for how long a yes holds, and what it holds for.

use std::collections::BTreeSet;

use outfitter_core::{Answer, AnswerKind, Hash, Interrupt, InterruptKind};
use serde_json::{Value, json};

/// What was approved before. A pipeline takes it from the services of the run.
pub trait Approvals: Send + Sync {
    /// Whether calls with this part were approved.
    fn covers(&self, part: &Hash) -> bool;
}

impl Approvals for BTreeSet<Hash> {
    fn covers(&self, part: &Hash) -> bool {
        self.contains(part)
    }
}

/// For how long a yes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For the call that waits.
    Once,
    /// For calls like it too, while the session lasts.
    Session,
}

/// The answer to an approval, as [`Answer::value`] holds it.
#[must_use]
pub fn approval_answer(approved: bool, scope: ApprovalScope) -> Value {
    match scope {
        ApprovalScope::Once => Value::Bool(approved),
        ApprovalScope::Session => json!({ "approved": approved, "scope": "session" }),
    }
}

/// For how long an answer approves; none where it is no clear yes.
pub(crate) fn approved(value: &Value) -> Option<ApprovalScope> {
    [ApprovalScope::Once, ApprovalScope::Session]
        .into_iter()
        .find(|scope| *value == approval_answer(true, *scope))
}

/// What a call that asks for an approval keeps, so that it can be remembered.
pub(crate) fn state(shape: Option<&[Hash]>) -> Value {
    shape.map_or(Value::Null, |shape| json!({ "remember": shape }))
}

/// The answers that an approval can have.
pub(crate) fn schema(shape: Option<&[Hash]>) -> Value {
    match shape {
        None => json!({ "type": "boolean" }),
        Some(_) => json!({ "anyOf": [
            { "type": "boolean" },
            { "const": approval_answer(true, ApprovalScope::Session) },
        ] }),
    }
}

/// Whether a yes can hold for calls like the one that waits.
#[must_use]
pub fn can_be_remembered(interrupt: &Interrupt) -> bool {
    !remembered(interrupt).is_empty()
}

/// What an answer approves from then on in its session; nothing unless a person said so.
#[must_use]
pub fn approved_from_now_on(interrupt: &Interrupt, answer: &Answer) -> Vec<Hash> {
    let for_session = interrupt.id == answer.interrupt
        && matches!(answer.by, AnswerKind::Subject { .. })
        && approved(&answer.value) == Some(ApprovalScope::Session);
    if for_session {
        remembered(interrupt)
    } else {
        Vec::new()
    }
}

fn remembered(interrupt: &Interrupt) -> Vec<Hash> {
    match (&interrupt.kind, interrupt.state.get("remember")) {
        (InterruptKind::Approval { .. }, Some(parts)) => {
            serde_json::from_value(parts.clone()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
