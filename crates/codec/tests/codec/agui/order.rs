//! Whatever a run does and wherever it breaks off, a client can read what it is told.

use std::sync::LazyLock;

use jsonschema::Validator;
use outfitter_codec::agui::{
    AguiEncoder, AguiEvent, AguiOrder, ClientEra, Transcript, check_agui_events,
};
use outfitter_core::{Code, Durability, ErrorInfo, Event, UnixMs};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::Client;
use super::story::{Writer, outcomes, run, steps, waiting};
use super::{encoded, frame, history, on_the_wire};
use crate::schemas::closed;

/// Compiled once: it is asked for every case.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| closed("agui-event.schema.json"));

fn era() -> impl Strategy<Value = ClientEra> {
    prop_oneof![Just(ClientEra::One), Just(ClientEra::Before)]
}

fn durable(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    events.retain(|event| event.body.durability() == Durability::Durable);
    events
}

fn live(run: &str, era: ClientEra, history: Transcript, events: &[Event]) -> Vec<Value> {
    on_the_wire(&encoded(frame(run, era), history, events))
}

/// What a client of these events has, and what a snapshot would give it.
fn snapshot(events: &[Event]) -> Vec<Value> {
    let mut encoder = AguiEncoder::new(frame("r", ClientEra::One), history(events));
    let mut out: Vec<AguiEvent> = Vec::new();
    encoder.resynchronise(UnixMs(1), &mut out);
    Client::of(&on_the_wire(&out)).replies()
}

proptest! {
    #[test]
    fn every_run_is_readable(steps in steps(), outcome in outcomes(), era in era()) {
        let told = live("r", era, Transcript::new(), &run(1, &steps, outcome));
        prop_assert_eq!(check_agui_events(&told), Ok(()), "{:#?}", told);
    }

    #[test]
    fn a_run_that_breaks_off_anywhere_is_readable(
        steps in steps(), outcome in outcomes(), at in 0..60usize,
    ) {
        let events = run(1, &steps, outcome);
        let mut encoder = AguiEncoder::new(frame("r", ClientEra::One), Transcript::new());
        let mut out = Vec::new();
        for event in &events[..at.min(events.len())] {
            encoder.event(event, &mut out);
        }
        let error = ErrorInfo::new(Code::Unavailable, "the log cannot be written");
        encoder.finish_abruptly(&error, UnixMs(2), &mut out);
        prop_assert!(encoder.is_over());
        // Nothing comes after the end, whatever else is told or asked.
        let length = out.len();
        events.iter().for_each(|event| encoder.event(event, &mut out));
        encoder.finish_abruptly(&error, UnixMs(3), &mut out);
        encoder.resynchronise(UnixMs(3), &mut out);
        prop_assert_eq!(out.len(), length);
        let told = on_the_wire(&out);
        prop_assert_eq!(check_agui_events(&told), Ok(()), "{:#?}", told);
    }

    #[test]
    fn a_run_that_takes_up_what_waits_is_readable_after_the_first(
        first in steps(), then in steps(), told_again in any::<bool>(), outcome in outcomes(),
    ) {
        let before = run(1, &first, outcome);
        let mut writer = Writer::new(2, Some(1));
        writer.take_up(&waiting(&before), told_again);
        then.iter().for_each(|step| writer.step(step));
        let after = writer.finish(outcome);
        let mut order = AguiOrder::default();
        for event in live("a", ClientEra::One, Transcript::new(), &before) {
            prop_assert_eq!(order.event(&event), Ok(()));
        }
        for event in live("b", ClientEra::One, history(&durable(&before)), &after) {
            prop_assert_eq!(order.event(&event), Ok(()), "{}", event);
        }
        prop_assert_eq!(order.end(), Ok(()));
    }

    /// Deltas are for the eye: what a client has in the end is the same without them, and the same
    /// as a snapshot gives it.
    #[test]
    fn live_replayed_and_restored_are_the_same(steps in steps()) {
        let mut events = run(1, &steps, outfitter_core::RunOutcome::Success);
        let stored = durable(&events);
        // Words of a reply that was never whole are nowhere but in deltas.
        events.retain(|event| match &event.body {
            outfitter_core::EventBody::Delta { message_id, .. } => stored.iter().any(|kept| {
                matches!(&kept.body, outfitter_core::EventBody::Message(message) if message.id == *message_id)
            }),
            _ => true,
        });
        let restored = snapshot(&stored);
        let shown = Client::of(&live("r", ClientEra::One, Transcript::new(), &events)).replies();
        let replayed = Client::of(&live("r", ClientEra::One, Transcript::new(), &stored)).replies();
        prop_assert_eq!(&replayed, &restored);
        prop_assert_eq!(&shown, &restored);
    }

    #[test]
    fn every_event_fits_its_schema(steps in steps(), outcome in outcomes()) {
        for event in live("r", ClientEra::One, Transcript::new(), &run(1, &steps, outcome)) {
            let faults: Vec<String> = SCHEMA.iter_errors(&event).map(|fault| fault.to_string()).collect();
            prop_assert!(faults.is_empty(), "{} {:?}", event, faults);
        }
    }
}

fn sound() -> Vec<Value> {
    let events = crate::samples::run();
    live("r", ClientEra::One, Transcript::new(), &events)
}

/// A checker that accepts anything would pass every test above.
#[rstest]
#[case::begins_late(|e: &mut Vec<Value>| { e.remove(0); }, "outside a run")]
#[case::begins_twice(|e: &mut Vec<Value>| { let s = e[0].clone(); e.insert(1, s); }, "inside a run")]
#[case::never_ends(|e: &mut Vec<Value>| { e.pop(); }, "no terminal event")]
#[case::ends_twice(|e: &mut Vec<Value>| { let f = e[e.len() - 1].clone(); e.push(f); }, "outside a run")]
#[case::other_run(|e: &mut Vec<Value>| { let last = e.len() - 1; e[last]["runId"] = json!("x"); }, "another id")]
#[case::text_open(|e: &mut Vec<Value>| drop_last(e, "TEXT_MESSAGE_END"), "is open at the end")]
#[case::text_unopened(|e: &mut Vec<Value>| drop_last(e, "TEXT_MESSAGE_START"), "is not open")]
#[case::call_open(|e: &mut Vec<Value>| drop_last(e, "TOOL_CALL_END"), "before its end")]
#[case::half_arguments(|e: &mut Vec<Value>| drop_last(e, "TOOL_CALL_ARGS"), "no JSON object")]
#[case::result_twice(|e: &mut Vec<Value>| { let r = find(e, "TOOL_CALL_RESULT").clone(); e.insert(e.len() - 1, r); }, "two results")]
#[case::activity_open(|e: &mut Vec<Value>| drop_last(e, "ACTIVITY_DELTA"), "is open at the end")]
#[case::null(|e: &mut Vec<Value>| e[0]["parentRunId"] = json!(null), "is null")]
#[case::float_time(|e: &mut Vec<Value>| e[0]["timestamp"] = json!(1.5), "integer")]
#[case::no_namespace(|e: &mut Vec<Value>| { let at = e.iter().position(|e| e["type"] == "CUSTOM").unwrap(); e[at]["name"] = json!("usage"); }, "namespace")]
fn a_broken_rule_is_named(#[case] change: fn(&mut Vec<Value>), #[case] rule: &str) {
    let mut events = sound();
    assert_eq!(check_agui_events(&events), Ok(()));
    change(&mut events);
    let fault = check_agui_events(&events).unwrap_err();
    assert!(fault.to_string().contains(rule), "{fault}");
}

fn drop_last(events: &mut Vec<Value>, kind: &str) {
    let at = events.iter().rposition(|event| event["type"] == kind);
    events.remove(at.unwrap());
}

fn find<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|event| event["type"] == kind).unwrap()
}
