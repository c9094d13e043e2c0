//! A call that waits: the interrupt is made here, so that no tool can forge its id, its audience or
//! its hash, and recorded. Then nothing is held any more.

use std::sync::Arc;

use outfitter_core::{
    Ask, Audience, CallEnd, Code, EntryBody, ErrorInfo, EventBody, Hash, Interrupt, InterruptId,
    JournalError, OnExpiry, Role,
};
use serde_json::Value;

use super::{Head, check_answer};
use crate::RunHandle;

/// Holds what is asked for to itself: the schema is one, and the answer that stands for silence
/// fits it. Else nobody could ever answer.
pub(crate) fn answerable(ask: &Ask) -> Result<(), Box<ErrorInfo>> {
    let Some(schema) = &ask.schema else {
        return Ok(());
    };
    let default = match &ask.on_expiry {
        OnExpiry::Default { answer } => answer,
        OnExpiry::Cancel | OnExpiry::Continue | OnExpiry::Deny => &Value::Null,
    };
    match (check_answer(schema, default), &ask.on_expiry) {
        (Ok(()), _) => Ok(()),
        (Err(error), _) if error.code == Code::Internal => Err(Box::new(ErrorInfo::new(
            Code::InvalidArguments,
            error.message,
        ))),
        (Err(error), OnExpiry::Default { .. }) => Err(Box::new(ErrorInfo {
            message: format!("the answer for when nobody answers: {}", error.message),
            ..*error
        })),
        (Err(_), OnExpiry::Cancel | OnExpiry::Continue | OnExpiry::Deny) => Ok(()),
    }
}

pub(crate) async fn wait(head: &Head, ask: Ask, run: &RunHandle) -> Result<CallEnd, JournalError> {
    let interrupt = Interrupt {
        id: InterruptId::mint(&*run.clock),
        call: head.id.clone(),
        kind: ask.kind,
        schema: ask.schema,
        audience: Audience {
            tenant: run.who.tenant.clone(),
            subject: run.who.subject.clone(),
            // The person is named; no role stands in for them.
            min_role: Role::Guest,
        },
        expires: run.clock.now().plus(ask.expires_in),
        on_expiry: ask.on_expiry,
        args_hash: Hash::of(head.raw.as_bytes()),
        state: ask.state,
    };
    run.journal.close_progress(&head.id);
    let event = EventBody::Interrupt(Box::new(interrupt.clone()));
    run.journal.record(vec![EntryBody::Event(event)]).await?;
    Ok(CallEnd::Waiting(Arc::new(interrupt)))
}
