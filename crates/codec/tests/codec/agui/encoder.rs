//! What clients are told, to the byte.

use std::sync::Arc;

use outfitter_codec::agui::{AguiEncoder, ClientEra, Transcript, sse};
use outfitter_core::{
    ArtifactId, CallId, Code, ErrorInfo, Event, EventBody, InterruptKind, RunOutcome, RunOutput,
    Status, ToolOutput, Truncated, UiHints, UnixMs,
};
use serde_json::{Value, json};

use super::story::{Step, Writer};
use super::{encoded, frame, frames, history, on_the_wire};
use crate::samples::{answer, call, numbered, run, via, waiting_run};
use crate::schemas::{assert_fits, closed};

fn told(era: ClientEra, events: &[Event]) -> String {
    frames(&encoded(
        frame("client-run", era),
        Transcript::new(),
        events,
    ))
}

#[test]
fn a_run_is_told_as_frames_of_one_line() {
    let told = told(ClientEra::One, &run());
    for frame in told.split_terminator("\n\n") {
        assert!(frame.starts_with("data: {\"type\":\"") && !frame.contains('\n'));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_run_that_waits_tells_what_it_waits_for_and_what_is_needed_to_go_on() {
    insta::assert_snapshot!(told(ClientEra::One, &waiting_run()));
}

#[test]
fn a_resumed_run_gives_the_result_of_the_call_and_does_not_tell_it_again() {
    let before = waiting_run();
    let mut events = numbered(
        "run_3",
        vec![
            before[0].body.clone(),
            EventBody::Answered {
                interrupt: outfitter_core::InterruptId::new("int_1").unwrap(),
            },
            before[3].body.clone(),
            answer(
                "msg_7",
                ToolOutput {
                    tool_name: "ask_user".to_owned(),
                    resolved: None,
                    tool_call_id: call("call_2"),
                    tool_call_args: json!({"question": "Which colour?"}),
                    status: Status::Success,
                    result: Some(json!({"answered": true, "answer": "red"})),
                    error: None,
                    ui_hints: None,
                    artifacts: Vec::new(),
                    truncated: None,
                },
            ),
        ],
    );
    events.push(finished(RunOutcome::Success, None, 5));
    events.iter_mut().for_each(|event| event.run = events_run());
    let told = encoded(frame("second", ClientEra::One), history(&before), &events);
    insta::assert_snapshot!(frames(&told));
}

fn events_run() -> outfitter_core::RunId {
    outfitter_core::RunId::new("run_3").unwrap()
}

fn finished(outcome: RunOutcome, error: Option<ErrorInfo>, seq: u64) -> Event {
    let body = EventBody::RunFinished {
        outcome,
        output: Arc::new(RunOutput {
            status: outcome,
            answer: String::new(),
            suggested_actions: Vec::new(),
            error,
        }),
    };
    let mut events = numbered("run_1", vec![body]);
    events[0].seq = outfitter_core::EventSeq(seq);
    events.remove(0)
}

#[test]
fn each_outcome_has_its_one_end() {
    let error = ErrorInfo::new(Code::Unavailable, "the model cannot be reached").with_hint("wait");
    let mut ends = Vec::new();
    for era in [ClientEra::One, ClientEra::Before] {
        for (outcome, error) in [
            (RunOutcome::Success, None),
            (RunOutcome::Cancelled, None),
            (RunOutcome::Failed, Some(error.clone())),
            (RunOutcome::Failed, None),
            (RunOutcome::Limit, None),
            (RunOutcome::Waiting, None),
        ] {
            let events = [run().remove(0), finished(outcome, error, 2)];
            let told = told(era, &events);
            assert_eq!(
                told.matches("RUN_FINISHED").count() + told.matches("RUN_ERROR").count(),
                1
            );
            let last = told.trim_end().rsplit("\n\n").next().unwrap().to_owned();
            ends.push(format!("{era:?} {outcome:?}\n{last}"));
        }
    }
    insta::assert_snapshot!(ends.join("\n"));
}

#[test]
fn thoughts_words_and_calls_are_each_closed_before_the_next_begins() {
    let mut writer = Writer::new(1, None);
    for step in [
        Step::Think("Hm.".to_owned()),
        Step::Say("Let me ".to_owned()),
        Step::Think("More.".to_owned()),
        Step::Say("look.".to_owned()),
        Step::Write("{\"a\": ".to_owned()),
        Step::Reply(vec!["{\"a\": ".to_owned(), "{}".to_owned()]),
        Step::Print(0, "working\n".to_owned(), 0),
        Step::End(1, true),
        Step::End(0, false),
    ] {
        writer.step(&step);
    }
    let told = told(ClientEra::One, &writer.finish(RunOutcome::Success));
    insta::assert_snapshot!(told);
}

/// A client that was told something else is told the conversation as it stands.
#[test]
fn where_a_piece_was_lost_the_conversation_is_told_again() {
    let mut writer = Writer::new(1, None);
    for step in [Step::Lose, Step::Say("b".to_owned()), Step::Reply(vec![])] {
        writer.step(&step);
    }
    let events = writer.finish(RunOutcome::Success);
    let told = on_the_wire(&encoded(
        frame("r", ClientEra::One),
        Transcript::new(),
        &events,
    ));
    let snapshot = told
        .iter()
        .find(|event| event["type"] == "MESSAGES_SNAPSHOT")
        .unwrap();
    assert_eq!(snapshot["messages"][1]["content"], "!b");
}

#[test]
fn the_metadata_of_a_result_says_what_a_model_does_not_read() {
    let artifact = ArtifactId::new("art_1").unwrap();
    let output = ToolOutput {
        tool_name: "project_cli".to_owned(),
        resolved: None,
        tool_call_id: call("call_1"),
        tool_call_args: json!({"x": null}),
        status: Status::Partial,
        result: Some(json!({"events": [{"title": "Tea", "start": "2026-01-01T16:00:00Z"}]})),
        error: Some(ErrorInfo::new(
            Code::RateLimited,
            "one calendar did not answer",
        )),
        ui_hints: Some(UiHints(json!({
            "template": "table", "from": "/events", "title": "Events",
            "columns": [
                {"path": "/title", "label": "What"},
                {"path": "/start", "label": "When", "format": "datetime"},
            ],
        }))),
        artifacts: vec![artifact.clone(), ArtifactId::new("art_2").unwrap()],
        truncated: Some(Truncated {
            total_bytes: 9,
            omitted_bytes: 3,
            artifact,
        }),
    };
    let events = [
        run().remove(0),
        numbered("run_1", vec![answer("m", output)]).remove(0),
    ];
    let told = on_the_wire(&encoded(
        frame("r", ClientEra::Before),
        Transcript::new(),
        &events,
    ));
    let result = told.last().unwrap();
    let names: Vec<&str> = told
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        names[1..],
        [
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT"
        ],
        "a call that nobody told of is told with its result"
    );
    insta::assert_json_snapshot!(result);
}

#[test]
fn what_sub_agents_do_is_not_told_and_ends_nothing() {
    let mut events = run();
    let mut inner = run();
    inner.iter_mut().for_each(|event| event.via = Some(via()));
    let plain = told(ClientEra::One, &events);
    events.splice(6..6, inner);
    assert_eq!(told(ClientEra::One, &events), plain);
}

#[test]
fn a_direct_call_has_no_parent_and_is_the_same_in_a_snapshot() {
    let id = CallId::new("call_9").unwrap();
    let events = numbered(
        "run_1",
        vec![
            EventBody::ToolCall {
                tool_call_id: id.clone(),
                tool_name: "calculator".to_owned(),
                arguments: json!({"expression": "1+1"}),
            },
            answer(
                "m",
                ToolOutput::failed(
                    "calculator",
                    id,
                    json!({}),
                    ErrorInfo::new(Code::Failed, "no"),
                ),
            ),
        ],
    );
    let live = on_the_wire(&encoded(
        frame("r", ClientEra::One),
        Transcript::new(),
        &events,
    ));
    assert_eq!(live[1].get("parentMessageId"), None);
    let mut encoder = AguiEncoder::new(frame("r", ClientEra::One), history(&events));
    let mut out = Vec::new();
    encoder.resynchronise(UnixMs(5), &mut out);
    let restored = super::client::Client::of(&on_the_wire(&out)).replies();
    assert_eq!(super::client::Client::of(&live).replies(), restored);
}

/// What waits, in each of its kinds.
#[test]
fn every_kind_of_wait_has_its_reason_and_its_schema() {
    let mut all = Vec::new();
    let question = |choices: &[&str], sensitive| InterruptKind::Question {
        question: "Which?".to_owned(),
        choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
        sensitive,
        questionnaire: None,
    };
    let kinds = [
        (question(&[], true), None),
        (question(&["a", "b"], false), None),
        (question(&["a"], false), Some(json!({"type": "integer"}))),
        (question(&[], false), Some(json!(true))),
        (question(&[], false), Some(json!(false))),
        (
            InterruptKind::Approval {
                reason: "it writes".to_owned(),
            },
            None,
        ),
        (InterruptKind::Delay, None),
        (
            InterruptKind::Remote {
                what: "the build".to_owned(),
            },
            None,
        ),
    ];
    for (kind, schema) in kinds {
        let mut events = waiting_run();
        let EventBody::Interrupt(interrupt) = &mut events[4].body else {
            panic!("an interrupt is expected there");
        };
        interrupt.kind = kind;
        interrupt.schema = schema;
        let told = on_the_wire(&encoded(
            frame("r", ClientEra::One),
            Transcript::new(),
            &events,
        ));
        for event in &told {
            assert_fits(&closed("agui-event.schema.json"), &event.to_string());
        }
        let end = told.last().unwrap();
        all.push(end["outcome"]["interrupts"][0].clone());
    }
    insta::assert_json_snapshot!(all);
}

/// Two questions: one was answered and the other still waits.
#[test]
fn what_still_waits_from_an_earlier_run_is_told_again() {
    let mut writer = Writer::new(1, None);
    for step in [
        Step::Reply(vec!["{}".to_owned(), "{}".to_owned()]),
        Step::Wait(0),
        Step::Wait(1),
    ] {
        writer.step(&step);
    }
    let before = writer.finish(RunOutcome::Success);
    let mut writer = Writer::new(2, Some(1));
    writer.take_up(&super::story::waiting(&before)[..1], false);
    let after = writer.finish(RunOutcome::Waiting);
    let told = on_the_wire(&encoded(
        frame("r", ClientEra::One),
        history(&before),
        &after,
    ));
    let interrupts = &told.last().unwrap()["outcome"]["interrupts"];
    assert_eq!(interrupts.as_array().unwrap().len(), 1, "{interrupts}");
    assert_eq!(interrupts[0]["id"], "int_call_1_2");
}

#[test]
fn a_heartbeat_is_a_comment() {
    assert!(sse::HEARTBEAT.starts_with(b":") && sse::HEARTBEAT.ends_with(b"\n\n"));
}

#[test]
fn what_a_tool_keeps_for_itself_is_never_told() {
    let mut events = waiting_run();
    let EventBody::Interrupt(interrupt) = &mut events[4].body else {
        panic!("an interrupt is expected there");
    };
    interrupt.state = json!({"secret": "canary"});
    let told = told(ClientEra::One, &events);
    assert!(!told.contains("canary") && !told.contains("args_hash"));
    let _: Vec<Value> = told
        .split_terminator("\n\n")
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
}
