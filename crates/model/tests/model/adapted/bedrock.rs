//! Bedrock's frames: lengths, headers and checksums around JSON.

use outfitter_core::{ModelError, StopReason};
use rstest::rstest;
use serde_json::{Value, json};

use super::{answer, exchange, refusals};
use crate::common::hello;
use crate::fake::{Step, chunk, last_chunk, send};
use crate::requests::conversation_for;

const NAME: &str = "anthropic.claude-sonnet-4-5-20250929-v1:0";

/// CRC-32 as IEEE 802.3 has it.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// One message of `application/vnd.amazon.eventstream`.
fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    let name_header = if kind == "event" {
        ":event-type"
    } else {
        ":exception-type"
    };
    for (key, value) in [
        (":message-type", kind),
        (name_header, name),
        (":content-type", "application/json"),
    ] {
        headers.push(u8::try_from(key.len()).unwrap());
        headers.extend_from_slice(key.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let total = u32::try_from(16 + headers.len() + payload.len()).unwrap();
    let mut out = total.to_be_bytes().to_vec();
    out.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
    out.extend_from_slice(&crc(&out).to_be_bytes());
    out.extend_from_slice(&headers);
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(&crc(&out).to_be_bytes());
    out
}

fn event(name: &str, payload: &Value) -> Vec<u8> {
    frame("event", name, payload)
}

fn text(words: &str) -> Vec<u8> {
    event(
        "contentBlockDelta",
        &json!({"contentBlockIndex": 0, "delta": {"text": words}}),
    )
}

fn stop(reason: &str) -> Vec<u8> {
    [
        event("messageStop", &json!({"stopReason": reason})),
        event("metadata", &json!({"usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, "metrics": {"latencyMs": 1}})),
    ]
    .concat()
}

fn call(at: u64, id: &str, pieces: &[&str]) -> Vec<u8> {
    let mut out = event(
        "contentBlockStart",
        &json!({"contentBlockIndex": at, "start": {"toolUse": {"toolUseId": id, "name": "read"}}}),
    );
    for piece in pieces {
        out.extend(event(
            "contentBlockDelta",
            &json!({"contentBlockIndex": at, "delta": {"toolUse": {"input": piece}}}),
        ));
    }
    out.extend(event("contentBlockStop", &json!({"contentBlockIndex": at})));
    out
}

fn frames_in(size: usize, body: &[u8]) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut steps = vec![send(head)];
    steps.extend(body.chunks(size).map(chunk));
    steps.push(last_chunk());
    steps
}

#[rstest]
#[case(usize::MAX)]
#[case(7)]
#[tokio::test]
async fn text_and_calls_come_whatever_the_pieces(#[case] size: usize) {
    let body = [
        event("messageStart", &json!({"role": "assistant"})),
        text("Grüße, "),
        text("你好 🙂"),
        event("contentBlockStop", &json!({"contentBlockIndex": 0})),
        call(1, "tooluse_a", &["{\"path\":", "\"a\", \"n\":1e5}"]),
        call(2, "tooluse_b", &[]),
        stop("tool_use"),
    ]
    .concat();
    let (outcome, received) = exchange("bedrock", NAME, hello(), frames_in(size, &body)).await;
    let outcome = outcome.whole();
    assert_eq!(outcome.text(), "Grüße, 你好 🙂");
    assert_eq!(
        outcome.calls(),
        ["read({\"path\":\"a\", \"n\":1e5})", "read()"]
    );
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    assert_eq!(outcome.reply.usage.unwrap().output_tokens, 5);
    let ids: Vec<&str> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["tooluse_a", "tooluse_b"]);
    assert_eq!(
        received.path,
        "/base/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    );
    assert_eq!(received.header("authorization"), Some("Bearer sk-secret"));
}

#[tokio::test]
async fn a_reply_without_a_reason_to_stop_is_truncated_with_the_partial() {
    let mut cut = frames_in(usize::MAX, &text("so far"));
    *cut.last_mut().unwrap() = Step::Close;
    for steps in [frames_in(usize::MAX, &text("so far")), cut] {
        let outcome = answer("bedrock", NAME, steps).await;
        assert!(
            matches!(outcome.error, Some(ModelError::Truncated)),
            "{:?}",
            outcome.error
        );
        assert_eq!(outcome.text(), "so far");
    }
}

#[tokio::test]
async fn an_exception_and_a_broken_frame_are_errors_with_the_partial() {
    let exception = frame(
        "exception",
        "throttlingException",
        &json!({"message": "too many tokens"}),
    );
    let mut broken = text("never");
    *broken.last_mut().unwrap() ^= 1;
    for (failure, said) in [(exception, "too many tokens"), (broken, "")] {
        let body = [text("so far"), failure, stop("end_turn")].concat();
        let outcome = answer("bedrock", NAME, frames_in(usize::MAX, &body)).await;
        let error = outcome.error.as_ref().unwrap().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(outcome.text(), "so far");
    }
}

#[tokio::test]
async fn refusals_are_what_they_are_on_every_wire() {
    refusals("bedrock", NAME).await;
}

#[tokio::test]
async fn a_conversation_as_bedrock_has_it() {
    let conversation = conversation_for("bedrock", json!({"x": 1}));
    let (_, received) = exchange(
        "bedrock",
        NAME,
        conversation,
        frames_in(usize::MAX, &stop("end_turn")),
    )
    .await;
    insta::assert_json_snapshot!("bedrock", received.json());
}

#[test]
fn a_checksum_is_the_one_that_everybody_knows() {
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
}
