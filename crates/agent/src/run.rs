//! One run: what the fold says is next, until it says to end.

use std::collections::HashMap;
use std::sync::Arc;

use outfitter_core::{
    CallEnd, Cancel, Code, Deadline, EntryBody, ErrorInfo, EventBody, EventSink, Journal as _,
    JournalError, Message, MessageRole, ModelError, ModelRequest, Part, RequestMade, RunId,
    RunOutcome, RunOutput, StopReason, ToolCall, WarningCode,
};
use outfitter_tools::{RunHandle, ToolView};
use tokio::task::JoinSet;

use crate::agent::{AgentParts, Input, RunEnd};
use crate::model_call::{self, Reply};
use crate::next::{Next, ReadyCall, Start, next};
use crate::session::Session;
use crate::start::{begin, warning};
use crate::turn_log::TurnLog;
use crate::writer::{Writer, WriterParts};
use crate::{recover, usage};

/// One run under way.
pub(crate) struct Run<'a> {
    pub(crate) parts: &'a AgentParts,
    pub(crate) session: &'a Session,
    cancel: Cancel,
    pub(crate) writer: Arc<Writer>,
}

/// How a run ends, before it is recorded.
struct Ending {
    outcome: RunOutcome,
    error: Option<ErrorInfo>,
}

impl Ending {
    fn of(outcome: RunOutcome) -> Self {
        Self {
            outcome,
            error: None,
        }
    }

    fn failed(error: ErrorInfo) -> Self {
        Self {
            outcome: RunOutcome::Failed,
            error: Some(error),
        }
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        parts: &'a AgentParts,
        session: &'a Session,
        cancel: Cancel,
        sink: Arc<dyn EventSink>,
        log: TurnLog,
    ) -> Self {
        let writer = Writer::new(
            WriterParts {
                log: parts.log.clone(),
                scope: session.scope(),
                session: session.id.clone(),
                run: RunId::mint(&*parts.clock),
                clock: parts.clock.clone(),
                sink,
                progress: parts.settings.progress,
            },
            log,
        );
        Self {
            parts,
            session,
            cancel,
            writer: Arc::new(writer),
        }
    }

    /// Makes the run, and shows progress meanwhile.
    pub(crate) async fn go(&self, input: Input) -> Result<RunEnd, JournalError> {
        tokio::select! {
            biased;
            end = self.make(input) => end,
            never = self.writer.flush_progress() => match never {},
        }
    }

    pub(crate) async fn into_log(self) -> TurnLog {
        self.writer.take_log().await
    }

    async fn make(&self, input: Input) -> Result<RunEnd, JournalError> {
        let mut view = self.session.proxy.view(&self.session.facts());
        begin(self.parts, self.session, &view, &self.writer, input).await?;
        let limits = self.parts.settings.limits;
        let ending = loop {
            if self.cancel.is_cancelled() {
                self.settle_cancelled().await?;
                break Ending::of(RunOutcome::Cancelled);
            }
            match self.writer.folded(|log| next(log, &limits)).await {
                Next::CallModel => {
                    view = self.session.proxy.view(&self.session.facts());
                    if let Some(ending) = self.call_model(&view).await? {
                        break ending;
                    }
                }
                Next::RunCalls(calls) => self.run_calls(&view, calls).await?,
                Next::Wait(_) => break Ending::of(RunOutcome::Waiting),
                Next::Finish(RunOutcome::Limit) => break self.limit_reached(),
                Next::Finish(outcome) => break Ending::of(outcome),
            }
        };
        self.finish(ending).await
    }

    fn limit_reached(&self) -> Ending {
        let limits = &self.parts.settings.limits;
        let tokens = limits
            .max_total_tokens
            .map_or_else(String::new, |tokens| format!(" or {tokens} tokens"));
        let error = ErrorInfo::new(
            Code::Limit,
            format!(
                "the turn used up its {} model calls{tokens}",
                limits.max_turns
            ),
        );
        Ending {
            outcome: RunOutcome::Limit,
            error: Some(error.with_hint("continue the session, or raise [agent] max_turns")),
        }
    }

    async fn call_model(&self, view: &ToolView) -> Result<Option<Ending>, JournalError> {
        let request = ModelRequest {
            system: self.parts.settings.system_prompt.clone(),
            messages: self.writer.folded(|log| log.messages()).await,
            tools: view.schemas(),
        };
        let conversation = self
            .writer
            .folded(|log| log.conversation_hash(&request.messages))
            .await;
        let made = RequestMade {
            hash: usage::request_hash(&request.system, view.hash(), conversation),
            view: view.hash(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
        };
        self.writer.record(vec![EntryBody::Request(made)]).await?;

        let taken = self.writer.folded(|log| log.taken_calls()).await;
        let estimate = usage::Estimate::of(&request);
        let reply = model_call::ask(
            &*self.parts.model,
            request,
            taken,
            self.parts.clock.clone(),
            &self.cancel,
            &self.writer,
        )
        .await;
        let estimate = estimate.with_reply(&reply.assembled.parts);
        self.record_reply(reply, estimate).await
    }

    /// Records what came of a model call. Gives the ending when the turn cannot go on.
    async fn record_reply(
        &self,
        reply: Reply,
        estimate: outfitter_core::TokenUsage,
    ) -> Result<Option<Ending>, JournalError> {
        let Reply {
            message,
            mut assembled,
            failed,
        } = reply;
        let mut entries = Vec::new();
        let retries = assembled.facts.retries;
        if retries > 0 {
            entries.push(warning(
                WarningCode::Retried,
                format!("the request was tried again {retries} times before it was answered"),
            ));
        }
        if !matches!(failed, Some(ModelError::Cancelled)) {
            entries.extend(
                assembled
                    .warnings
                    .drain(..)
                    .map(|said| warning(said.code, said.message)),
            );
        }
        let ending = match &failed {
            Some(ModelError::Cancelled) => None,
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
        if !entries.is_empty() {
            self.writer.record(entries).await?;
        }
        Ok(ending)
    }

    fn announced(&self, call: &ToolCall) -> EntryBody {
        EntryBody::Event(EventBody::ToolCall {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            arguments: recover::shown_arguments(&self.parts.pipeline, call),
        })
    }

    /// Makes calls at once, as many as may; each ends in its own result. They are owned here: none
    /// outlives this.
    async fn run_calls(
        &self,
        view: &Arc<ToolView>,
        calls: Vec<ReadyCall>,
    ) -> Result<(), JournalError> {
        self.announce(&calls).await?;
        let handle = self.handle();
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
            if let Err(error) = made {
                handle.cancel.cancel();
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
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

    pub(crate) fn handle(&self) -> RunHandle {
        RunHandle {
            who: self.session.who.clone(),
            session: self.session.id.clone(),
            run: self.writer.run().clone(),
            attended: self.session.attended,
            cancel: self.cancel.child(),
            deadline: Deadline::NEVER,
            journal: self.writer.clone(),
            sandbox: self.session.sandbox.clone(),
            artifacts: self.parts.artifacts.clone(),
            clock: self.parts.clock.clone(),
            services: self.parts.services.clone(),
        }
    }

    /// Gives every open call its result when the run is stopped, so that the history is valid.
    async fn settle_cancelled(&self) -> Result<(), JournalError> {
        let open = self.writer.folded(|log| log.unsettled()).await;
        let entries: Vec<EntryBody> = open
            .into_iter()
            .map(|(id, call)| {
                let args = recover::shown_arguments(&self.parts.pipeline, &call);
                let error = ErrorInfo::new(Code::Cancelled, "the run was cancelled");
                recover::unmade(&id, &call.name, args, error, &*self.parts.clock)
            })
            .collect();
        if entries.is_empty() {
            Ok(())
        } else {
            self.writer.record(entries).await
        }
    }

    async fn finish(&self, ending: Ending) -> Result<RunEnd, JournalError> {
        let answer = self.writer.folded(|log| answer(log)).await;
        let output = RunOutput {
            status: ending.outcome,
            answer,
            suggested_actions: Vec::new(),
            error: ending.error,
        };
        self.writer
            .record(vec![EntryBody::Event(EventBody::RunFinished {
                outcome: ending.outcome,
                output: Box::new(output.clone()),
            })])
            .await?;
        Ok(RunEnd {
            run: self.writer.run().clone(),
            outcome: ending.outcome,
            output,
        })
    }
}

/// The last words of the model in this turn.
fn answer(log: &TurnLog) -> String {
    log.history
        .last()
        .filter(|last| last.message.role == MessageRole::Assistant)
        .map(|last| last.message.content())
        .unwrap_or_default()
}

async fn make_call(
    pipeline: &outfitter_tools::Pipeline,
    view: &ToolView,
    ready: ReadyCall,
    handle: &RunHandle,
    clock: &dyn outfitter_core::Clock,
) -> Result<(), JournalError> {
    let call = outfitter_core::RawCall {
        id: ready.call.id.clone(),
        name: ready.call.name.clone(),
        arguments: outfitter_core::Arguments::parse(ready.call.arguments.clone()),
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
            let entry = recover::unmade(&call.id, &call.name, args, recover::interrupted(), clock);
            return handle.journal.record(vec![entry]).await;
        }
    };
    match end {
        CallEnd::Output(_) | CallEnd::Waiting(_) => Ok(()),
    }
}
