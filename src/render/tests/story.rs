//! Runs told event by event.

use std::sync::Arc;

use outfitter_core::{
    CallId, DeltaKind, ErrorInfo, Event, EventBody, EventSeq, Message, MessageId, MessageRole,
    Mode, Part, RunId, RunOutcome, RunOutput, RunStarted, SandboxSummary, SessionId, Status,
    Stream, TokenUsage, ToolCall, ToolOutput, UnixMs,
};
use serde_json::{Value, json};

use crate::render::{Colour, Detail, Face, Renderer, To, View};

pub(super) const TERMINAL: Face = Face {
    terminal: true,
    colour: Colour::Off,
    width: Some(72),
};

/// A run that is told event by event, fifty milliseconds apart.
pub(super) struct Story {
    renderer: Renderer,
    seq: u64,
    pub(super) data: String,
    pub(super) people: String,
    pub(super) both: String,
}

impl Story {
    pub(super) fn new(view: View) -> Self {
        Self {
            renderer: Renderer::new(view),
            seq: 0,
            data: String::new(),
            people: String::new(),
            both: String::new(),
        }
    }

    pub(super) fn watched() -> Self {
        Self::new(View::live(TERMINAL, TERMINAL, Detail::Calm))
    }

    pub(super) fn tell(&mut self, body: EventBody) -> &mut Self {
        self.seq += 1;
        let event = Event {
            seq: EventSeq(self.seq),
            at: UnixMs(1_700_000_000_000 + self.seq * 50),
            session: SessionId::new("cli").unwrap(),
            run: RunId::new("run_1").unwrap(),
            via: None,
            body,
        };
        for piece in self.renderer.event(&event) {
            self.both.push_str(&piece.text);
            match piece.to {
                To::Data => self.data.push_str(&piece.text),
                To::People => self.people.push_str(&piece.text),
            }
        }
        self
    }

    pub(super) fn started(&mut self) -> &mut Self {
        self.tell(EventBody::RunStarted(RunStarted {
            resumes: None,
            model: Some("openai/gpt-5".to_owned()),
            mode: Mode::Agent,
            tools: ["grep".to_owned(), "file_read".to_owned()].into(),
            skills: Vec::new(),
            sandbox: SandboxSummary {
                backend: "local".to_owned(),
                level: "full".to_owned(),
            },
            workflow: None,
            client_run: None,
        }))
    }

    pub(super) fn delta(&mut self, kind: DeltaKind, text: &str) -> &mut Self {
        self.tell(EventBody::Delta {
            message_id: message_id(),
            kind,
            text: text.to_owned(),
            tool_call_id: None,
        })
    }

    pub(super) fn says(&mut self, pieces: &[&str]) -> &mut Self {
        for piece in pieces {
            self.delta(DeltaKind::Text, piece);
        }
        let whole = pieces.concat();
        self.message(vec![Part::Text { text: whole }])
    }

    pub(super) fn message(&mut self, parts: Vec<Part>) -> &mut Self {
        self.tell(EventBody::Message(assistant(parts)))
    }

    pub(super) fn call(&mut self, id: &str, tool: &str, arguments: Value) -> &mut Self {
        self.tell(EventBody::ToolCall {
            tool_call_id: CallId::new(id).unwrap(),
            tool_name: tool.to_owned(),
            arguments,
        })
    }

    pub(super) fn prints(&mut self, id: &str, stream: Stream, text: &str) -> &mut Self {
        self.progress(id, stream, text, 0)
    }

    pub(super) fn progress(
        &mut self,
        id: &str,
        stream: Stream,
        text: &str,
        dropped: u64,
    ) -> &mut Self {
        self.tell(EventBody::ToolProgress {
            tool_call_id: CallId::new(id).unwrap(),
            text: text.to_owned(),
            stream,
            closed: text.is_empty() && dropped == 0,
            dropped_bytes: dropped,
        })
    }

    pub(super) fn ends(&mut self, id: &str, tool: &str, result: Value) -> &mut Self {
        self.tell(EventBody::Message(answer(output(
            id,
            tool,
            Some(result),
            None,
        ))))
    }

    pub(super) fn refused(&mut self, id: &str, tool: &str, error: ErrorInfo) -> &mut Self {
        self.tell(EventBody::Message(answer(output(
            id,
            tool,
            None,
            Some(error),
        ))))
    }

    pub(super) fn finished(&mut self, answer: &str) -> &mut Self {
        self.tell(EventBody::Usage(TokenUsage {
            input_tokens: 1234,
            output_tokens: 56,
            cache_read_tokens: 1000,
            ..TokenUsage::default()
        }));
        self.tell(EventBody::RunFinished {
            outcome: RunOutcome::Success,
            output: Arc::new(RunOutput {
                status: RunOutcome::Success,
                answer: answer.to_owned(),
                suggested_actions: Vec::new(),
                error: None,
            }),
        })
    }
}

pub(super) fn message_id() -> MessageId {
    MessageId::new("msg_1").unwrap()
}

pub(super) fn assistant(parts: Vec<Part>) -> Arc<Message> {
    Arc::new(Message {
        id: message_id(),
        role: MessageRole::Assistant,
        parts,
        output: None,
    })
}

pub(super) fn calls(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId::new(id).unwrap(),
        name: name.to_owned(),
        arguments: arguments.into(),
    })
}

pub(super) fn output(
    id: &str,
    tool: &str,
    result: Option<Value>,
    error: Option<ErrorInfo>,
) -> ToolOutput {
    ToolOutput {
        tool_name: tool.to_owned(),
        resolved: None,
        tool_call_id: CallId::new(id).unwrap(),
        tool_call_args: json!({}),
        status: error
            .as_ref()
            .map_or(Status::Success, |error| Status::of(error.code)),
        result,
        error,
        ui_hints: None,
        artifacts: Vec::new(),
        truncated: None,
    }
}

pub(super) fn answer(output: ToolOutput) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId::new("msg_tool").unwrap(),
        role: MessageRole::Tool,
        parts: vec![Part::Text {
            text: output.projection().0,
        }],
        output: Some(Arc::new(output)),
    })
}
