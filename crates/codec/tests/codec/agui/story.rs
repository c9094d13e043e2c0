//! Random runs that are legal, and everything that may go wrong with one.

use std::sync::Arc;

use outfitter_codec::{EventOrder, Watched};
use outfitter_core::{
    Audience, CallId, Code, DeltaKind, ErrorInfo, Event, EventBody, Hash, Interrupt, InterruptId,
    InterruptKind, Message, MessageId, MessageRole, Mode, OnExpiry, Part, Role, RunId, RunOutcome,
    RunOutput, RunStarted, SandboxSummary, Status, Stream, TokenUsage, ToolCall, ToolOutput,
    UiHints, UnixMs, WarningCode,
};
use proptest::prelude::*;
use serde_json::json;

use crate::samples::{answer, message, numbered};

/// One thing that may happen. What cannot happen now does not.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Say(String),
    Think(String),
    Write(String),
    /// A reply is whole: with calls, and with so many bytes of its words told in deltas.
    Reply(Vec<String>),
    /// A delta was lost: the words of the reply differ from what was told.
    Lose,
    Print(usize, String, u64),
    End(usize, bool),
    Wait(usize),
    Warn,
    Use,
}

fn words() -> impl Strategy<Value = String> {
    "[a-zé\\n\"\u{2028}]{1,12}"
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => words().prop_map(Step::Say),
        2 => words().prop_map(Step::Think),
        1 => words().prop_map(Step::Write),
        4 => prop::collection::vec(
            prop_oneof![Just("{}".to_owned()), Just("{\"a\": ".to_owned()), Just("{\"b\":[1]}".to_owned())],
            0..4,
        ).prop_map(Step::Reply),
        1 => Just(Step::Lose),
        4 => (0..4usize, prop_oneof![4 => words(), 1 => Just("x".repeat(40_000))], 0..2u64)
            .prop_map(|(call, text, lost)| Step::Print(call, text, lost)),
        4 => (0..4usize, any::<bool>()).prop_map(|(call, well)| Step::End(call, well)),
        2 => (0..4usize).prop_map(Step::Wait),
        1 => Just(Step::Warn),
        1 => Just(Step::Use),
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..40)
}

struct Call {
    id: CallId,
    printing: bool,
    waits: bool,
}

/// Writes a run. Ids are those of its number, so that runs of one session differ.
pub(crate) struct Writer {
    run: u32,
    bodies: Vec<EventBody>,
    calls: Vec<Call>,
    /// The words of the reply so far, its id, and whether anything of it is told.
    said: String,
    replies: u32,
    told: bool,
    made: u32,
}

impl Writer {
    pub(crate) fn new(run: u32, resumes: Option<u32>) -> Self {
        let mut writer = Self {
            run,
            bodies: Vec::new(),
            calls: Vec::new(),
            said: String::new(),
            replies: 0,
            told: false,
            made: 0,
        };
        writer.bodies.push(EventBody::RunStarted(RunStarted {
            resumes: resumes.map(|run| RunId::new(format!("run_{run}")).unwrap()),
            model: Some("openai/gpt-5".to_owned()),
            mode: Mode::Agent,
            tools: [].into(),
            skills: Vec::new(),
            sandbox: SandboxSummary {
                backend: "local".to_owned(),
                level: "full".to_owned(),
            },
            workflow: None,
            client_run: None,
        }));
        if resumes.is_none() {
            let words = Part::Text {
                text: "Go.".to_owned(),
            };
            let id = format!("user_{run}");
            writer
                .bodies
                .push(message(&id, MessageRole::User, vec![words]));
        }
        writer
    }

    /// Takes up calls that wait in an earlier run: each is answered, and told again or not.
    pub(crate) fn take_up(&mut self, waiting: &[(CallId, InterruptId)], told_again: bool) {
        for (call, interrupt) in waiting {
            self.bodies.push(EventBody::Answered {
                interrupt: interrupt.clone(),
            });
            if told_again {
                self.bodies.push(EventBody::ToolCall {
                    tool_call_id: call.clone(),
                    tool_name: "do".to_owned(),
                    arguments: json!({}),
                });
            }
            self.calls.push(Call {
                id: call.clone(),
                printing: false,
                waits: false,
            });
        }
    }

    fn reply_id(&self) -> MessageId {
        MessageId::new(format!("reply_{}_{}", self.run, self.replies)).unwrap()
    }

    fn delta(&mut self, kind: DeltaKind, text: &str) {
        self.told = true;
        self.bodies.push(EventBody::Delta {
            message_id: self.reply_id(),
            kind,
            text: text.to_owned(),
            tool_call_id: None,
        });
    }

    pub(crate) fn step(&mut self, step: &Step) {
        let idle = self.calls.is_empty();
        match step {
            Step::Say(text) if idle => {
                self.said.push_str(text);
                self.delta(DeltaKind::Text, text);
            }
            Step::Think(text) if idle => self.delta(DeltaKind::Reasoning, text),
            Step::Write(text) if idle => self.delta(DeltaKind::ToolArguments, text),
            Step::Lose if idle => self.said.insert(0, '!'),
            Step::Reply(arguments) if idle => self.reply(arguments),
            Step::Print(at, text, lost) => self.print(*at, text, *lost),
            Step::End(at, well) => self.end(*at, *well),
            Step::Wait(at) => self.wait(*at),
            Step::Warn => self.bodies.push(EventBody::Warning {
                code: WarningCode::Retried,
                message: "again".to_owned(),
            }),
            Step::Use => self.bodies.push(EventBody::Usage(TokenUsage {
                input_tokens: 3,
                output_tokens: 2,
                ..TokenUsage::default()
            })),
            Step::Say(_) | Step::Think(_) | Step::Write(_) | Step::Lose | Step::Reply(_) => {}
        }
    }

    fn reply(&mut self, arguments: &[String]) {
        let id = self.reply_id();
        let mut parts = vec![Part::Text {
            text: std::mem::take(&mut self.said),
        }];
        for arguments in arguments {
            self.made += 1;
            let id = CallId::new(format!("call_{}_{}", self.run, self.made)).unwrap();
            parts.push(Part::ToolCall(ToolCall {
                id: id.clone(),
                name: "do".to_owned(),
                arguments: arguments.as_str().into(),
            }));
            self.calls.push(Call {
                id,
                printing: false,
                waits: false,
            });
        }
        self.bodies.push(EventBody::Message(Arc::new(Message {
            id,
            role: MessageRole::Assistant,
            parts,
            output: None,
        })));
        for (call, arguments) in self.calls.iter().zip(arguments) {
            self.bodies.push(EventBody::ToolCall {
                tool_call_id: call.id.clone(),
                tool_name: "do".to_owned(),
                arguments: outfitter_core::Arguments::parse(arguments.as_str()).shown(),
            });
        }
        self.replies += 1;
        self.told = false;
    }

    fn print(&mut self, at: usize, text: &str, dropped_bytes: u64) {
        let Some(call) = self.calls.get_mut(at).filter(|call| !call.waits) else {
            return;
        };
        call.printing = true;
        self.bodies.push(EventBody::ToolProgress {
            tool_call_id: call.id.clone(),
            text: text.to_owned(),
            stream: Stream::Stdout,
            closed: false,
            dropped_bytes,
        });
    }

    fn close(&mut self, at: usize) {
        let call = &mut self.calls[at];
        if std::mem::take(&mut call.printing) {
            self.bodies.push(EventBody::ToolProgress {
                tool_call_id: call.id.clone(),
                text: String::new(),
                stream: Stream::Info,
                closed: true,
                dropped_bytes: 0,
            });
        }
    }

    fn end(&mut self, at: usize, well: bool) {
        if self.calls.get(at).is_none_or(|call| call.waits) {
            return;
        }
        self.close(at);
        let id = self.calls.remove(at).id;
        let output = if well {
            ToolOutput {
                tool_name: "do".to_owned(),
                resolved: None,
                tool_call_id: id.clone(),
                tool_call_args: json!({}),
                status: Status::Success,
                result: Some(json!({"rows": [{"a": 1}]})),
                error: None,
                ui_hints: Some(UiHints(json!({"template": "table", "from": "/rows"}))),
                artifacts: Vec::new(),
                truncated: None,
            }
        } else {
            ToolOutput::failed(
                "do",
                id.clone(),
                json!({}),
                ErrorInfo::new(Code::Failed, "no"),
            )
        };
        self.bodies.push(answer(&format!("result_{id}"), output));
    }

    fn wait(&mut self, at: usize) {
        if self.calls.get(at).is_none_or(|call| call.waits) {
            return;
        }
        self.close(at);
        self.calls[at].waits = true;
        let call = self.calls[at].id.clone();
        self.bodies.push(EventBody::Interrupt(Box::new(Interrupt {
            id: InterruptId::new(format!("int_{call}")).unwrap(),
            call,
            kind: InterruptKind::Approval {
                reason: "may it?".to_owned(),
            },
            schema: None,
            audience: Audience {
                tenant: "local".into(),
                subject: "me".into(),
                min_role: Role::Guest,
            },
            expires: UnixMs(1_767_312_000_000),
            on_expiry: OnExpiry::Deny,
            args_hash: Hash::of(b"{}"),
            state: json!(null),
        })));
    }

    /// Ends the run: it waits if a call does, else as it is told. Words of a reply that is not whole
    /// are lost.
    pub(crate) fn finish(mut self, outcome: RunOutcome) -> Vec<Event> {
        for at in (0..self.calls.len()).rev() {
            self.end(at, false);
        }
        let waits = !self.calls.is_empty();
        let outcome = if waits { RunOutcome::Waiting } else { outcome };
        let failed = matches!(outcome, RunOutcome::Failed | RunOutcome::Limit);
        let error = failed.then(|| ErrorInfo::new(Code::Unavailable, "the model is not there"));
        self.bodies.push(EventBody::RunFinished {
            outcome,
            output: Arc::new(RunOutput {
                status: outcome,
                answer: String::new(),
                suggested_actions: Vec::new(),
                error,
            }),
        });
        let events = numbered(&format!("run_{}", self.run), self.bodies);
        let mut order = EventOrder::new(Watched::Live);
        for event in &events {
            order.event(event).unwrap();
        }
        order.end().unwrap();
        events
    }
}

/// A whole run.
pub(crate) fn run(number: u32, steps: &[Step], outcome: RunOutcome) -> Vec<Event> {
    let mut writer = Writer::new(number, None);
    steps.iter().for_each(|step| writer.step(step));
    writer.finish(outcome)
}

/// What waits at the end of some events.
pub(crate) fn waiting(events: &[Event]) -> Vec<(CallId, InterruptId)> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Interrupt(interrupt) => Some((interrupt.call.clone(), interrupt.id.clone())),
            _ => None,
        })
        .collect()
}

pub(crate) fn outcomes() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![
        Just(RunOutcome::Success),
        Just(RunOutcome::Failed),
        Just(RunOutcome::Cancelled),
        Just(RunOutcome::Limit),
        // Nothing that waits is known: the encoder must not end it with an empty list.
        Just(RunOutcome::Waiting),
    ]
}
