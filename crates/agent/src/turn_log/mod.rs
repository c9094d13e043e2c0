//! A session's log, folded: the conversation, and how far its last turn got.
//!
//! - [`TurnLog`]: what is known of a session, and what it is asked
//! - `fold`: how the next entry changes it
//! - `state`: what is kept of runs, calls and the last turn
//! - `chain`: the hash of the conversation

mod chain;
mod fold;
mod state;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use outfitter_core::{
    CallId, Fence, Hash, Message, RunId, RunOutcome, Seq, ToolName, WorkflowInUse,
};

use chain::Chain;
pub(crate) use state::{CallState, Exchange, RunSeen, TurnState};

/// A session's log, folded. A pure function of its entries: live runs, resumed runs and recoveries
/// all see the same.
#[derive(Debug, Clone, Default)]
pub struct TurnLog {
    pub(crate) head: Seq,
    pub(crate) fence: Fence,
    /// The runs that have no end yet: there are few, however many runs there were.
    pub(crate) unfinished: BTreeMap<RunId, RunSeen>,
    pub(crate) history: Vec<Exchange>,
    pub(crate) turn: Option<TurnState>,
    pub(crate) expanded: Arc<BTreeSet<ToolName>>,
    /// What was last found to fit the conversation, where there were too many tools to show.
    pub(crate) suggested: Option<Arc<BTreeSet<ToolName>>>,
    /// What a person approved for the session.
    pub(crate) approved: Arc<BTreeSet<Hash>>,
    presented: Arc<[ToolName]>,
    call_ids: Arc<HashSet<CallId>>,
    chain: Chain,
}

impl TurnLog {
    /// The call ids that are taken in this session.
    pub(crate) fn taken_calls(&self) -> Arc<HashSet<CallId>> {
        self.call_ids.clone()
    }

    /// The open calls that `run` has told of.
    pub(crate) fn announced_by(&self, run: &RunId) -> HashSet<CallId> {
        self.last_calls()
            .iter()
            .filter(|state| state.announced.as_ref() == Some(run))
            .map(|state| state.call.id.clone())
            .collect()
    }

    /// The calls of the last reply, in order.
    pub(crate) fn last_calls(&self) -> &[CallState] {
        self.history.last().map_or(&[], |exchange| &exchange.calls)
    }

    /// Whether the last turn has no final answer, so that it can be taken up again.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| turn.outcome != Some(RunOutcome::Success))
    }

    /// Whether the process of the run that last worked on the turn ended in the middle of it: it
    /// has no end, or one that says so.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| turn.outcome.is_none() || turn.cut_off)
    }

    /// Whether a run of the session has no end, be it a direct call.
    #[must_use]
    pub fn has_unended_runs(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Whether the tools of this turn may still be chosen: no request of it was made yet. What was
    /// shown once is shown again.
    pub(crate) fn may_choose_tools(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| !turn.suggested && turn.model_calls == 0)
    }

    /// Whether the workflow of this turn may still be chosen.
    pub(crate) fn may_choose_workflow(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| !turn.workflow_chosen && turn.model_calls == 0)
    }

    /// The name of the workflow that the last turn follows, where there is a turn: none where that
    /// follows none.
    pub(crate) fn workflow_so_far(&self) -> Option<Option<String>> {
        let turn = self.turn.as_ref()?;
        Some(turn.workflow.as_ref().map(|workflow| workflow.name.clone()))
    }

    /// The same of the turn before the last.
    pub(crate) fn workflow_before(&self) -> Option<Option<String>> {
        self.turn.as_ref()?.before.clone()
    }

    /// The workflow that the last turn follows, or followed.
    pub(crate) fn workflow(&self) -> Option<Arc<WorkflowInUse>> {
        self.turn.as_ref()?.workflow.clone()
    }

    /// The tools that a model was shown last, that were found to fit, or that were asked for:
    /// `audit_status.suggested_tools`.
    #[must_use]
    pub fn suggested_tools(&self) -> BTreeSet<&ToolName> {
        let fitting = self.suggested.iter().flat_map(|tools| tools.iter());
        self.presented
            .iter()
            .chain(fitting)
            .chain(&*self.expanded)
            .collect()
    }

    /// The tools that were asked for and are shown from then on.
    #[must_use]
    pub fn expanded(&self) -> &BTreeSet<ToolName> {
        &self.expanded
    }

    /// The names that the last request of a model showed; none before the first one.
    #[must_use]
    pub fn presented(&self) -> &[ToolName] {
        &self.presented
    }

    /// The conversation for a model: results in the order of their calls, whatever order they
    /// came in. A reply whose calls have no result yet is left out, with what follows it.
    #[must_use]
    pub fn messages(&self) -> Vec<Arc<Message>> {
        let mut messages = Vec::with_capacity(self.history.len() * 2);
        for exchange in &self.history {
            if exchange.calls.iter().any(|state| state.output.is_none()) {
                break;
            }
            messages.push(exchange.message.clone());
            messages.extend(
                exchange
                    .calls
                    .iter()
                    .filter_map(|state| state.output.clone()),
            );
        }
        messages
    }

    /// The hash of the conversation. Each message is hashed once in the life of the fold.
    pub(crate) fn conversation_hash(&mut self, messages: &[Arc<Message>]) -> Hash {
        self.chain.hash(messages)
    }

    /// The text of the conversation in bytes, as far as it was hashed.
    pub(crate) fn conversation_bytes(&self) -> u64 {
        self.chain.bytes()
    }
}
