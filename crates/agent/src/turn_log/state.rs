//! What is kept of runs, calls and the last turn.

use std::sync::Arc;

use outfitter_core::{
    Answer, CallId, EventSeq, Interrupt, Message, Mode, RequestMade, RunId, RunOutcome, ToolCall,
    WorkflowInUse,
};

use crate::failures::Failures;

/// A run under way, as its entries tell it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunSeen {
    /// The number of its last event.
    pub(crate) last_event: EventSeq,
    /// Whether it is a direct call, which has no model.
    pub(crate) direct: bool,
    /// How much of what is granted it may use.
    pub(crate) mode: Mode,
    /// The call of a direct run that has no output yet.
    pub(crate) direct_call: Option<(CallId, String, serde_json::Value)>,
}

/// A message, with what became of its calls.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) message: Arc<Message>,
    pub(crate) calls: Vec<CallState>,
}

/// How far a call got.
#[derive(Debug, Clone)]
pub(crate) struct CallState {
    pub(crate) call: ToolCall,
    /// The run that last told of it.
    pub(crate) announced: Option<RunId>,
    /// The run that last began to change something with it, and whether it may simply run again.
    pub(crate) intent: Option<(RunId, bool)>,
    pub(crate) interrupt: Option<Arc<Interrupt>>,
    pub(crate) answer: Option<Answer>,
    pub(crate) output: Option<Arc<Message>>,
}

/// The last turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnState {
    /// How much of what is granted it may use, to its end.
    pub(crate) mode: Mode,
    /// Whether it was looked at which tools fit it.
    pub(crate) suggested: bool,
    /// Whether it was looked at which workflow fits it.
    pub(crate) workflow_chosen: bool,
    /// The workflow that it follows, to its end.
    pub(crate) workflow: Option<Arc<WorkflowInUse>>,
    /// The name of the one that the turn before followed, where there was a turn.
    pub(super) before: Option<Option<String>>,
    /// Model calls since its beginning, or since it was taken up again after a limit.
    pub(crate) model_calls: u32,
    /// Tokens used since then.
    pub(crate) tokens: u64,
    /// Calls that failed since then.
    pub(crate) failures: Failures,
    /// The request that no reply has followed.
    pub(crate) unanswered: Option<RequestMade>,
    /// The run that last worked on it.
    pub(crate) run: Option<RunId>,
    /// How that run ended.
    pub(crate) outcome: Option<RunOutcome>,
    /// Whether it broke off, because its process ended.
    pub(super) cut_off: bool,
    /// Whether it ended in the middle of a reply, whose part is the last message.
    pub(super) broken_off_reply: bool,
}
