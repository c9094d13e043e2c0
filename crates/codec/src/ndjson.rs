//! Events as NDJSON lines: one event, one line, so that `seq` has no gaps while a run is live.

use outfitter_core::{ApprovalScope, Event, EventBody, Interrupt, InterruptKind};
use serde::Serialize;

use crate::EncodeError;
use crate::approval::scopes;
use crate::json::append_line;
use crate::wire::{self, Body, Line, Seconds, Tag};

/// Appends the line of `event`, with its line feed, to `out`.
///
/// The line borrows its texts and values from the event; a caller that reuses `out` pays for no
/// allocation once the buffer has grown to its longest line.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_event(event: &Event, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match &event.body {
        EventBody::RunStarted(started) => line(event, wire::RunStarted::from(started), out),
        EventBody::Delta {
            message_id,
            kind,
            text,
            tool_call_id,
        } => line(
            event,
            wire::Delta {
                message_id: message_id.as_str(),
                kind: (*kind).into(),
                text,
                tool_call_id: tool_call_id.as_ref().map(AsRef::as_ref),
            },
            out,
        ),
        EventBody::Message(message) => {
            let message = wire::Message::from(&**message);
            line(event, wire::MessageLine { message }, out)
        }
        EventBody::ToolCall {
            tool_call_id,
            tool_name,
            arguments,
        } => line(
            event,
            wire::ToolCallLine {
                tool_call_id: tool_call_id.as_str(),
                tool_name,
                arguments,
            },
            out,
        ),
        EventBody::ToolProgress {
            tool_call_id,
            text,
            stream,
            closed,
            dropped_bytes,
        } => line(
            event,
            wire::ToolProgress {
                tool_call_id: tool_call_id.as_str(),
                text,
                stream: (*stream).into(),
                closed: *closed,
                dropped_bytes: *dropped_bytes,
            },
            out,
        ),
        EventBody::Interrupt(interrupt) => interrupted(event, interrupt, out),
        EventBody::Answered { interrupt } => {
            let interrupt_id = interrupt.as_str();
            line(event, wire::Answered { interrupt_id }, out)
        }
        EventBody::Warning { code, message } => {
            let code = (*code).into();
            line(event, wire::Warning { code, message }, out)
        }
        EventBody::Usage(usage) => line(event, wire::Usage::from(*usage), out),
        EventBody::RunFinished { outcome, output } => line(
            event,
            wire::RunFinished {
                outcome: (*outcome).into(),
                output: wire::RunOutput::from(&**output),
            },
            out,
        ),
    }
}

fn interrupted(event: &Event, interrupt: &Interrupt, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let id = interrupt.id.as_str();
    let tool_call_id = interrupt.call.as_str();
    let expires_at = Seconds::from(interrupt.expires);
    match &interrupt.kind {
        InterruptKind::Question {
            question,
            choices,
            questionnaire,
            ..
        } => line(
            event,
            wire::Question {
                question_id: id,
                tool_call_id,
                question,
                schema: interrupt.schema.as_ref(),
                choices,
                questionnaire: questionnaire.as_deref().map(wire::Form::from),
                audience: wire::Audience::from(&interrupt.audience),
                expires_at,
            },
            out,
        ),
        InterruptKind::Approval { reason } => line(
            event,
            wire::Approval {
                approval_id: id,
                tool_call_id,
                reason,
                scopes: &scopes(interrupt)
                    .map(ApprovalScope::as_str)
                    .collect::<Vec<_>>(),
                expires_at,
            },
            out,
        ),
        InterruptKind::Delay => line(
            event,
            wire::Waiting {
                interrupt_id: id,
                tool_call_id,
                reason: wire::WaitReason::Delay,
                what: None,
                expires_at,
            },
            out,
        ),
        InterruptKind::Remote { what } => line(
            event,
            wire::Waiting {
                interrupt_id: id,
                tool_call_id,
                reason: wire::WaitReason::Remote,
                what: Some(what),
                expires_at,
            },
            out,
        ),
    }
}

fn line<B: Body + Serialize>(event: &Event, body: B, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let via = event.via.as_ref();
    let line = Line {
        tag: Tag::default(),
        seq: event.seq.0,
        ts: event.at.into(),
        run_id: event.run.as_str(),
        session_id: event.session.as_str(),
        agent_id: via.map(|via| via.agent.as_str()),
        parent_run_id: via.map(|via| via.parent_run.as_str()),
        parent_tool_call_id: via.map(|via| via.parent_call.as_str()),
        body,
    };
    append_line("an event", &line, out)
}
