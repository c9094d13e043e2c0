//! One run: what the fold says is next, until it says to end.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    Cancel, Code, EntryBody, ErrorInfo, EventBody, EventSink, Journal as _, JournalError,
    MessageRole, RunId, RunOutcome, RunOutput, ToolCall, ToolName,
};
use outfitter_tools::ToolView;

use crate::answers;
use crate::meter::Meter;
use crate::next::Next;
use crate::parts::AgentParts;
use crate::recover;
use crate::request::{RunEnd, RunRequest};
use crate::session::Session;
use crate::turn_log::TurnLog;
use crate::writer::{Writer, WriterParts};

/// One run under way.
pub(crate) struct Run<'a> {
    pub(crate) parts: &'a AgentParts,
    pub(crate) session: &'a Session,
    pub(crate) cancel: Cancel,
    pub(crate) writer: Arc<Writer>,
    /// What its calls use of models.
    pub(crate) meter: Arc<Meter>,
}

/// How a run ends, before it is recorded.
pub(crate) struct Ending {
    pub(crate) outcome: RunOutcome,
    pub(crate) error: Option<ErrorInfo>,
    /// What is recorded together with the end: what came of a reply that broke off. Were it
    /// recorded before, a crash in between would make an answer of it.
    pub(crate) last: Vec<EntryBody>,
}

impl Ending {
    pub(crate) fn of(outcome: RunOutcome) -> Self {
        Self {
            outcome,
            error: None,
            last: Vec::new(),
        }
    }

    /// The process ends, and nobody called the run off: the turn is left as a crash would leave it,
    /// and goes on as after one.
    pub(crate) fn interrupted() -> Self {
        let error = ErrorInfo::new(
            Code::Interrupted,
            "the server stopped before the turn was over",
        );
        Self::failed(error.with_hint(
            "it goes on by itself when the server starts again; do not ask again: the messages of \
             the session say what came of it",
        ))
    }

    pub(crate) fn failed(error: ErrorInfo) -> Self {
        Self {
            error: Some(error),
            ..Self::of(RunOutcome::Failed)
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
            meter: Arc::default(),
        }
    }

    /// Makes the run, and shows progress meanwhile.
    pub(crate) async fn go(&self, request: RunRequest) -> Result<RunEnd, JournalError> {
        tokio::select! {
            biased;
            end = self.make(request) => end,
            never = self.writer.flush_progress() => match never {},
        }
    }

    pub(crate) async fn into_log(self) -> TurnLog {
        self.writer.take_log().await
    }

    async fn make(&self, request: RunRequest) -> Result<RunEnd, JournalError> {
        self.begin(request).await?;
        self.writer.take_answers(true).await;
        let limits = self.parts.settings.limits;
        let ending = loop {
            let next = self.writer.next(&limits).await;
            // What is over is over, whoever wanted to stop it, and what only waits is at rest.
            let is_at_rest = match next {
                Next::Finish(_) => true,
                Next::Wait(_) => self.cancel.is_interrupted(),
                Next::CallModel | Next::RunCalls(_) => false,
            };
            if self.cancel.is_cancelled() && !is_at_rest {
                self.writer.take_answers(false).await;
                if self.cancel.is_interrupted() {
                    break Ending::interrupted();
                }
                self.settle_cancelled().await?;
                break Ending::of(RunOutcome::Cancelled);
            }
            match next {
                Next::CallModel => {
                    let view = self.view().await;
                    if let Some(ending) = self.call_model(&view).await? {
                        break ending;
                    }
                }
                Next::RunCalls(calls) => {
                    // What has been forbidden since the request was made is not called.
                    let view = self.view().await;
                    self.run_calls(&view, calls).await?;
                }
                Next::Wait(_) => break Ending::of(RunOutcome::Waiting),
                Next::Finish(RunOutcome::Limit) => break self.limit_reached().await,
                Next::Finish(outcome) => break Ending::of(outcome),
            }
        };
        self.finish(ending).await
    }

    /// What the session may use now, with what it has expanded.
    pub(crate) async fn view(&self) -> Arc<ToolView> {
        self.view_with(None).await
    }

    /// The same, once these tools are chosen for the turn; none where that is no news.
    pub(crate) async fn view_with(
        &self,
        suggested: Option<Arc<BTreeSet<ToolName>>>,
    ) -> Arc<ToolView> {
        let mut facts = self.writer.folded(|log| self.session.facts_in(log)).await;
        facts.suggested = suggested.or(facts.suggested);
        self.session.proxy.view(&facts)
    }

    async fn limit_reached(&self) -> Ending {
        let limits = self.parts.settings.limits;
        if let Some(error) = self
            .writer
            .folded(|log| repeated(log, limits.identical_failures))
            .await
        {
            return Ending {
                error: Some(error),
                ..Ending::of(RunOutcome::Limit)
            };
        }
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
            error: Some(error.with_hint("continue the session, or raise [agent] max_turns")),
            ..Ending::of(RunOutcome::Limit)
        }
    }

    pub(crate) fn announced(&self, call: &ToolCall) -> EntryBody {
        EntryBody::Event(EventBody::ToolCall {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            arguments: recover::shown_arguments(&self.parts.pipeline, call),
        })
    }

    /// Gives every open call its result when the run is stopped, so that the history is valid.
    async fn settle_cancelled(&self) -> Result<(), JournalError> {
        let open = self.writer.folded(|log| log.unsettled()).await;
        let ended = open.into_iter().map(|(id, call)| {
            let args = recover::shown_arguments(&self.parts.pipeline, &call);
            let error = ErrorInfo::new(Code::Cancelled, "the run was cancelled");
            recover::unmade(&id, &call.name, args, error, &*self.parts.clock)
        });
        let mut entries = self.writer.folded(|log| answers::called_off(log)).await;
        entries.extend(ended);
        if entries.is_empty() {
            Ok(())
        } else {
            self.writer.record(entries).await
        }
    }

    async fn finish(&self, ending: Ending) -> Result<RunEnd, JournalError> {
        self.writer.take_answers(false).await;
        let broken_off = ending.last.iter().find_map(said);
        let answer = match broken_off {
            Some(said) => said,
            None => self.writer.folded(|log| answer(log)).await,
        };
        let actions = self.suggest_actions(ending.outcome, &answer).await;
        // The answer may be long, so it is shared while it is stored.
        let output = Arc::new(RunOutput {
            status: ending.outcome,
            answer,
            suggested_actions: actions.suggested,
            error: ending.error,
        });
        let mut entries = ending.last;
        entries.extend(actions.entries);
        entries.push(EntryBody::Event(EventBody::RunFinished {
            outcome: ending.outcome,
            output: output.clone(),
        }));
        self.writer.record(entries).await?;
        Ok(RunEnd {
            run: self.writer.run().clone(),
            outcome: ending.outcome,
            output: Arc::unwrap_or_clone(output),
            waiting: match ending.outcome {
                RunOutcome::Waiting => self.writer.folded(|log| log.waiting()).await,
                RunOutcome::Success
                | RunOutcome::Failed
                | RunOutcome::Cancelled
                | RunOutcome::Limit => Vec::new(),
            },
        })
    }
}

/// Why the turn ends over a call that it makes again and again, if it does.
fn repeated(log: &TurnLog, limit: u32) -> Option<ErrorInfo> {
    let failing = log.turn.as_ref()?.failures.at(limit)?;
    let (tool, times) = (&failing.tool, failing.times);
    let message = format!(
        "the model made the same call of {tool} {times} times, and it failed the same way each time: {}",
        failing.message
    );
    Some(ErrorInfo::new(Code::Limit, message).with_hint(
        "say what to do otherwise, continue the session, or raise [agent] identical_failure_limit",
    ))
}

/// What a message among the entries says.
fn said(entry: &EntryBody) -> Option<String> {
    match entry {
        EntryBody::Event(EventBody::Message(message)) => Some(message.content()),
        _ => None,
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
