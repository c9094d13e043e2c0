//! The log as the history of a session, for its own tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    CallId, EntryBody, EventBody, Log, PastCalls, Scope, Seq, SessionHistory, SessionId,
    StoreError, ToolName,
};

/// Entries that are read at a time.
const PAGE: u32 = 1_000;

/// The history of one session of one owner.
pub(crate) struct LogHistory {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
}

#[async_trait]
impl SessionHistory for LogHistory {
    fn root(&self) -> &SessionId {
        &self.session
    }

    async fn calls_of(&self, tool: &ToolName, from: Seq) -> Result<PastCalls, StoreError> {
        let mut outputs = Vec::new();
        // Calls of the tool that have begun, and where.
        let mut open: BTreeMap<CallId, Seq> = BTreeMap::new();
        let mut next = from.max(Seq(1));
        loop {
            let page = match self.log.read(&self.scope, &self.session, next, PAGE).await {
                Ok(page) => page,
                // Nothing is written of it yet.
                Err(StoreError::NotFound(_)) => break,
                Err(error) => return Err(error),
            };
            for entry in &page.entries {
                next = next.max(entry.seq.plus(1));
                match &entry.body {
                    EntryBody::Intent(intent) if intent.tool == *tool => {
                        open.insert(intent.call.clone(), entry.seq);
                    }
                    EntryBody::Event(EventBody::Message(message)) => {
                        let Some(output) = &message.output else {
                            continue;
                        };
                        let begun = open.remove(&output.tool_call_id).is_some();
                        if begun || output.tool_name == tool.as_str() {
                            outputs.push((entry.seq, output.clone()));
                        }
                    }
                    EntryBody::Event(_)
                    | EntryBody::Request(_)
                    | EntryBody::Intent(_)
                    | EntryBody::Answer(_)
                    | EntryBody::Activated(_)
                    | EntryBody::Suggested(_)
                    | EntryBody::Workflow(_) => {}
                }
            }
            if page.next.is_none() {
                break;
            }
        }
        let next = open.into_values().fold(next, Seq::min);
        Ok(PastCalls { outputs, next })
    }
}
