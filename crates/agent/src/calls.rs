//! The calls of a run: made at once, as many as may.

use std::collections::HashMap;
use std::sync::Arc;

use outfitter_core::{
    Arguments, CallEnd, Clock, Code, Deadline, EntryBody, ErrorInfo, Journal as _, JournalError,
    ModelProvider, RawCall, Scope, SessionAuthority, SessionHistory, ToolCall, ToolIndex,
    UsageMeter,
};
use outfitter_tools::{Approvals, Pipeline, RunHandle, ToolView, interrupted};
use tokio::task::JoinSet;

use crate::choose::usage;
use crate::history::LogHistory;
use crate::meter::Metered;
use crate::next::{ReadyCall, Start};
use crate::recover;
use crate::run::Run;
use crate::standing;

impl Run<'_> {
    /// Makes calls at once, as many as may; each ends in its own result. They are owned here: none
    /// outlives this.
    pub(crate) async fn run_calls(
        &self,
        view: &Arc<ToolView>,
        calls: Vec<ReadyCall>,
    ) -> Result<(), JournalError> {
        self.announce(&calls).await?;
        let handle = self.handle(view).await;
        let most = self.parts.settings.max_tool_concurrency.max(1);
        let mut waiting = calls.into_iter();
        let mut running = JoinSet::new();
        let mut tasks = HashMap::new();
        let mut failed = None;
        loop {
            while failed.is_none() && running.len() < most {
                let Some(ready) = waiting.next() else { break };
                let (pipeline, view, handle) =
                    (self.parts.pipeline.clone(), view.clone(), handle.clone());
                let clock = self.parts.clock.clone();
                let call = ready.call.clone();
                let task = running.spawn(async move {
                    make_call(&pipeline, &view, ready, &handle, &*clock).await
                });
                tasks.insert(task.id(), call);
            }
            let made = match running.join_next().await {
                None => break,
                Some(Ok(made)) => made,
                // The pipeline catches the panics of tools; this one is ours.
                Some(Err(error)) => {
                    tracing::error!(%error, "a call's task ended early");
                    match tasks.remove(&error.id()) {
                        Some(call) => self.give_up(&call).await,
                        None => Ok(()),
                    }
                }
            };
            let made = match made {
                Ok(()) => self.record_used().await,
                Err(error) => Err(error),
            };
            if let Err(error) = made {
                handle.cancel.cancel();
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells what calls have used of models.
    pub(crate) async fn record_used(&self) -> Result<(), JournalError> {
        let used: Vec<EntryBody> = usage(&self.meter).collect();
        match used.is_empty() {
            true => Ok(()),
            false => self.writer.record(used).await,
        }
    }

    async fn give_up(&self, call: &ToolCall) -> Result<(), JournalError> {
        let args = recover::shown_arguments(&self.parts.pipeline, call);
        let error = ErrorInfo::new(Code::Internal, "the call broke down");
        let clock = &*self.parts.clock;
        self.writer
            .record(vec![recover::unmade(
                &call.id, &call.name, args, error, clock,
            )])
            .await
    }

    /// Tells of the calls that this run has not told of: those it takes up from another run.
    async fn announce(&self, calls: &[ReadyCall]) -> Result<(), JournalError> {
        let told = self
            .writer
            .folded(|log| log.announced_by(self.writer.run()))
            .await;
        let entries: Vec<EntryBody> = calls
            .iter()
            .filter(|ready| !told.contains(&ready.call.id))
            .map(|ready| self.announced(&ready.call))
            .collect();
        if entries.is_empty() {
            Ok(())
        } else {
            self.writer.record(entries).await
        }
    }

    /// The run, as its calls see it.
    pub(crate) async fn handle(&self, view: &Arc<ToolView>) -> RunHandle {
        let approved = self.writer.folded(|log| log.approved.clone()).await;
        let mut services = self.parts.services.clone();
        if let Some(model) = services.get::<dyn ModelProvider>() {
            services = services.with::<dyn ModelProvider>(Arc::new(Metered {
                model,
                meter: self.meter.clone(),
            }));
        }
        RunHandle {
            who: self.session.acting(),
            session: self.session.id.clone(),
            run: self.writer.run().clone(),
            attended: self.session.attended,
            cancel: self.cancel.child(),
            deadline: Deadline::NEVER,
            journal: self.writer.clone(),
            sandbox: self.session.sandbox.clone(),
            artifacts: self.parts.artifacts.clone(),
            clock: self.parts.clock.clone(),
            services: services
                .with::<dyn UsageMeter>(self.meter.clone())
                .with::<dyn Approvals>(standing::known(self.parts, self.session, approved).await)
                .with::<dyn ToolIndex>(view.clone())
                .with::<dyn SessionAuthority>(view.clone())
                .with::<dyn SessionHistory>(Arc::new(LogHistory {
                    log: self.parts.log.clone(),
                    scope: Scope::from(&*self.session.who),
                    session: self.session.id.clone(),
                })),
        }
    }
}

async fn make_call(
    pipeline: &Pipeline,
    view: &ToolView,
    ready: ReadyCall,
    handle: &RunHandle,
    clock: &dyn Clock,
) -> Result<(), JournalError> {
    let call = RawCall {
        id: ready.call.id.clone(),
        name: ready.call.name.clone(),
        arguments: Arguments::parse(ready.call.arguments.clone()),
    };
    let end: CallEnd = match ready.how {
        Start::Afresh => pipeline.run(view, call, handle).await?,
        Start::Answered(interrupt, answer) => {
            pipeline
                .resume(view, call, &interrupt, answer, handle)
                .await?
        }
        Start::BrokenOff => {
            let args = recover::shown_arguments(pipeline, &ready.call);
            let entry = recover::unmade(&call.id, &call.name, args, interrupted(), clock);
            return handle.journal.record(vec![entry]).await;
        }
    };
    match end {
        CallEnd::Output(_) | CallEnd::Waiting(_) => Ok(()),
    }
}
