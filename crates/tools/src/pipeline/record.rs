//! Record, which also emits: the tool's message goes into the log and from there to who watches.

use std::sync::Arc;

use outfitter_core::{
    EntryBody, EventBody, JournalError, Message, MessageId, MessageRole, Part, ToolOutput,
};

use super::Bounded;
use crate::RunHandle;

/// A call that is over, on record and shown.
pub(crate) struct Recorded {
    pub(crate) output: Arc<ToolOutput>,
}

pub(crate) async fn record(bounded: Bounded, run: &RunHandle) -> Result<Recorded, JournalError> {
    let output = bounded.output;
    let mut parts = Vec::with_capacity(1 + bounded.parts.len());
    parts.push(Part::Text { text: bounded.text });
    parts.extend(bounded.parts);
    let message = Message {
        id: MessageId::mint(&*run.clock),
        role: MessageRole::Tool,
        parts,
        output: Some(output.clone()),
    };
    run.journal.close_progress(&output.tool_call_id);
    let mut entries = vec![EntryBody::Event(EventBody::Message(Arc::new(message)))];
    if !bounded.activate.is_empty() {
        entries.push(EntryBody::Activated(bounded.activate));
    }
    run.journal.record(entries).await?;
    Ok(Recorded { output })
}
