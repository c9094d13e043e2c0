//! One model call of a run: what is asked, and what is recorded of the reply.

use std::sync::Arc;

use outfitter_core::{
    Code, EntryBody, ErrorInfo, EventBody, Journal as _, JournalError, Message, MessageId,
    MessageRole, ModelError, ModelRequest, Part, RequestMade, RunOutcome, StopReason, TokenUsage,
    WorkflowInUse,
};
use outfitter_tools::ToolView;

use crate::model_call::{Asked, Reply};
use crate::prompt::SystemPrompt;
use crate::run::{Ending, Run};
use crate::start::warning;
use crate::usage;

impl Run<'_> {
    /// Asks the model once. Gives the ending when the turn cannot go on.
    pub(crate) async fn call_model(&self, view: &ToolView) -> Result<Option<Ending>, JournalError> {
        let mut messages = self.writer.folded(|log| log.messages()).await;
        let said = messages.len();
        let (conversation, bytes) = self
            .writer
            .folded(|log| (log.conversation_hash(&messages), log.conversation_bytes()))
            .await;
        let workflow = self.writer.folded(|log| log.workflow()).await;
        let behind = tail(workflow.as_deref(), view.reminder());
        if let Some(text) = &behind {
            messages.push(Arc::new(at_tail(text)));
        }
        let common = &self.parts.settings.system_prompt;
        let request = ModelRequest {
            system: SystemPrompt::of(common, &self.session.told, view.mode()).text(),
            messages,
            tools: view.schemas(),
        };
        let shown = usage::Shown {
            system: &request.system,
            view: view.hash(),
            tail: behind.as_deref().unwrap_or_default(),
            conversation,
        };
        let made = RequestMade {
            hash: shown.hash(),
            view: view.hash(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
        };
        self.writer.record(vec![EntryBody::Request(made)]).await?;

        let taken = self.writer.folded(|log| log.taken_calls()).await;
        let estimate = usage::Estimate::of(&request, bytes, &request.messages[said..]);
        let asked = Asked {
            model: self.parts.model.clone(),
            request,
            taken,
            clock: self.parts.clock.clone(),
            cancel: self.cancel.clone(),
            writer: self.writer.clone(),
            redactor: self.parts.pipeline.redactor(),
        };
        let reply = asked.reply().await;
        let estimate = estimate.with_reply(&reply.assembled.parts);
        self.record_reply(reply, estimate).await
    }

    /// Records what came of a model call. Gives the ending when the turn cannot go on.
    async fn record_reply(
        &self,
        reply: Reply,
        estimate: TokenUsage,
    ) -> Result<Option<Ending>, JournalError> {
        let Reply {
            message,
            mut assembled,
            failed,
        } = reply;
        if matches!(failed, Some(ModelError::Cancelled)) && self.cancel.is_interrupted() {
            // It is asked again, as after a crash, and says all of it then.
            return Ok(Some(Ending::interrupted()));
        }
        let mut entries = Vec::new();
        if !matches!(failed, Some(ModelError::Cancelled)) {
            entries.extend(
                assembled
                    .warnings
                    .drain(..)
                    .map(|said| warning(said.code, said.message)),
            );
        }
        let ending = match &failed {
            Some(ModelError::Cancelled) => Some(Ending::of(RunOutcome::Cancelled)),
            Some(error) => Some(Ending::failed(error.to_info())),
            None if assembled.parts.is_empty() && assembled.stop == Some(StopReason::Refused) => {
                let error = ErrorInfo::new(Code::Failed, "the provider refused to answer");
                Some(Ending::failed(error))
            }
            None => None,
        };
        if failed.is_some() {
            // Nobody will make the calls of a reply that broke off.
            assembled
                .parts
                .retain(|part| !matches!(part, Part::ToolCall(_)));
        }
        // Of a reply that broke off, what was said is kept; a thought alone is nothing to answer.
        let said = assembled
            .parts
            .iter()
            .any(|part| matches!(part, Part::Text { .. }));
        if failed.is_none() || said {
            let message = Message {
                id: message,
                role: MessageRole::Assistant,
                parts: assembled.parts,
                output: None,
            };
            let calls: Vec<EntryBody> = message
                .tool_calls()
                .map(|call| self.announced(call))
                .collect();
            entries.push(EntryBody::Event(EventBody::Message(Arc::new(message))));
            let used = assembled.usage.unwrap_or(estimate);
            entries.push(EntryBody::Event(EventBody::Usage(used)));
            entries.extend(calls);
        }
        if let Some(ending) = ending {
            return Ok(Some(Ending {
                last: entries,
                ..ending
            }));
        }
        self.writer.record(entries).await?;
        Ok(None)
    }
}

/// What stands behind the conversation in a request, and is no part of it: the workflow of the turn,
/// and what may be used besides the tools that are shown.
fn tail(workflow: Option<&WorkflowInUse>, reminder: Option<String>) -> Option<String> {
    match (workflow, reminder) {
        (None, reminder) => reminder,
        (Some(workflow), None) => Some(workflow.text.clone()),
        (Some(workflow), Some(reminder)) => Some(format!("{}\n\n{reminder}", workflow.text)),
    }
}

fn at_tail(text: &str) -> Message {
    Message::text(MessageId::of_reminder(), MessageRole::System, text)
}
