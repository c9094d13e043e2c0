//! Claude on Vertex: the messages of Anthropic under Google's addresses.

use outfitter_core::{ModelError, StopReason};
use serde_json::{Value, json};

use super::{answer, exchange, refusals};
use crate::common::hello;
use crate::fake::stream;
use crate::requests::conversation_for;

const NAME: &str = "claude-sonnet-4-6";

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap();
    format!("event: {kind}\ndata: {data}\n\n")
}

fn start() -> String {
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    event(
        &json!({"type": "message_start", "message": {"id": "msg_vrtx_1", "type": "message",
        "role": "assistant", "model": NAME, "content": [], "usage": usage}}),
    )
}

fn text(index: u32, said: &str) -> String {
    event(
        &json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
    ) + &event(
        &json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": said}}),
    ) + &event(&json!({"type": "content_block_stop", "index": index}))
}

fn end(reason: &str) -> String {
    event(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
    ) + &event(&json!({"type": "message_stop"}))
}

#[tokio::test]
async fn claude_on_vertex_answers_by_the_messages_of_its_maker() {
    let reply = start() + &text(0, "Grüße, 你好 🙂") + &end("end_turn");
    let (outcome, received) = exchange("vertex", NAME, hello(), stream(&reply)).await;
    let outcome = outcome.whole();
    assert_eq!(outcome.text(), "Grüße, 你好 🙂");
    assert_eq!(outcome.reply.stop, Some(StopReason::End));
    assert_eq!(
        received.path,
        format!("/base/publishers/anthropic/models/{NAME}:streamRawPredict")
    );
    assert_eq!(received.header("authorization"), Some("Bearer sk-secret"));
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    assert_eq!(body["anthropic_version"], "vertex-2023-10-16");
    assert_eq!(body["stream"], true);
    assert!(
        body.get("model").is_none() && body["max_tokens"].is_number(),
        "{body}"
    );
}

#[tokio::test]
async fn a_call_of_claude_on_vertex_keeps_its_id_and_arguments() {
    let piece = |json: &str| {
        event(
            &json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json}}),
        )
    };
    let call = event(
        &json!({"type": "content_block_start", "index": 1, "content_block":
        {"type": "tool_use", "id": "toolu_vrtx_1", "name": "read", "input": {}}}),
    ) + &piece("{\"pa")
        + &piece("th\":\"a\"}")
        + &event(&json!({"type": "content_block_stop", "index": 1}));
    let reply = start() + &text(0, "Looking.") + &call + &end("tool_use");
    let outcome = answer("vertex", NAME, stream(&reply)).await.whole();
    assert_eq!(outcome.calls(), [r#"read({"path":"a"})"#]);
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    let ids: Vec<&str> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["toolu_vrtx_1"]);
}

#[tokio::test]
async fn a_conversation_with_results_goes_to_claude_on_vertex_as_its_maker_has_it() {
    let reply = start() + &text(0, "ok") + &end("end_turn");
    let request = conversation_for("vertex", json!({}));
    let (outcome, received) = exchange("vertex", NAME, request, stream(&reply)).await;
    outcome.whole();
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let kinds = |wanted: &str| {
        let blocks = messages
            .iter()
            .filter_map(|message| message["content"].as_array());
        blocks
            .flatten()
            .filter(|block| block["type"] == wanted)
            .count()
    };
    assert!(
        kinds("tool_use") > 0 && kinds("tool_use") == kinds("tool_result"),
        "{body}"
    );
}

#[tokio::test]
async fn a_reply_of_claude_on_vertex_that_breaks_off_is_none() {
    let outcome = answer("vertex", NAME, stream(&(start() + &text(0, "half")))).await;
    let error = outcome.error.unwrap();
    assert!(matches!(error, ModelError::Truncated), "{error}");
}

#[tokio::test]
async fn refusals_of_claude_on_vertex_are_told_as_those_of_others() {
    refusals("vertex", NAME).await;
}
