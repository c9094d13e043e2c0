//! A session's log, folded: the conversation, and how far its last turn got.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use outfitter_core::{
    Answer, CallId, EntryBody, EventBody, EventSeq, Fence, Hash, Hashing, Interrupt, Message,
    MessageRole, Mode, RequestMade, RunId, RunOutcome, RunOutput, Seq, TokenUsage, ToolCall,
    ToolName, WorkflowInUse,
};
use outfitter_tools::approved_from_now_on;

use crate::failures::Failures;
use crate::{recover, usage};

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
    before: Option<Option<String>>,
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
    /// Whether that end was written for it, because its process went away.
    cut_off: bool,
    /// Whether it ended in the middle of a reply, whose part is the last message.
    broken_off_reply: bool,
}

/// The hash and the size of a conversation, kept up message by message.
#[derive(Debug, Clone, Default)]
struct Chain {
    hash: Option<Hash>,
    messages: usize,
    bytes: u64,
}

impl TurnLog {
    /// Takes in the next entry of the session.
    pub(crate) fn apply(&mut self, run: &RunId, event: Option<EventSeq>, body: &EntryBody) {
        self.head = self.head.plus(1);
        if let EntryBody::Event(EventBody::RunStarted(_)) = body {
            self.unfinished.insert(run.clone(), RunSeen::default());
        }
        if let (Some(event), Some(seen)) = (event, self.unfinished.get_mut(run)) {
            seen.last_event = seen.last_event.max(event);
        }
        match body {
            EntryBody::Event(event) => self.apply_event(run, event),
            EntryBody::Request(made) => {
                self.presented = made.tools.as_slice().into();
                if let Some(turn) = &mut self.turn {
                    turn.model_calls += 1;
                    turn.unanswered = Some(made.clone());
                }
            }
            EntryBody::Intent(intent) => {
                if let Some(state) = self.call_mut(&intent.call) {
                    state.intent = Some((run.clone(), intent.idempotent));
                }
            }
            EntryBody::Activated(names) => {
                Arc::make_mut(&mut self.expanded).extend(names.iter().cloned());
            }
            EntryBody::Suggested(names) => {
                self.suggested = Some(Arc::new(names.iter().cloned().collect()));
                if let Some(turn) = &mut self.turn {
                    turn.suggested = true;
                }
            }
            EntryBody::Workflow(chosen) => {
                if let Some(turn) = &mut self.turn {
                    turn.workflow_chosen = true;
                    turn.workflow = chosen.clone().map(Arc::new);
                }
            }
            EntryBody::Answer(answer) => {
                let interrupt = &answer.interrupt;
                let asked = |state: &&mut CallState| {
                    state
                        .interrupt
                        .as_ref()
                        .is_some_and(|asked| asked.id == *interrupt)
                };
                let asked = self.open_calls_mut().find(asked).and_then(|state| {
                    state.answer = Some(answer.clone());
                    state.interrupt.clone()
                });
                if let Some(asked) = asked {
                    let approved = approved_from_now_on(&asked, answer);
                    Arc::make_mut(&mut self.approved).extend(approved);
                }
            }
        }
    }

    fn apply_event(&mut self, run: &RunId, event: &EventBody) {
        match event {
            EventBody::RunStarted(started) => {
                let direct = started.model.is_none();
                if let Some(seen) = self.unfinished.get_mut(run) {
                    seen.direct = direct;
                    seen.mode = started.mode;
                }
                if let (false, Some(turn)) = (direct, &mut self.turn) {
                    if started.resumes.is_some() && turn.outcome == Some(RunOutcome::Limit) {
                        (turn.model_calls, turn.tokens) = (0, 0);
                        turn.failures = Failures::default();
                    }
                    if started.resumes.is_some() && std::mem::take(&mut turn.broken_off_reply) {
                        // The reply is asked for again; the part of it answers nothing.
                        self.history.pop();
                    }
                    if started.resumes.is_some() {
                        turn.mode = turn.mode.meet(started.mode);
                    }
                    turn.run = Some(run.clone());
                    turn.outcome = None;
                    turn.cut_off = false;
                }
            }
            EventBody::Message(message) => self.apply_message(run, message),
            EventBody::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
            } => {
                if let Some(state) = self.call_mut(tool_call_id) {
                    state.announced = Some(run.clone());
                } else if let Some(seen) = self.unfinished.get_mut(run).filter(|seen| seen.direct) {
                    seen.direct_call =
                        Some((tool_call_id.clone(), tool_name.clone(), arguments.clone()));
                }
                Arc::make_mut(&mut self.call_ids).insert(tool_call_id.clone());
            }
            EventBody::Interrupt(interrupt) => {
                if let Some(state) = self.call_mut(&interrupt.call) {
                    state.interrupt = Some(Arc::new((**interrupt).clone()));
                    state.answer = None;
                    state.intent = None;
                }
            }
            EventBody::Usage(TokenUsage {
                input_tokens,
                output_tokens,
                ..
            }) => {
                if let Some(turn) = &mut self.turn {
                    turn.tokens = turn.tokens.saturating_add(input_tokens + output_tokens);
                }
            }
            EventBody::RunFinished { outcome, output } => {
                self.unfinished.remove(run);
                let in_reply = self.ends_in_reply(*outcome, output);
                if let Some(turn) = self
                    .turn
                    .as_mut()
                    .filter(|turn| turn.run.as_ref() == Some(run))
                {
                    turn.outcome = Some(*outcome);
                    turn.cut_off = recover::is_end_of_broken_off(*outcome, output);
                    turn.broken_off_reply = in_reply;
                }
            }
            EventBody::Answered { .. }
            | EventBody::Warning { .. }
            | EventBody::Delta { .. }
            | EventBody::ToolProgress { .. } => {}
        }
    }

    /// Whether a run that ends so ends in the middle of a reply: a whole reply without calls would
    /// have made it a success. A run that broke off with its process recorded whole replies only.
    fn ends_in_reply(&self, outcome: RunOutcome, output: &RunOutput) -> bool {
        let stopped = match outcome {
            RunOutcome::Cancelled => true,
            RunOutcome::Failed => !recover::is_end_of_broken_off(outcome, output),
            RunOutcome::Success | RunOutcome::Waiting | RunOutcome::Limit => false,
        };
        stopped
            && self.history.last().is_some_and(|last| {
                last.message.role == MessageRole::Assistant && last.calls.is_empty()
            })
    }

    fn apply_message(&mut self, run: &RunId, message: &Arc<Message>) {
        match message.role {
            MessageRole::Tool => {
                // The result of a direct call belongs to no request of a model: it is kept in the
                // log and left out of the conversation.
                let Some(output) = &message.output else {
                    return;
                };
                let reply = self.history.len();
                if let Some(state) = self.call_mut(&output.tool_call_id) {
                    if state.output.is_none() {
                        state.output = Some(message.clone());
                        let call = state.call.clone();
                        if let Some(turn) = &mut self.turn {
                            turn.failures.take(&call, output, reply);
                        }
                    }
                } else if let Some(seen) = self.unfinished.get_mut(run) {
                    seen.direct_call = None;
                }
            }
            MessageRole::User => {
                let mode = self
                    .unfinished
                    .get(run)
                    .map_or(Mode::Agent, |seen| seen.mode);
                self.turn = Some(TurnState {
                    run: Some(run.clone()),
                    mode,
                    before: self.workflow_so_far(),
                    ..TurnState::default()
                });
                self.say(message, Vec::new());
            }
            MessageRole::Assistant => {
                if let Some(turn) = &mut self.turn {
                    turn.unanswered = None;
                }
                let calls: Vec<CallState> = message
                    .tool_calls()
                    .map(|call| CallState {
                        call: call.clone(),
                        announced: None,
                        intent: None,
                        interrupt: None,
                        answer: None,
                        output: None,
                    })
                    .collect();
                Arc::make_mut(&mut self.call_ids)
                    .extend(calls.iter().map(|state| state.call.id.clone()));
                self.say(message, calls);
            }
            MessageRole::System => self.say(message, Vec::new()),
        }
    }

    fn say(&mut self, message: &Arc<Message>, calls: Vec<CallState>) {
        self.history.push(Exchange {
            message: message.clone(),
            calls,
        });
    }

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

    fn open_calls_mut(&mut self) -> impl Iterator<Item = &mut CallState> {
        self.history
            .last_mut()
            .into_iter()
            .flat_map(|exchange| &mut exchange.calls)
    }

    fn call_mut(&mut self, id: &CallId) -> Option<&mut CallState> {
        self.open_calls_mut().find(|state| state.call.id == *id)
    }

    /// Whether the last turn has no final answer, so that it can be taken up again.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| turn.outcome != Some(RunOutcome::Success))
    }

    /// Whether the process of the run that last worked on the turn went away: it has no end, or
    /// one that was written for it.
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
        let mut hash = self.chain.hash.unwrap_or_else(|| Hash::of(b"conversation"));
        let mut bytes = self.chain.bytes;
        for message in messages.iter().skip(self.chain.messages) {
            hash = chained(hash, message);
            bytes += usage::bytes(&message.parts);
        }
        self.chain = Chain {
            hash: Some(hash),
            messages: messages.len(),
            bytes,
        };
        hash
    }

    /// The text of the conversation in bytes, as far as it was hashed.
    pub(crate) fn conversation_bytes(&self) -> u64 {
        self.chain.bytes
    }
}

/// The hash of a conversation with one more message. The message is hashed while it is written: a
/// long one is not held twice.
fn chained(before: Hash, message: &Message) -> Hash {
    let mut hashing = Hashed(Hashing::new());
    hashing.0.update(before.to_string());
    // What cannot be written hashes as far as it could be.
    let _ = serde_json::to_writer(&mut hashing, message);
    hashing.0.finish()
}

struct Hashed(Hashing);

impl std::io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
