//! A run as the documents tell it, and one event of every kind with everything said that can be.

mod every;
mod run;

use std::sync::Arc;

use outfitter_core::{
    CallId, Event, EventBody, EventSeq, Message, MessageId, MessageRole, Part, RunId, SessionId,
    SubagentRef, ToolOutput, UnixMs,
};

pub(crate) use every::{every_kind, full_error, full_output};
pub(crate) use run::{run, waiting_run};

/// The lines of some events.
pub(crate) fn lines(events: &[Event]) -> String {
    let mut out = Vec::new();
    for event in events {
        outfitter_codec::encode_event(event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// Numbers some bodies as one run.
pub(crate) fn numbered(run: &str, bodies: Vec<EventBody>) -> Vec<Event> {
    bodies
        .into_iter()
        .zip(1..)
        .map(|(body, seq)| Event {
            seq: EventSeq(seq),
            at: UnixMs(1_767_225_600_000 + seq * 125),
            session: SessionId::new("cli").unwrap(),
            run: RunId::new(run).unwrap(),
            via: None,
            body,
        })
        .collect()
}

pub(crate) fn via() -> SubagentRef {
    SubagentRef {
        agent: "researcher".to_owned(),
        parent_run: RunId::new("run_1").unwrap(),
        parent_call: call("call_1"),
    }
}

pub(crate) fn call(id: &str) -> CallId {
    CallId::new(id).unwrap()
}

pub(crate) fn message(id: &str, role: MessageRole, parts: Vec<Part>) -> EventBody {
    EventBody::Message(Arc::new(Message {
        id: MessageId::new(id).unwrap(),
        role,
        parts,
        output: None,
    }))
}

/// The message of a call's end, as the pipeline makes it.
pub(crate) fn answer(id: &str, output: ToolOutput) -> EventBody {
    let text = output.projection().0;
    EventBody::Message(Arc::new(Message {
        id: MessageId::new(id).unwrap(),
        role: MessageRole::Tool,
        parts: vec![Part::Text { text }],
        output: Some(Arc::new(output)),
    }))
}
