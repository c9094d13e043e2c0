//! Everything that a client is told has a bound, and what is beyond it is said to be.

use std::sync::Arc;

use outfitter_codec::agui::{AguiEncoder, AguiOrder, ClientEra, Transcript};
use outfitter_core::{
    Code, ErrorInfo, EventBody, Message, MessageId, MessageRole, Part, Stream, ToolOutput, UnixMs,
};
use serde_json::json;

use super::{encoded, frame, history, on_the_wire};
use crate::samples::{call, message, numbered, run};

#[test]
fn a_message_that_came_without_deltas_is_told_whole_in_pieces() {
    let long = "é".repeat(100_000);
    let words = Part::Text { text: long.clone() };
    let events = [
        run().remove(0),
        numbered(
            "run_1",
            vec![message("m", MessageRole::Assistant, vec![words])],
        )
        .remove(0),
    ];
    let told = on_the_wire(&encoded(
        frame("r", ClientEra::One),
        Transcript::new(),
        &events,
    ));
    let pieces: Vec<&str> = told
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= 64 * 1024));
    assert_eq!(pieces.concat(), long);
}

#[test]
fn what_is_too_large_for_an_event_is_left_out_and_said_to_be() {
    let big = "x".repeat(100_000);
    let mut error = ErrorInfo::new(Code::InvalidArguments, "no");
    error.got = Some(json!(big));
    let output = ToolOutput::failed("t", call("call_1"), json!({"big": big}), error);
    let huge = Message {
        id: MessageId::new("m").unwrap(),
        role: MessageRole::Tool,
        parts: vec![Part::Text {
            text: "y".repeat(5 * 1024 * 1024),
        }],
        output: Some(Arc::new(output)),
    };
    let events = numbered("run_1", vec![EventBody::Message(Arc::new(huge))]);
    let told = on_the_wire(&encoded(
        frame("r", ClientEra::One),
        Transcript::new(),
        &events,
    ));
    let result = told.last().unwrap();
    assert!(
        result.to_string().len() < 2_000,
        "{}",
        result.to_string().len()
    );
    let said = &result["metadata"]["outfitter"];
    assert_eq!(
        said["omitted"],
        json!(["tool_call_args", "error.got", "content"])
    );
    assert_eq!(said["error"]["code"], "invalid_arguments");
}

#[test]
fn what_a_call_prints_stays_small_at_the_client_and_says_what_it_lost() {
    let mut bodies = vec![EventBody::ToolCall {
        tool_call_id: call("call_1"),
        tool_name: "t".to_owned(),
        arguments: json!({}),
    }];
    let piece = |text: String| EventBody::ToolProgress {
        tool_call_id: call("call_1"),
        text,
        stream: Stream::Stderr,
        closed: false,
        dropped_bytes: 0,
    };
    bodies.extend((0..1_000).map(|at| piece(format!("{at:0100}"))));
    bodies.push(piece("é".repeat(40_000)));
    let events = numbered("run_1", bodies);
    let mut encoder = AguiEncoder::new(frame("r", ClientEra::One), Transcript::new());
    let mut order = AguiOrder::default();
    for event in &events {
        let mut out = Vec::new();
        encoder.event(event, &mut out);
        for event in on_the_wire(&out) {
            order.event(&event).unwrap();
        }
        if let Some(content) = order.activity("progress:call_1") {
            assert!(content.to_string().len() < 48 * 1024);
        }
    }
    let content = order.activity("progress:call_1").unwrap();
    let shown: usize = content["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece["text"].as_str().unwrap().len())
        .sum();
    let lost = content["omitted_bytes"].as_u64().unwrap() as usize;
    assert_eq!(shown + lost, 1_000 * 100 + 80_000);
    assert!(shown <= 32 * 1024);
}

#[test]
fn a_snapshot_that_would_be_too_large_is_the_end_of_the_conversation_and_says_so() {
    let history = history(&numbered(
        "run_1",
        (0..8)
            .map(|at| {
                let text = "z".repeat(1024 * 1024);
                message(
                    &format!("m{at}"),
                    MessageRole::User,
                    vec![Part::Text { text }],
                )
            })
            .collect(),
    ));
    let mut encoder = AguiEncoder::new(frame("r", ClientEra::One), history);
    let mut out = Vec::new();
    encoder.resynchronise(UnixMs(5), &mut out);
    let told = on_the_wire(&out);
    assert_eq!(told[2]["name"], "outfitter.snapshot_cut");
    let kept = told[3]["messages"].as_array().unwrap();
    let cut = told[2]["value"]["omitted_messages"].as_u64().unwrap() as usize;
    assert_eq!(kept.len() + cut, 8);
    assert_eq!(kept.last().unwrap()["id"], "m7");
    assert!(told[3].to_string().len() < 5 * 1024 * 1024);
}
