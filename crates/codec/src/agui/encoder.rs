//! One run, event by event, as AG-UI.

use std::collections::HashMap;

use outfitter_core::{
    CallId, Code, ErrorInfo, Event, EventBody, Message, MessageRole, RunId, RunOutcome, RunOutput,
    UnixMs,
};
use serde_json::{Value, json};

use super::arguments::{pieces, shown_text};
use super::event::{AGUI_VERSION, AguiBody, AguiEvent, AguiOutcome, CustomValue};
use super::input::{ClientEra, RunAgentInput};
use super::interrupt;
use super::progress::{Printed, Printing};
use super::result::{self, Outfitter, RunMetadata};
use super::texts::{Ended, Texts};
use super::transcript::Transcript;
use super::usage::Used;
use crate::wire;

/// What a client calls a run, and what it can read.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFrame {
    /// The session.
    pub thread: String,
    /// The run, by the client's own id.
    pub run: String,
    /// The run that the client named as its parent.
    pub parent_run: Option<String>,
    /// What the client can read.
    pub era: ClientEra,
    /// The client's state, which is given back as it came.
    pub state: Value,
}

impl From<&RunAgentInput> for RunFrame {
    fn from(input: &RunAgentInput) -> Self {
        Self {
            thread: input.thread.to_string(),
            run: input.run.clone(),
            parent_run: input.parent_run.clone(),
            era: input.era,
            state: input.state.clone(),
        }
    }
}

/// Turns the events of one run into AG-UI events.
///
/// The client has exactly one terminal event from it, whatever events it is given: those of
/// [`EventBody::RunFinished`], or the one of [`AguiEncoder::finish_abruptly`]. Before it, whatever
/// is open is closed; after it, nothing comes. Events of sub-agents, and of other runs, are passed
/// over: what they did is in the result of the call that delegated to them.
#[derive(Debug)]
pub struct AguiEncoder {
    frame: RunFrame,
    history: Transcript,
    /// Calls that a client knows and that have no result, with their names.
    told: HashMap<CallId, String>,
    texts: Texts,
    printing: Printing,
    used: Used,
    run: Option<RunId>,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    Over,
}

impl AguiEncoder {
    /// An encoder for a run. `history` is the session before it: it says which calls the client
    /// knows already, what waits, and what a snapshot holds.
    #[must_use]
    pub fn new(frame: RunFrame, history: Transcript) -> Self {
        Self {
            frame,
            told: history.open_calls().clone(),
            history,
            texts: Texts::default(),
            printing: Printing::default(),
            used: Used::default(),
            run: None,
            stage: Stage::New,
        }
    }

    /// Whether the terminal event was given.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Takes the next event of the run, and appends what a client is told of it.
    pub fn event(&mut self, event: &Event, out: &mut Vec<AguiEvent>) {
        if self.is_over() || event.via.is_some() {
            return;
        }
        let ours = self.run.get_or_insert_with(|| event.run.clone());
        if *ours != event.run {
            return;
        }
        let mut bodies = Vec::new();
        self.step(event, &mut bodies);
        stamp(event.at, bodies, out);
    }

    /// Tells the conversation as it stands, for a client that may have missed some of it. Nothing
    /// after the terminal event.
    pub fn resynchronise(&mut self, at: UnixMs, out: &mut Vec<AguiEvent>) {
        if self.is_over() {
            return;
        }
        let mut bodies = Vec::new();
        self.begin(None, &mut bodies);
        self.snapshot(&mut bodies);
        stamp(at, bodies, out);
    }

    /// Ends a run that has no end of its own: what it did could not be recorded, or whoever ran it
    /// is gone. Does nothing after the terminal event.
    pub fn finish_abruptly(&mut self, error: &ErrorInfo, at: UnixMs, out: &mut Vec<AguiEvent>) {
        if self.is_over() {
            return;
        }
        let mut bodies = Vec::new();
        self.begin(None, &mut bodies);
        self.close(&mut bodies);
        self.fail(error, &mut bodies);
        stamp(at, bodies, out);
    }

    fn step(&mut self, event: &Event, out: &mut Vec<AguiBody>) {
        if let EventBody::RunStarted(started) = &event.body {
            if let Some(model) = &started.model {
                self.used.model(model);
            }
            let metadata = RunMetadata::new(event.run.as_str(), started);
            self.begin(Some(metadata), out);
            return;
        }
        self.begin(None, out);
        match &event.body {
            EventBody::RunStarted(_) => {}
            EventBody::Delta {
                message_id,
                kind,
                text,
                ..
            } => self.texts.delta(message_id, *kind, text, out),
            EventBody::Message(message) => self.message(message, &event.body, out),
            EventBody::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
            } => {
                self.history.apply(&event.body);
                self.call(tool_call_id, tool_name, arguments, out);
            }
            EventBody::ToolProgress {
                tool_call_id,
                text,
                stream,
                closed,
                dropped_bytes,
            } => {
                let piece = Printed {
                    text,
                    stream: *stream,
                    closed: *closed,
                    dropped: *dropped_bytes,
                };
                if let Some(name) = self.told.get(tool_call_id) {
                    self.printing.printed(tool_call_id, name, piece, out);
                }
            }
            EventBody::Interrupt(interrupt) => {
                self.history.apply(&event.body);
                self.printing.over(&interrupt.call, out);
            }
            EventBody::Answered { interrupt } => {
                self.history.apply(&event.body);
                let interrupt_id = interrupt.to_string();
                out.push(CustomValue::Answered { interrupt_id }.into());
            }
            EventBody::Warning { code, message } => {
                let code = serde_json::to_value(wire::WarningCode::from(*code));
                let told = CustomValue::Warning {
                    code: code.unwrap_or_default(),
                    message: message.clone(),
                };
                out.push(told.into());
            }
            EventBody::Usage(usage) => {
                let used = self.used.add(*usage);
                out.push(CustomValue::Usage(used).into());
            }
            EventBody::RunFinished { outcome, output } => {
                self.close(out);
                self.finish(*outcome, output, out);
            }
        }
    }

    fn begin(&mut self, metadata: Option<RunMetadata>, out: &mut Vec<AguiBody>) {
        if self.stage != Stage::New {
            return;
        }
        self.stage = Stage::Running;
        out.push(AguiBody::RunStarted {
            thread_id: self.frame.thread.clone(),
            run_id: self.frame.run.clone(),
            protocol_version: match self.frame.era {
                ClientEra::One => Some(AGUI_VERSION),
                ClientEra::Before => None,
            },
            parent_run_id: self.frame.parent_run.clone(),
            metadata: metadata.map(|outfitter| Outfitter { outfitter }),
        });
    }

    fn message(&mut self, message: &Message, body: &EventBody, out: &mut Vec<AguiBody>) {
        match (message.role, &message.output) {
            (MessageRole::Assistant, _) => {
                self.history.apply(body);
                let ended = self.texts.whole(&message.id, &message.content(), out);
                if ended == Ended::Differs {
                    self.messages(out);
                }
            }
            (MessageRole::Tool, Some(output)) => {
                // A result of a call that nobody told of is told with its call.
                let (id, name) = (&output.tool_call_id, &output.tool_name);
                if !self.told.contains_key(id) {
                    let arguments = &output.tool_call_args;
                    self.history.apply(&EventBody::ToolCall {
                        tool_call_id: id.clone(),
                        tool_name: name.clone(),
                        arguments: arguments.clone(),
                    });
                    self.call(id, name, arguments, out);
                }
                self.history.apply(body);
                self.told.remove(id);
                self.printing.over(id, out);
                let (content, metadata) = result::told(output, message.content());
                out.push(AguiBody::ToolCallResult {
                    message_id: message.id.to_string(),
                    tool_call_id: id.to_string(),
                    content,
                    role: "tool",
                    metadata,
                });
            }
            // The client has the person's words already; the application's are for the model.
            (MessageRole::User | MessageRole::System | MessageRole::Tool, _) => {
                self.history.apply(body);
            }
        }
    }

    /// A call begins. One that the client knows of is not told again: a client would add the
    /// arguments to those it has.
    fn call(&mut self, call: &CallId, name: &str, arguments: &Value, out: &mut Vec<AguiBody>) {
        if self.told.contains_key(call) {
            return;
        }
        self.told.insert(call.clone(), name.to_owned());
        let tool_call_id = call.to_string();
        out.push(AguiBody::ToolCallStart {
            tool_call_id: tool_call_id.clone(),
            tool_call_name: name.to_owned(),
            parent_message_id: self.history.parent(call).map(|asked| asked.id.to_string()),
        });
        out.extend(
            pieces(&shown_text(arguments)).map(|piece| AguiBody::ToolCallArgs {
                tool_call_id: tool_call_id.clone(),
                delta: piece.to_owned(),
            }),
        );
        out.push(AguiBody::ToolCallEnd { tool_call_id });
    }

    fn close(&mut self, out: &mut Vec<AguiBody>) {
        self.texts.end_all(out);
        self.printing.end_all(out);
    }

    fn snapshot(&self, out: &mut Vec<AguiBody>) {
        out.push(AguiBody::StateSnapshot {
            snapshot: self.frame.state.clone(),
        });
        self.messages(out);
    }

    fn messages(&self, out: &mut Vec<AguiBody>) {
        let snapshot = self.history.snapshot();
        if snapshot.omitted > 0 {
            let omitted_messages = snapshot.omitted;
            out.push(CustomValue::SnapshotCut { omitted_messages }.into());
        }
        out.push(AguiBody::MessagesSnapshot {
            messages: snapshot.messages,
        });
    }

    fn finish(&mut self, outcome: RunOutcome, output: &RunOutput, out: &mut Vec<AguiBody>) {
        let error = |code, message: &str| {
            let told = output.error.clone();
            told.unwrap_or_else(|| ErrorInfo::new(code, message))
        };
        match outcome {
            RunOutcome::Success => self.end(AguiOutcome::Success, Some(given(output)), out),
            RunOutcome::Waiting => self.wait(out),
            RunOutcome::Cancelled => match self.frame.era {
                ClientEra::One => self.end(AguiOutcome::Cancelled, None, out),
                ClientEra::Before => {
                    let message = "the run was cancelled";
                    self.fail(&ErrorInfo::new(Code::Cancelled, message), out);
                }
            },
            RunOutcome::Failed => self.fail(&error(Code::Internal, "the run failed"), out),
            RunOutcome::Limit => {
                let mut error = error(Code::Limit, "a limit of the run is used up");
                error.code = Code::Limit;
                self.fail(&error, out);
            }
        }
    }

    fn wait(&mut self, out: &mut Vec<AguiBody>) {
        let interrupts: Vec<_> = self
            .history
            .waiting()
            .iter()
            .map(|waiting| interrupt::told(waiting))
            .collect();
        if interrupts.is_empty() {
            let message = "the run waits for something that is not known";
            self.fail(&ErrorInfo::new(Code::Internal, message), out);
            return;
        }
        self.snapshot(out);
        self.end(AguiOutcome::Interrupt { interrupts }, None, out);
    }

    fn end(&mut self, outcome: AguiOutcome, result: Option<Value>, out: &mut Vec<AguiBody>) {
        self.stage = Stage::Over;
        out.push(AguiBody::RunFinished {
            thread_id: self.frame.thread.clone(),
            run_id: self.frame.run.clone(),
            result,
            outcome,
            usage: self.used.total(),
        });
    }

    fn fail(&mut self, error: &ErrorInfo, out: &mut Vec<AguiBody>) {
        self.stage = Stage::Over;
        out.push(AguiBody::RunError {
            message: error.message.clone(),
            code: error.code.to_string(),
            usage: self.used.total(),
            metadata: error.into(),
        });
    }
}

fn given(output: &RunOutput) -> Value {
    serde_json::to_value(wire::RunOutput::from(output)).unwrap_or_else(|_| json!({}))
}

fn stamp(at: UnixMs, bodies: Vec<AguiBody>, out: &mut Vec<AguiEvent>) {
    out.extend(bodies.into_iter().map(|body| AguiEvent {
        body,
        timestamp: at.0,
    }));
}
