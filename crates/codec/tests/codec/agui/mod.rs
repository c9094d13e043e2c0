//! AG-UI, from outside the crate.

mod bounds;
mod client;
mod encoder;
mod input;
mod oracle;
mod order;
mod resume;
mod story;

use outfitter_codec::agui::{AguiEncoder, AguiEvent, ClientEra, RunFrame, Transcript, sse};
use outfitter_core::Event;
use serde_json::{Value, json};

pub(crate) fn frame(run: &str, era: ClientEra) -> RunFrame {
    RunFrame {
        thread: "cli".to_owned(),
        run: run.to_owned(),
        parent_run: None,
        era,
        state: json!({}),
    }
}

/// The history that the durable ones of some events make.
pub(crate) fn history(events: &[Event]) -> Transcript {
    let mut history = Transcript::new();
    for event in events {
        history.apply(&event.body);
    }
    history
}

pub(crate) fn encoded(frame: RunFrame, history: Transcript, events: &[Event]) -> Vec<AguiEvent> {
    let mut encoder = AguiEncoder::new(frame, history);
    let mut out = Vec::new();
    for event in events {
        encoder.event(event, &mut out);
    }
    out
}

/// The events as they are on the wire.
pub(crate) fn on_the_wire(events: &[AguiEvent]) -> Vec<Value> {
    let values = events.iter().map(serde_json::to_value);
    values.collect::<Result<_, _>>().unwrap()
}

/// The frames of some events.
pub(crate) fn frames(events: &[AguiEvent]) -> String {
    let mut out = Vec::new();
    for event in events {
        sse::encode(event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}
