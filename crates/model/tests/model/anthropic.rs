//! Each row of what the Anthropic wire brings.

use outfitter_core::{Code, ModelError, Part, StopReason, TokenUsage};
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{Outcome, answer};
use crate::fake::{
    Step, chunk, close_delimited_head, json as json_body, send, stream, stream_head, stream_in,
};

fn event(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

fn start() -> String {
    event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": null,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 1},
    }}))
}

fn block(index: u64, content: &Value) -> String {
    event(&json!({"type": "content_block_start", "index": index, "content_block": content}))
}

fn delta(index: u64, delta: &Value) -> String {
    event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn text(index: u64, text: &str) -> String {
    delta(index, &json!({"type": "text_delta", "text": text}))
}

fn input(index: u64, piece: &str) -> String {
    delta(
        index,
        &json!({"type": "input_json_delta", "partial_json": piece}),
    )
}

fn stop(index: u64) -> String {
    event(&json!({"type": "content_block_stop", "index": index}))
}

fn reason(reason: &str) -> String {
    event(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 42}}),
    )
}

fn end(why: &str) -> String {
    reason(why) + &event(&json!({"type": "message_stop"}))
}

async fn anthropic(steps: Vec<Step>) -> Outcome {
    answer("anthropic", steps).await
}

async fn reply(events: &[String], why: &str) -> Outcome {
    let body = start() + &events.concat() + &end(why);
    anthropic(stream(&body)).await.whole()
}

fn tool(index: u64, id: &str, name: &str, given: &Value) -> String {
    block(
        index,
        &json!({"type": "tool_use", "id": id, "name": name, "input": given}),
    )
}

fn every_kind() -> String {
    [
        start(),
        block(
            0,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, &json!({"type": "thinking_delta", "thinking": "let me "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "see"})),
        delta(
            0,
            &json!({"type": "signature_delta", "signature": "EqQB+/="}),
        ),
        stop(0),
        block(1, &json!({"type": "redacted_thinking", "data": "opaque=="})),
        stop(1),
        event(&json!({"type": "ping"})),
        block(2, &json!({"type": "text", "text": ""})),
        text(2, "first 你"),
        stop(2),
        tool(3, "toolu_1", "read", &json!({})),
        input(3, ""),
        input(3, "{\"path\": "),
        input(3, "\"a.txt\"}"),
        stop(3),
        block(4, &json!({"type": "text", "text": ""})),
        text(4, "second"),
        stop(4),
        tool(5, "toolu_2", "now", &json!({})),
        stop(5),
        end("tool_use"),
    ]
    .concat()
}

#[rstest]
#[case::one_write(usize::MAX)]
#[case::five_bytes(5)]
#[case::byte_by_byte(1)]
#[tokio::test]
async fn every_kind_of_block_is_kept_in_order(#[case] size: usize) {
    let outcome = anthropic(stream_in(size, &every_kind())).await.whole();
    insta::assert_json_snapshot!("every_kind", outcome.reply.parts);
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    assert_eq!(
        outcome.reply.usage,
        Some(TokenUsage {
            input_tokens: 240,
            output_tokens: 42,
            cache_read_tokens: 200,
            cache_write_tokens: 30,
            ..TokenUsage::default()
        })
    );
}

#[rstest]
#[case::crlf("\r\n")]
#[case::cr("\r")]
#[tokio::test]
async fn line_ends_may_be_split(#[case] end: &str) {
    let body = every_kind().replace('\n', end);
    let outcome = anthropic(stream_in(1, &body)).await.whole();
    assert_eq!(outcome.text(), "first 你second");
}

#[tokio::test]
async fn the_type_in_the_data_is_enough() {
    let lines = every_kind();
    let body: String = lines
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("event:"))
        .collect();
    assert_eq!(
        anthropic(stream(&body)).await.whole().text(),
        "first 你second"
    );
}

#[tokio::test]
async fn text_and_input_may_stand_in_the_start_of_their_block() {
    let outcome = reply(
        &[
            block(0, &json!({"type": "text", "text": "al"})),
            text(0, "ready"),
            stop(0),
            tool(1, "t1", "f", &json!({"n": 100_000})),
            stop(1),
            tool(2, "t2", "g", &json!({"old": 1})),
            input(2, "{\"new\":2}"),
            stop(2),
        ],
        "tool_use",
    )
    .await;
    assert_eq!(outcome.text(), "already");
    assert_eq!(outcome.calls(), ["f({\"n\":100000})", "g({\"new\":2})"]);
}

#[tokio::test]
async fn empty_input_is_an_empty_object() {
    let outcome = reply(
        &[tool(0, "t", "f", &json!({})), input(0, ""), stop(0)],
        "tool_use",
    )
    .await;
    assert_eq!(outcome.calls(), ["f({})"]);
}

#[tokio::test]
async fn citations_and_server_tools_are_kept() {
    let outcome = reply(
        &[
            block(0, &json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}})),
            input(0, "{\"query\":"),
            input(0, "\"x\"}"),
            stop(0),
            block(1, &json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]})),
            stop(1),
            block(2, &json!({"type": "text", "text": "", "citations": []})),
            delta(2, &json!({"type": "citations_delta", "citation": {"url": "u", "encrypted_index": "e"}})),
            text(2, "cited"),
            stop(2),
            block(3, &json!({"type": "text", "text": ""})),
            text(3, " and not"),
            stop(3),
        ],
        "end_turn",
    )
    .await;
    let own = |data: Value| Part::Provider {
        provider: "anthropic".into(),
        data,
    };
    assert_eq!(
        outcome.reply.parts,
        [
            own(
                json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}})
            ),
            own(
                json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]})
            ),
            Part::Text {
                text: "cited".into()
            },
            own(json!({"citations": [{"url": "u", "encrypted_index": "e"}]})),
            Part::Text {
                text: " and not".into()
            },
        ]
    );
    assert_eq!(outcome.calls(), [""; 0]);
}

#[tokio::test]
async fn an_error_event_ends_the_stream_with_the_partial() {
    let failure = event(
        &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    );
    let body = start()
        + &block(0, &json!({"type": "text", "text": ""}))
        + &text(0, "so far")
        + &failure
        + &end("end_turn");
    let outcome = anthropic(stream(&body)).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::Provider { message } if message == "Overloaded (overloaded_error)"),
        "{error}"
    );
    assert_eq!(outcome.text(), "so far");
}

#[rstest]
#[case::an_error(
    r#"{"type":"error","error":{"type":"invalid","message":"no"}}"#,
    "no (invalid)"
)]
#[case::with_the_key(r#"{"error":"sk-secret"}"#, "[redacted]")]
#[tokio::test]
async fn a_200_with_an_error_is_the_providers_error(#[case] body: &str, #[case] said: &str) {
    let error = anthropic(json_body("200 OK", body)).await.error.unwrap();
    assert!(
        matches!(&error, ModelError::Provider { message } if message == said),
        "{error}"
    );
    assert_eq!(error.code(), Code::ProtocolError);
}

#[tokio::test]
async fn a_whole_message_in_a_200_is_accepted() {
    let body = json!({"type": "message", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "x"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
    ], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2}});
    let outcome = anthropic(json_body("200 OK", &body.to_string()))
        .await
        .whole();
    assert_eq!(outcome.calls(), ["f({\"a\":1})"]);
    assert_eq!(
        outcome.reply.parts[0],
        Part::Reasoning {
            text: "hm".into(),
            signature: Some("s".into()),
        }
    );
}

#[rstest]
#[case::chunked(stream_head(), chunk as fn(String) -> Step)]
#[case::close_delimited(close_delimited_head(), send as fn(String) -> Step)]
#[tokio::test]
async fn a_drop_without_a_stop_reason_is_truncated(
    #[case] head: Step,
    #[case] piece: fn(String) -> Step,
) {
    let begun = start() + &tool(0, "t", "f", &json!({})) + &input(0, "{\"pa");
    let outcome = anthropic(vec![head, piece(begun), Step::Close]).await;
    assert!(matches!(outcome.error, Some(ModelError::Truncated)));
    assert_eq!(outcome.calls(), [""; 0], "half a call is none");
}

#[tokio::test]
async fn a_stop_reason_without_message_stop_is_accepted() {
    let body =
        start() + &block(0, &json!({"type": "text", "text": "x"})) + &stop(0) + &reason("end_turn");
    let outcome = anthropic(vec![close_delimited_head(), send(body), Step::Close])
        .await
        .whole();
    assert_eq!(outcome.text(), "x");
}

#[rstest]
#[case("max_tokens", StopReason::Length)]
#[case("refusal", StopReason::Refused)]
#[case("stop_sequence", StopReason::End)]
#[case("pause_turn", StopReason::Other("pause_turn".into()))]
#[tokio::test]
async fn stop_reasons_mean_the_same_as_elsewhere(#[case] why: &str, #[case] is: StopReason) {
    let outcome = reply(
        &[block(0, &json!({"type": "text", "text": "x"})), stop(0)],
        why,
    )
    .await;
    assert_eq!(outcome.reply.stop, Some(is));
}
