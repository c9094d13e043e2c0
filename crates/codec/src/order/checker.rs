//! One run, event by event.

use std::collections::{HashMap, HashSet};

use outfitter_core::{Event, RunOutcome};
use serde_json::Value;

use super::call::Call;
use super::seen::{Seen, Step};
use super::{OrderFault, OrderFaultKind};

/// How a run is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// While it happens: no gaps.
    Live,
    /// From the log: no deltas and no progress, and gaps where they were.
    Replayed,
}

/// Checks the events of one run, one by one.
#[derive(Debug)]
pub struct EventOrder {
    watched: Watched,
    run: Option<(String, String)>,
    seq: u64,
    resumes: bool,
    calls: HashMap<String, Call>,
    messages: HashSet<String>,
    finished: bool,
}

impl EventOrder {
    /// A checker that has seen nothing.
    #[must_use]
    pub fn new(watched: Watched) -> Self {
        Self {
            watched,
            run: None,
            seq: 0,
            resumes: false,
            calls: HashMap::new(),
            messages: HashSet::new(),
            finished: false,
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn event(&mut self, event: &Event) -> Result<(), OrderFault> {
        self.take(&Seen::of_event(event))
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// The first rule it breaks; [`OrderFaultKind::NotALine`] for what is no event line.
    pub fn line(&mut self, line: &str) -> Result<(), OrderFault> {
        let value: Value = serde_json::from_str(line).unwrap_or(Value::Null);
        let Some(seen) = Seen::of_line(&value) else {
            return Err(self.fault_at(self.seq + 1, OrderFaultKind::NotALine));
        };
        self.take(&seen)
    }

    /// Says that there are no more.
    ///
    /// # Errors
    /// [`OrderFaultKind::NotFinished`] when the run has no end.
    pub fn end(self) -> Result<(), OrderFault> {
        if self.finished {
            Ok(())
        } else {
            Err(self.fault_at(self.seq, OrderFaultKind::NotFinished))
        }
    }

    fn fault_at(&self, seq: u64, kind: OrderFaultKind) -> OrderFault {
        let run = self.run.as_ref().map(|(run, _)| run.clone());
        OrderFault {
            run: run.unwrap_or_default(),
            seq,
            kind,
        }
    }

    fn take(&mut self, seen: &Seen) -> Result<(), OrderFault> {
        self.place(seen)
            .and_then(|()| self.step(&seen.step))
            .map_err(|kind| OrderFault {
                run: seen.run.clone(),
                seq: seen.seq,
                kind,
            })
    }

    /// The rules that every event is under.
    fn place(&mut self, seen: &Seen) -> Result<(), OrderFaultKind> {
        if self.finished {
            return Err(OrderFaultKind::AfterFinish);
        }
        match &self.run {
            None => self.run = Some((seen.run.clone(), seen.session.clone())),
            Some((run, session)) if *run == seen.run && *session == seen.session => {}
            Some(_) => return Err(OrderFaultKind::OtherRun),
        }
        let first = self.seq == 0;
        let expected = self.seq + 1;
        let rises = match self.watched {
            Watched::Live => seen.seq == expected,
            Watched::Replayed if first => seen.seq == 1,
            Watched::Replayed => seen.seq >= expected,
        };
        if !rises {
            return Err(OrderFaultKind::Seq { expected });
        }
        self.seq = seen.seq;
        match (first, matches!(seen.step, Step::Started { .. })) {
            (true, false) => return Err(OrderFaultKind::NotStarted),
            (false, true) => return Err(OrderFaultKind::StartedTwice),
            (true, true) | (false, false) => {}
        }
        let ephemeral = matches!(seen.step, Step::Delta { .. } | Step::Progress { .. });
        if ephemeral && self.watched == Watched::Replayed {
            return Err(OrderFaultKind::EphemeralReplayed);
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), OrderFaultKind> {
        match step {
            Step::Started { resumes } => {
                self.resumes = *resumes;
                Ok(())
            }
            Step::Delta { message, empty } => {
                if *empty {
                    Err(OrderFaultKind::EmptyDelta)
                } else if self.messages.contains(message) {
                    Err(OrderFaultKind::DeltaAfterMessage {
                        message: message.clone(),
                    })
                } else {
                    Ok(())
                }
            }
            Step::Message { message } => self.message(message),
            Step::Result {
                message,
                call,
                interrupted,
            } => {
                self.message(message)?;
                self.result(call, *interrupted)
            }
            Step::Call { call } => match self.calls.get(call) {
                None => {
                    self.calls.insert(call.clone(), Call::begun());
                    Ok(())
                }
                Some(_) => Err(OrderFaultKind::CallTwice { call: call.clone() }),
            },
            Step::Progress { call, progress } => self.known(call)?.progress(call, progress),
            Step::Waits { call } => self.known(call)?.waits(call),
            Step::Other => Ok(()),
            Step::Finished { outcome, broke_off } => {
                self.finished = true;
                // The process died; its calls end in the run that resumes the turn.
                if *broke_off {
                    Ok(())
                } else {
                    self.finish(*outcome)
                }
            }
        }
    }

    fn message(&mut self, message: &str) -> Result<(), OrderFaultKind> {
        if self.messages.insert(message.to_owned()) {
            Ok(())
        } else {
            Err(OrderFaultKind::MessageTwice {
                message: message.to_owned(),
            })
        }
    }

    /// A call of an earlier run has its `tool_call` there: this run resumes that one, or says that
    /// the call was found half done.
    fn result(&mut self, call: &str, interrupted: bool) -> Result<(), OrderFaultKind> {
        if (self.resumes || interrupted) && !self.calls.contains_key(call) {
            self.calls.insert(call.to_owned(), Call::begun());
        }
        self.known(call)?.result(call)
    }

    /// The call; one of the resumed run that goes on is taken as begun.
    fn known(&mut self, call: &str) -> Result<&mut Call, OrderFaultKind> {
        if self.resumes && !self.calls.contains_key(call) {
            self.calls.insert(call.to_owned(), Call::begun());
        }
        self.calls
            .get_mut(call)
            .ok_or_else(|| OrderFaultKind::UnknownCall {
                call: call.to_owned(),
            })
    }

    fn finish(&self, outcome: RunOutcome) -> Result<(), OrderFaultKind> {
        let mut ids: Vec<&String> = self.calls.keys().collect();
        ids.sort_unstable();
        ids.into_iter()
            .try_for_each(|id| self.calls[id].at_finish(id, outcome))
    }
}

/// Checks a stream of lines, of one run or of several in one stream, each by itself.
///
/// # Errors
/// The first rule that a line breaks.
pub fn check_lines(watched: Watched, lines: &str) -> Result<(), OrderFault> {
    let mut runs: Vec<(String, EventOrder)> = Vec::new();
    for line in lines.lines() {
        let value: Value = serde_json::from_str(line).unwrap_or(Value::Null);
        let Some(seen) = Seen::of_line(&value) else {
            return Err(EventOrder::new(watched).fault_at(0, OrderFaultKind::NotALine));
        };
        let at = runs.iter().position(|(run, _)| *run == seen.run);
        let at = at.unwrap_or_else(|| {
            runs.push((seen.run.clone(), EventOrder::new(watched)));
            runs.len() - 1
        });
        runs[at].1.take(&seen)?;
    }
    if runs.is_empty() {
        return EventOrder::new(watched).end();
    }
    runs.into_iter().try_for_each(|(_, order)| order.end())
}
