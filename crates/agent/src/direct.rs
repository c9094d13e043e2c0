//! A direct call: a run without a model, down the same pipeline and into the same log.

use outfitter_core::{
    CallEnd, EntryBody, EventBody, Journal as _, JournalError, RawCall, RunOutcome, RunOutput,
    Status, ToolOutput,
};

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
        let view = self.session.proxy.view(&self.session.facts());
        self.writer
            .record(vec![
                EntryBody::Event(EventBody::RunStarted(started(self.session, &view))),
                EntryBody::Event(EventBody::ToolCall {
                    tool_call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    arguments: self.parts.pipeline.redactor().arguments(&call.arguments),
                }),
            ])
            .await?;
        let end = self.parts.pipeline.run(&view, call, &self.handle()).await?;
        let (outcome, error) = match &end {
            CallEnd::Output(output) => (outcome_of(output), output.error.clone()),
            CallEnd::Waiting(_) => (RunOutcome::Waiting, None),
        };
        let output = RunOutput {
            status: outcome,
            answer: String::new(),
            suggested_actions: Vec::new(),
            error,
        };
        self.writer
            .record(vec![EntryBody::Event(EventBody::RunFinished {
                outcome,
                output: Box::new(output),
            })])
            .await?;
        Ok(end)
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
