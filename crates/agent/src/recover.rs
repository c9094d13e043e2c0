//! What is written for runs that broke off, and for calls that nobody will finish.

use std::sync::Arc;

use outfitter_core::{
    Arguments, CallId, Clock, Code, EntryBody, ErrorInfo, EventBody, EventSeq, Message, MessageId,
    MessageRole, NewEntry, Part, RunId, RunOutcome, RunOutput, ToolCall, ToolOutput, UnixMs,
};
use outfitter_tools::{Pipeline, interrupted};
use serde_json::Value;

use crate::turn_log::TurnLog;

/// The end of every run that has none: it broke off, and its process can say so no more. Also the
/// end of the call of a direct run.
pub(crate) fn broken_off(log: &TurnLog, at: UnixMs, clock: &dyn Clock) -> Vec<NewEntry> {
    log.unfinished
        .iter()
        .flat_map(|(run, seen)| {
            let mut event = seen.last_event.0;
            let mut entry = |body| {
                event += 1;
                let body = EntryBody::Event(body);
                NewEntry {
                    run: run.clone(),
                    at,
                    event: Some(EventSeq(event)),
                    body,
                }
            };
            let error = ErrorInfo::new(Code::Interrupted, "the run broke off");
            let call = seen.direct_call.clone().map(|(id, name, args)| {
                let output = ToolOutput::failed(&name, id, args, interrupted());
                entry(EventBody::Message(Arc::new(tool_message(output, clock))))
            });
            let end = entry(EventBody::RunFinished {
                outcome: RunOutcome::Failed,
                output: Arc::new(RunOutput {
                    status: RunOutcome::Failed,
                    answer: String::new(),
                    suggested_actions: Vec::new(),
                    error: Some(error),
                }),
            });
            call.into_iter().chain([end])
        })
        .collect()
}

/// Whether a run that ends so broke off: its process ended in the middle of it. Its end was written
/// in good order then, or by who found it.
#[must_use]
pub fn is_end_of_broken_off(outcome: RunOutcome, output: &RunOutput) -> bool {
    let code = output.error.as_ref().map(|error| error.code);
    outcome == RunOutcome::Failed && code == Some(Code::Interrupted)
}

/// The result of a call that a new prompt overtook.
pub(crate) fn overtaken() -> ErrorInfo {
    ErrorInfo::new(
        Code::Interrupted,
        "the call was not finished: a new prompt took its place",
    )
}

/// The message of a result that has only an error.
pub(crate) fn tool_message(output: ToolOutput, clock: &dyn Clock) -> Message {
    message_of(Arc::new(output), clock)
}

/// The same, of an output that somebody else has too.
pub(crate) fn message_of(output: Arc<ToolOutput>, clock: &dyn Clock) -> Message {
    Message {
        id: MessageId::mint(clock),
        role: MessageRole::Tool,
        parts: vec![Part::Text {
            text: output.projection().0,
        }],
        output: Some(output),
    }
}

/// The arguments of a call, for showing.
pub(crate) fn shown_arguments(pipeline: &Pipeline, call: &ToolCall) -> Value {
    pipeline
        .redactor()
        .arguments(&Arguments::parse(call.arguments.clone()))
}

/// The end of a call that is not made.
pub(crate) fn unmade(
    call: &CallId,
    name: &str,
    args: Value,
    error: ErrorInfo,
    clock: &dyn Clock,
) -> EntryBody {
    let output = ToolOutput::failed(name, call.clone(), args, error);
    EntryBody::Event(EventBody::Message(Arc::new(tool_message(output, clock))))
}

/// The run whose turn a new run takes up.
pub(crate) fn resumed(log: &TurnLog) -> Option<RunId> {
    log.turn.as_ref().and_then(|turn| turn.run.clone())
}
