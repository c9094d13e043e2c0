//! What a turn does next: a pure function of its entries.

use std::sync::Arc;

use outfitter_core::{Answer, CallId, Interrupt, InterruptId, RunOutcome, ToolCall};

use crate::turn_log::{CallState, TurnLog};

/// What ends a turn that would go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Model calls in a turn.
    pub max_turns: u32,
    /// Tokens in a turn, counted as the provider reports them; none for no limit.
    pub max_total_tokens: Option<u64>,
    /// How often one call may fail in the same way in a turn, made in so many replies.
    pub identical_failures: u32,
}

/// A call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyCall {
    /// The call as the model wrote it.
    pub call: ToolCall,
    /// How to make it.
    pub how: Start,
}

/// How a call is made.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// From its beginning.
    Afresh,
    /// From where it waited.
    Answered(Arc<Interrupt>, Answer),
    /// Not at all: it was changing something when its run broke off, so nobody knows how far it
    /// got. It ends as `interrupted`.
    BrokenOff,
}

/// What a turn does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Ask the model.
    CallModel,
    /// Make these calls, in this order.
    RunCalls(Vec<ReadyCall>),
    /// Nothing, until one of these is answered.
    Wait(Vec<InterruptId>),
    /// End.
    Finish(RunOutcome),
}

/// What the turn does next. Live runs, resumed runs and recoveries all ask this.
#[must_use]
pub fn next(log: &TurnLog, limits: &Limits) -> Next {
    let Some(turn) = &log.turn else {
        return Next::Finish(RunOutcome::Success);
    };
    let open: Vec<&CallState> = log
        .last_calls()
        .iter()
        .filter(|state| state.output.is_none())
        .collect();
    let ready: Vec<ReadyCall> = open.iter().filter_map(|state| ready(log, state)).collect();
    if !ready.is_empty() {
        return Next::RunCalls(ready);
    }
    if !open.is_empty() {
        let waiting = open.iter().filter_map(|state| state.interrupt.as_ref());
        return Next::Wait(waiting.map(|interrupt| interrupt.id.clone()).collect());
    }
    if turn.unanswered.is_none() && is_answered(log) {
        return Next::Finish(RunOutcome::Success);
    }
    let used_up = turn.model_calls >= limits.max_turns
        || limits
            .max_total_tokens
            .is_some_and(|limit| turn.tokens >= limit)
        || turn.failures.at(limits.identical_failures).is_some();
    if used_up {
        Next::Finish(RunOutcome::Limit)
    } else {
        Next::CallModel
    }
}

fn ready(log: &TurnLog, state: &CallState) -> Option<ReadyCall> {
    let how = match (&state.interrupt, &state.answer, &state.intent) {
        (Some(interrupt), Some(answer), None) => Start::Answered(interrupt.clone(), answer.clone()),
        (Some(_), None, None) => return None,
        (_, _, Some((run, false))) if log.has_ended(run) => Start::BrokenOff,
        (Some(interrupt), Some(answer), Some(_)) => {
            Start::Answered(interrupt.clone(), answer.clone())
        }
        (Some(_), None, Some(_)) => return None,
        (None, _, _) => Start::Afresh,
    };
    Some(ReadyCall {
        call: state.call.clone(),
        how,
    })
}

/// Whether the last thing said is a reply that wants no call made.
fn is_answered(log: &TurnLog) -> bool {
    log.history.last().is_some_and(|last| {
        last.message.role == outfitter_core::MessageRole::Assistant && last.calls.is_empty()
    })
}

impl TurnLog {
    fn has_ended(&self, run: &outfitter_core::RunId) -> bool {
        !self.unfinished.contains_key(run)
    }

    /// The calls that have neither a result nor an answer to wait for.
    pub(crate) fn unsettled(&self) -> Vec<(CallId, ToolCall)> {
        self.last_calls()
            .iter()
            .filter(|state| state.output.is_none())
            .map(|state| (state.call.id.clone(), state.call.clone()))
            .collect()
    }
}
