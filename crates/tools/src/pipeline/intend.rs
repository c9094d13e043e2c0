//! Intent: a call that changes something is recorded before it is made, so that a crash in the
//! middle is known afterwards. A read-only call writes none.

use outfitter_core::{EntryBody, Intent, JournalError};
use serde_json::Value;

use super::{Granted, Head};
use crate::RunHandle;
use crate::registered::Registered;

/// A call that may be made and whose intent is on record where it needs to be.
pub(crate) struct Intended<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
}

pub(crate) async fn intend<'v>(
    granted: Granted<'v>,
    run: &RunHandle,
) -> Result<Intended<'v>, JournalError> {
    let Granted {
        head,
        args,
        tool,
        facts,
    } = granted;
    if !facts.effects.read_only() {
        let intent = Intent {
            call: head.id.clone(),
            tool: tool.spec.name.clone(),
            idempotent: facts.idempotent,
        };
        run.journal.record(vec![EntryBody::Intent(intent)]).await?;
    }
    Ok(Intended { head, args, tool })
}
