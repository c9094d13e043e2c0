//! What the order is about, read from an event or from its line.

use outfitter_core::{Code, Event, EventBody, MessageRole, RunOutcome, Status};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Seen {
    pub(super) run: String,
    pub(super) session: String,
    pub(super) seq: u64,
    pub(super) step: Step,
}

#[derive(Debug)]
pub(super) enum Step {
    Started {
        resumes: bool,
    },
    Delta {
        message: String,
        empty: bool,
    },
    Message {
        message: String,
    },
    Result {
        message: String,
        call: String,
        interrupted: bool,
    },
    Call {
        call: String,
    },
    Progress {
        call: String,
        progress: Progress,
    },
    Waits {
        call: String,
    },
    Finished {
        outcome: RunOutcome,
        broke_off: bool,
    },
    Other,
}

#[derive(Debug)]
pub(super) struct Progress {
    pub(super) empty: bool,
    pub(super) closed: bool,
    pub(super) dropped: bool,
}

impl Seen {
    pub(super) fn of_event(event: &Event) -> Self {
        let step = match &event.body {
            EventBody::RunStarted(started) => Step::Started {
                resumes: started.resumes.is_some(),
            },
            EventBody::Delta {
                message_id, text, ..
            } => Step::Delta {
                message: message_id.to_string(),
                empty: text.is_empty(),
            },
            EventBody::Message(message) => match (message.role, &message.output) {
                (MessageRole::Tool, Some(output)) => Step::Result {
                    message: message.id.to_string(),
                    call: output.tool_call_id.to_string(),
                    interrupted: output.status == Status::Interrupted,
                },
                _ => Step::Message {
                    message: message.id.to_string(),
                },
            },
            EventBody::ToolCall { tool_call_id, .. } => Step::Call {
                call: tool_call_id.to_string(),
            },
            EventBody::ToolProgress {
                tool_call_id,
                text,
                closed,
                dropped_bytes,
                ..
            } => Step::Progress {
                call: tool_call_id.to_string(),
                progress: Progress {
                    empty: text.is_empty(),
                    closed: *closed,
                    dropped: *dropped_bytes > 0,
                },
            },
            EventBody::Interrupt(interrupt) => Step::Waits {
                call: interrupt.call.to_string(),
            },
            EventBody::RunFinished { outcome, output } => Step::Finished {
                outcome: *outcome,
                broke_off: output
                    .error
                    .as_ref()
                    .is_some_and(|error| error.code == Code::Interrupted),
            },
            EventBody::Answered { .. } | EventBody::Warning { .. } | EventBody::Usage(_) => {
                Step::Other
            }
        };
        Self {
            run: event.run.to_string(),
            session: event.session.to_string(),
            seq: event.seq.0,
            step,
        }
    }

    pub(super) fn of_line(line: &Value) -> Option<Self> {
        Some(Self {
            run: text(line, "run_id")?,
            session: text(line, "session_id")?,
            seq: line.get("seq")?.as_u64()?,
            step: step(line)?,
        })
    }
}

fn step(line: &Value) -> Option<Step> {
    Some(match line.get("type")?.as_str()? {
        "run_started" => Step::Started {
            resumes: line.get("resumes").is_some(),
        },
        "delta" => Step::Delta {
            message: text(line, "message_id")?,
            empty: text(line, "text")?.is_empty(),
        },
        "message" => {
            let body = line.get("message")?;
            let message = text(body, "id")?;
            if body.get("role")? == MessageRole::Tool.as_str() {
                let status = body.pointer("/metadata/tool_agent_output/status");
                Step::Result {
                    message,
                    call: text(body, "tool_call_id")?,
                    interrupted: status.is_some_and(|word| word == Status::Interrupted.as_str()),
                }
            } else {
                Step::Message { message }
            }
        }
        "tool_call" => Step::Call {
            call: text(line, "tool_call_id")?,
        },
        "tool_progress" => Step::Progress {
            call: text(line, "tool_call_id")?,
            progress: Progress {
                empty: text(line, "text")?.is_empty(),
                closed: line.get("closed")?.as_bool()?,
                dropped: line.get("dropped_bytes").is_some(),
            },
        },
        "question" | "approval" | "waiting" => Step::Waits {
            call: text(line, "tool_call_id")?,
        },
        "run_finished" => Step::Finished {
            outcome: outcome(line.get("outcome")?)?,
            broke_off: line
                .pointer("/output/error/code")
                .is_some_and(|code| code == Code::Interrupted.as_str()),
        },
        // Types are added without a new version; what is not known has no order but its seq.
        _ => Step::Other,
    })
}

fn outcome(word: &Value) -> Option<RunOutcome> {
    serde_json::from_value(word.clone()).ok()
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}
