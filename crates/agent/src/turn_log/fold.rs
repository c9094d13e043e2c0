//! How the next entry of a session changes what is known of it.

use std::sync::Arc;

use outfitter_core::{
    CallId, EntryBody, EventBody, EventSeq, Message, MessageRole, Mode, RunId, RunOutcome,
    RunOutput, TokenUsage,
};
use outfitter_tools::approved_from_now_on;

use super::{CallState, Exchange, RunSeen, TurnLog, TurnState};
use crate::failures::Failures;
use crate::recover;

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

    fn open_calls_mut(&mut self) -> impl Iterator<Item = &mut CallState> {
        self.history
            .last_mut()
            .into_iter()
            .flat_map(|exchange| &mut exchange.calls)
    }

    fn call_mut(&mut self, id: &CallId) -> Option<&mut CallState> {
        self.open_calls_mut().find(|state| state.call.id == *id)
    }
}
