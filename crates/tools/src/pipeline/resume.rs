//! What an answer does to the call that waited for it.

use outfitter_core::{
    Answer, AnswerKind, Code, Interrupt, InterruptKind, OnExpiry, RawCall, ToolError,
};
use serde_json::Value;

use super::{Consent, Start, arguments_hash};
use crate::approvals::approved_for;

/// How the call goes on, or why it is over.
pub(crate) fn plan(
    call: &RawCall,
    interrupt: &Interrupt,
    answer: Answer,
) -> Result<(Consent, Start), ToolError> {
    let bound = interrupt.call == call.id
        && interrupt.id == answer.interrupt
        && interrupt.args_hash == arguments_hash(call);
    if !bound {
        return Err(ToolError::new(
            Code::Conflict,
            "the answer was given to another call or to other arguments",
        ));
    }
    let answer = settled(interrupt, answer)?;
    match &interrupt.kind {
        InterruptKind::Approval { .. } if approved_for(&answer.value).is_some() => {
            Ok((Consent::Given, Start::Call))
        }
        InterruptKind::Approval { .. } => {
            Err(ToolError::new(Code::Denied, "the call was not approved"))
        }
        InterruptKind::Question { .. } | InterruptKind::Delay | InterruptKind::Remote { .. } => {
            // The call itself was allowed before it asked; only what is denied now stops it.
            Ok((
                Consent::Given,
                Start::Resume {
                    state: interrupt.state.clone(),
                    answer: Box::new(answer),
                },
            ))
        }
    }
}

/// The answer that counts when none was given.
fn settled(interrupt: &Interrupt, mut answer: Answer) -> Result<Answer, ToolError> {
    match (&answer.by, &interrupt.on_expiry) {
        (AnswerKind::Subject { .. }, _) => Ok(answer),
        (AnswerKind::Cancelled, _) => {
            answer.value = Value::Null;
            match interrupt.kind {
                // Whoever asked says what it means that nobody will answer.
                InterruptKind::Question { .. } => Ok(answer),
                InterruptKind::Approval { .. }
                | InterruptKind::Delay
                | InterruptKind::Remote { .. } => Err(ToolError::new(
                    Code::Cancelled,
                    "the call was waiting and was called off",
                )),
            }
        }
        (AnswerKind::Expired, OnExpiry::Cancel) => {
            Err(ToolError::new(Code::Cancelled, "nobody answered in time"))
        }
        (AnswerKind::Expired, OnExpiry::Deny) => {
            Err(ToolError::new(Code::Denied, "nobody answered in time"))
        }
        (AnswerKind::Expired, OnExpiry::Continue) => {
            answer.value = Value::Null;
            Ok(answer)
        }
        (AnswerKind::Expired, OnExpiry::Default { answer: value }) => {
            answer.value = value.clone();
            Ok(answer)
        }
    }
}
