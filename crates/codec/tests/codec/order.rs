//! The order of events, and what breaks it.

use outfitter_codec::{EventOrder, OrderFault, OrderFaultKind, Watched, check_lines};
use outfitter_core::{
    Code, Durability, ErrorInfo, Event, EventBody, EventSeq, MessageId, RunId, RunOutcome,
    SessionId, Stream,
};
use proptest::prelude::*;
use rstest::rstest;

use crate::samples::{call, lines, run, waiting_run};

/// Both readers, which must agree.
fn check(watched: Watched, events: &[Event]) -> Result<(), OrderFault> {
    let by_line = check_lines(watched, &lines(events));
    let mut order = EventOrder::new(watched);
    let by_event = events
        .iter()
        .try_for_each(|event| order.event(event))
        .and_then(|()| order.end());
    assert_eq!(by_event, by_line);
    by_event
}

fn renumber(events: &mut [Event]) {
    for (event, seq) in events.iter_mut().zip(1..) {
        event.seq = EventSeq(seq);
    }
}

fn progress(text: &str, closed: bool, dropped_bytes: u64) -> EventBody {
    EventBody::ToolProgress {
        tool_call_id: call("call_1"),
        text: text.to_owned(),
        stream: Stream::Stdout,
        closed,
        dropped_bytes,
    }
}

#[test]
fn a_sound_run_passes() {
    assert_eq!(check(Watched::Live, &run()), Ok(()));
    assert_eq!(check(Watched::Live, &waiting_run()), Ok(()));
}

#[test]
fn a_replay_has_gaps_and_nothing_ephemeral() {
    let mut events = run();
    let fault = check(Watched::Replayed, &events).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::EphemeralReplayed);
    events.retain(|event| event.body.durability() == Durability::Durable);
    assert_eq!(check(Watched::Replayed, &events), Ok(()));
    let fault = check(Watched::Live, &events).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::Seq { expected: 3 });
}

#[test]
fn runs_of_one_stream_are_checked_each_by_itself() {
    let (mut one, mut other) = (run(), waiting_run());
    let (last, end) = (one.pop().unwrap(), other.pop().unwrap());
    let mixed: Vec<Event> = one.into_iter().chain(other).chain([last, end]).collect();
    assert_eq!(check_lines(Watched::Live, &lines(&mixed)), Ok(()));
    let fault = check_lines(Watched::Live, &lines(&mixed[..mixed.len() - 1])).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::NotFinished);
}

/// One change to the sound run, and the rule it breaks.
#[rstest]
#[case::begins_late(|e: &mut Vec<Event>| { e.remove(0); }, OrderFaultKind::NotStarted)]
#[case::begins_twice(|e: &mut Vec<Event>| { let s = e[0].clone(); e.insert(1, s); }, OrderFaultKind::StartedTwice)]
#[case::never_ends(|e: &mut Vec<Event>| { e.pop(); }, OrderFaultKind::NotFinished)]
#[case::goes_on(|e: &mut Vec<Event>| { let w = e[3].clone(); e.push(w); }, OrderFaultKind::AfterFinish)]
#[case::ends_twice(|e: &mut Vec<Event>| { let f = e[11].clone(); e.push(f); }, OrderFaultKind::AfterFinish)]
#[case::other_session(|e: &mut Vec<Event>| e[2].session = SessionId::new("other").unwrap(), OrderFaultKind::OtherRun)]
#[case::empty_delta(|e: &mut Vec<Event>| delta(&mut e[2], "msg_2", ""), OrderFaultKind::EmptyDelta)]
#[case::late_delta(|e: &mut Vec<Event>| delta(&mut e[9], "msg_2", "x"), OrderFaultKind::DeltaAfterMessage { message: "msg_2".to_owned() })]
#[case::message_twice(|e: &mut Vec<Event>| { let m = e[4].clone(); e.insert(5, m); }, OrderFaultKind::MessageTwice { message: "msg_2".to_owned() })]
#[case::call_not_told(|e: &mut Vec<Event>| { e.remove(5); }, OrderFaultKind::UnknownCall { call: "call_1".to_owned() })]
#[case::call_told_twice(|e: &mut Vec<Event>| { let c = e[5].clone(); e.insert(6, c); }, OrderFaultKind::CallTwice { call: "call_1".to_owned() })]
#[case::call_told_late(|e: &mut Vec<Event>| e.swap(5, 6), OrderFaultKind::UnknownCall { call: "call_1".to_owned() })]
#[case::not_closed(|e: &mut Vec<Event>| { e.remove(7); }, OrderFaultKind::NotClosed { call: "call_1".to_owned() })]
#[case::closed_late(|e: &mut Vec<Event>| e.swap(7, 8), OrderFaultKind::NotClosed { call: "call_1".to_owned() })]
#[case::closed_twice(|e: &mut Vec<Event>| { let c = e[7].clone(); e.insert(8, c); }, OrderFaultKind::AfterClosed { call: "call_1".to_owned() })]
#[case::printed_after_closed(|e: &mut Vec<Event>| e.swap(6, 7), OrderFaultKind::ClosedUnopened { call: "call_1".to_owned() })]
#[case::printed_after_result(|e: &mut Vec<Event>| { let p = e[6].clone(); e.insert(9, p); }, OrderFaultKind::AfterClosed { call: "call_1".to_owned() })]
#[case::closed_with_text(|e: &mut Vec<Event>| e[7].body = progress("x", true, 0), OrderFaultKind::ClosingText { call: "call_1".to_owned() })]
#[case::printed_nothing(|e: &mut Vec<Event>| e[6].body = progress("", false, 0), OrderFaultKind::ClosingText { call: "call_1".to_owned() })]
#[case::no_result(|e: &mut Vec<Event>| { e.remove(8); }, OrderFaultKind::NoResult { call: "call_1".to_owned() })]
fn a_broken_rule_is_named(#[case] change: fn(&mut Vec<Event>), #[case] rule: OrderFaultKind) {
    let mut events = run();
    change(&mut events);
    renumber(&mut events);
    assert_eq!(check(Watched::Live, &events).unwrap_err().kind, rule);
}

fn delta(event: &mut Event, of: &str, add: &str) {
    let EventBody::Delta {
        message_id, text, ..
    } = &mut event.body
    else {
        panic!("a delta is expected there");
    };
    *message_id = MessageId::new(of).unwrap();
    *text = add.to_owned();
}

#[test]
fn a_second_result_of_a_call_is_a_fault() {
    let mut events = run();
    let mut again = events[8].clone();
    let EventBody::Message(message) = &mut again.body else {
        panic!("a message is expected there");
    };
    std::sync::Arc::make_mut(message).id = MessageId::new("msg_9").unwrap();
    events.insert(9, again);
    renumber(&mut events);
    let call = "call_1".to_owned();
    let fault = check(Watched::Live, &events).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::ResultTwice { call });
}

#[test]
fn where_all_progress_was_dropped_the_closing_event_says_so() {
    let mut events = run();
    events.remove(6);
    events[6].body = progress("", true, 6);
    renumber(&mut events);
    assert_eq!(check(Watched::Live, &events), Ok(()));
}

#[test]
fn what_was_lost_at_the_end_of_a_stream_is_said_before_the_closing_event() {
    let mut events = run();
    let mut lost = events[6].clone();
    lost.body = progress("", false, 9);
    events.insert(7, lost);
    renumber(&mut events);
    assert_eq!(check(Watched::Live, &events), Ok(()));
}

#[test]
fn only_a_waiting_run_ends_with_a_call_that_waits() {
    let mut events = waiting_run();
    let end = run().pop().unwrap();
    events.last_mut().unwrap().body = end.body;
    let call = "call_2".to_owned();
    let fault = check(Watched::Live, &events).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::NoResult { call });
}

/// Its process died; whoever came next wrote its end, and ends the call in a run that resumes it.
#[test]
fn a_run_that_broke_off_may_leave_a_call_open() {
    let mut events = run();
    events.drain(6..=10);
    renumber(&mut events);
    let fault = check(Watched::Replayed, &events[..2]).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::NotFinished);
    let EventBody::RunFinished { outcome, output } = &mut events[6].body else {
        panic!("an end is expected there");
    };
    *outcome = RunOutcome::Failed;
    let output = std::sync::Arc::make_mut(output);
    output.status = RunOutcome::Failed;
    output.error = Some(ErrorInfo::new(Code::Failed, "the run failed"));
    events.remove(2);
    let call = "call_1".to_owned();
    let fault = check(Watched::Replayed, &events).unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::NoResult { call });
    let EventBody::RunFinished { output, .. } = &mut events[5].body else {
        panic!("an end is expected there");
    };
    std::sync::Arc::make_mut(output).error =
        Some(ErrorInfo::new(Code::Interrupted, "the run broke off"));
    assert_eq!(check(Watched::Replayed, &events), Ok(()));
}

#[test]
fn a_run_that_resumes_ends_the_call_that_waited() {
    let mut events = run();
    let EventBody::RunStarted(started) = &mut events[0].body else {
        panic!("a start is expected there");
    };
    started.resumes = Some(RunId::new("run_0").unwrap());
    events.drain(1..=7);
    renumber(&mut events);
    assert_eq!(check(Watched::Live, &events), Ok(()));
}

#[test]
fn what_is_no_line_is_said_to_be_none() {
    for text in ["", "{}", "not json", "null", "[1]"] {
        let fault = EventOrder::new(Watched::Live).line(text).unwrap_err();
        assert_eq!(fault.kind, OrderFaultKind::NotALine, "{text}");
    }
    let fault = check_lines(Watched::Live, "").unwrap_err();
    assert_eq!(fault.kind, OrderFaultKind::NotFinished);
}

#[test]
fn a_fault_reads_as_a_sentence() {
    let mut events = run();
    events[4].seq = EventSeq(6);
    let fault = check(Watched::Live, &events).unwrap_err();
    assert_eq!(
        fault.to_string(),
        r#"event 6 of run "run_1": seq should be 5"#
    );
}

proptest! {
    /// Any two events in the wrong place are found, but for those that may stand anywhere.
    #[test]
    fn a_run_with_an_event_lost_is_never_sound(lost in 0..12usize) {
        let mut events = run();
        events.remove(lost);
        prop_assert!(check(Watched::Live, &events).is_err());
    }
}
