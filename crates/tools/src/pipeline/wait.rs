//! A call that waits: the interrupt is made here, so that no tool can forge its id, its audience or
//! its hash, and recorded. Then nothing is held any more.

use std::sync::Arc;

use outfitter_core::{
    Ask, Audience, CallEnd, EntryBody, EventBody, Hash, Interrupt, InterruptId, JournalError, Role,
};

use super::Head;
use crate::RunHandle;

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
