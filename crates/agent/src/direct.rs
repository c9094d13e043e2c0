//! A direct call: a run without a model, down the same pipeline and into the same log.

use std::sync::Arc;

use outfitter_core::{
    Attended, CallEnd, Code, EntryBody, ErrorInfo, EventBody, Journal as _, JournalError, RawCall,
    RunOutcome, RunOutput, Status, ToolOutput,
};
use outfitter_tools::RunHandle;

use crate::recover;
use crate::run::Run;
use crate::start::started;

impl Run<'_> {
    /// Makes one call, and shows its progress meanwhile.
    pub(crate) async fn call_directly(&self, call: RawCall) -> Result<CallEnd, JournalError> {
        tokio::select! {
            biased;
            end = self.make_directly(call) => end,
            never = self.writer.flush_progress() => match never {},
        }
    }

    async fn make_directly(&self, call: RawCall) -> Result<CallEnd, JournalError> {
        let clock = &*self.parts.clock;
        let dead = self
            .writer
            .folded(|log| recover::broken_off(log, clock.now(), clock))
            .await;
        self.writer.record_broken_off(dead).await?;
        let view = self.view().await;
        let args = self.parts.pipeline.redactor().arguments(&call.arguments);
        self.writer
            .record(vec![
                EntryBody::Event(EventBody::RunStarted(started(self.session, &view))),
                EntryBody::Event(EventBody::ToolCall {
                    tool_call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    arguments: args.clone(),
                }),
            ])
            .await?;
        let (id, name) = (call.id.clone(), call.name.clone());
        // Nobody is asked in the middle of a direct call: no turn could go on with the answer.
        let handle = RunHandle {
            attended: Attended::No,
            ..self.handle(&view).await
        };
        let output = match self.parts.pipeline.run_direct(&view, call, &handle).await? {
            CallEnd::Waiting(_) => {
                let mut error = ErrorInfo::new(
                    Code::Unavailable,
                    "the call waits for an answer, and a direct call cannot",
                );
                // It would wait again.
                error.retryable = false;
                let error = error.with_hint("let a run make it");
                let output = Arc::new(ToolOutput::failed(&name, id, args, error));
                let message = Arc::new(recover::message_of(output.clone(), clock));
                let entry = EntryBody::Event(EventBody::Message(message));
                self.writer.record(vec![entry]).await?;
                output
            }
            CallEnd::Output(output) => output,
        };
        self.record_used().await?;
        let outcome = outcome_of(&output);
        let run_output = RunOutput {
            status: outcome,
            answer: String::new(),
            suggested_actions: Vec::new(),
            error: output.error.clone(),
        };
        self.writer
            .record(vec![EntryBody::Event(EventBody::RunFinished {
                outcome,
                output: Arc::new(run_output),
            })])
            .await?;
        Ok(CallEnd::Output(output))
    }
}

fn outcome_of(output: &ToolOutput) -> RunOutcome {
    match output.status {
        Status::Success | Status::Partial | Status::Running => RunOutcome::Success,
        Status::Cancelled => RunOutcome::Cancelled,
        Status::Error | Status::Denied | Status::Timeout | Status::Interrupted => {
            RunOutcome::Failed
        }
    }
}
