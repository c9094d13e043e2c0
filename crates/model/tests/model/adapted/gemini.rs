//! Gemini's own events, also as Vertex sends them.

use outfitter_core::{MessageRole, ModelError, StopReason};
use rstest::rstest;
use serde_json::{Value, json};

use super::{answer, exchange, model, refusals};
use crate::common::{ask, hello, message, request, text};
use crate::fake::{Fake, Step, chunk, close_delimited_head, send, stream, stream_head, stream_in};
use crate::requests::{conversation_for, result_of};

const NAME: &str = "gemini-flash-latest";

fn event(parts: &Value, finish: Option<&str>) -> String {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let usage = json!({"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 20, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4});
    format!(
        "data: {}\r\n\r\n",
        json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": NAME})
    )
}

fn text_reply() -> String {
    event(&json!([{"text": "thinking", "thought": true}]), None)
        + &event(&json!([{"text": "Grüße, "}]), None)
        + &event(&json!([{"text": "你好 🙂"}]), Some("STOP"))
}

fn call_reply() -> String {
    event(&json!([{"text": "Looking."}]), None)
        + &event(
            &json!([
                {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "sig"},
                {"functionCall": {"name": "read", "args": {"path": "b"}}},
            ]),
            None,
        )
        + &event(
            &json!([{"functionCall": {"id": "own", "name": "now", "args": {}}}]),
            Some("STOP"),
        )
}

#[rstest]
#[case(
    "gemini-native",
    usize::MAX,
    "/base/models/gemini-flash-latest:streamGenerateContent?alt=sse",
    "x-goog-api-key",
    "sk-secret"
)]
#[case(
    "gemini-native",
    5,
    "/base/models/gemini-flash-latest:streamGenerateContent?alt=sse",
    "x-goog-api-key",
    "sk-secret"
)]
#[case(
    "vertex",
    usize::MAX,
    "/base/publishers/google/models/gemini-flash-latest:streamGenerateContent?alt=sse",
    "authorization",
    "Bearer sk-secret"
)]
#[tokio::test]
async fn text_and_thoughts_come_and_no_part_of_the_base_url_is_lost(
    #[case] provider: &str,
    #[case] size: usize,
    #[case] path: &str,
    #[case] header: &str,
    #[case] key: &str,
) {
    let (outcome, received) =
        exchange(provider, NAME, hello(), stream_in(size, &text_reply())).await;
    let outcome = outcome.whole();
    assert_eq!(outcome.text(), "Grüße, 你好 🙂");
    assert_eq!(outcome.reasoning(), "thinking");
    assert_eq!(outcome.reply.stop, Some(StopReason::End));
    let usage = outcome.reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (12, 4));
    assert!(usage.output_tokens >= 5);
    assert_eq!(received.path, path);
    assert_eq!(received.header(header), Some(key));
}

#[tokio::test]
async fn calls_have_ids_of_their_own_and_arguments() {
    let outcome = answer("gemini-native", NAME, stream(&call_reply()))
        .await
        .whole();
    assert_eq!(
        outcome.calls(),
        [r#"read({"path":"a"})"#, r#"read({"path":"b"})"#, "now({})"]
    );
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    let ids: Vec<&str> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.as_str())
        .collect();
    assert!(
        ids[0].starts_with("call_") && ids[1].starts_with("call_") && ids[0] != ids[1],
        "{ids:?}"
    );
    assert_eq!(ids[2], "own");
}

#[tokio::test]
async fn signatures_go_back_with_their_calls() {
    let fake = Fake::start([stream(&call_reply()), stream(&text_reply())]).await;
    let model = model("gemini-native", NAME, fake.url("/base"));
    let first = ask(&model, hello()).await.whole();
    let mut messages = hello().messages;
    messages.push(message(MessageRole::Assistant, first.reply.parts.clone()));
    for call in first.reply.tool_calls() {
        messages.push(result_of(call.id.as_str(), vec![text("done")]));
    }
    ask(&model, request(messages)).await.whole();
    let sent = fake.received()[1].json();
    let turn = sent["contents"][1]["parts"].as_array().unwrap().clone();
    let call = turn
        .iter()
        .find(|part| part["functionCall"]["args"] == json!({"path": "a"}))
        .unwrap();
    assert_eq!(call["thoughtSignature"], "sig");
    let answers = sent["contents"][2]["parts"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert!(
        answers
            .iter()
            .all(|part| part["functionResponse"]["name"].is_string()),
        "{answers:?}"
    );
}

#[tokio::test]
async fn a_reply_without_a_reason_to_stop_is_truncated_with_the_partial() {
    let body = event(&json!([{"text": "so far"}]), None);
    for steps in [
        vec![stream_head(), chunk(&body), Step::Close],
        vec![close_delimited_head(), send(&body), Step::Close],
        stream(&body),
    ] {
        let outcome = answer("gemini-native", NAME, steps).await;
        assert!(
            matches!(outcome.error, Some(ModelError::Truncated)),
            "{:?}",
            outcome.error
        );
        assert_eq!(outcome.text(), "so far");
    }
}

#[rstest]
#[case("MAX_TOKENS", StopReason::Length)]
#[case("SAFETY", StopReason::Refused)]
#[case("MALFORMED_FUNCTION_CALL", StopReason::Other("MALFORMED_FUNCTION_CALL".into()))]
#[tokio::test]
async fn the_reason_to_stop_is_kept(#[case] reason: &str, #[case] stop: StopReason) {
    let body = event(&json!([{"text": "x"}]), Some(reason));
    let outcome = answer("gemini-native", NAME, stream(&body)).await.whole();
    assert_eq!(outcome.reply.stop, Some(stop));
}

#[tokio::test]
async fn an_error_in_the_stream_is_the_last_thing() {
    let failure = "data: {\"error\":{\"code\":503,\"message\":\"overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n";
    let body = event(&json!([{"text": "so far"}]), None) + failure + &text_reply();
    let outcome = answer("gemini-native", NAME, stream(&body)).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::Provider { message } if message.contains("overloaded")),
        "{error}"
    );
    assert_eq!(outcome.text(), "so far");
}

#[tokio::test]
async fn refusals_are_what_they_are_on_every_wire() {
    refusals("gemini-native", NAME).await;
}

#[tokio::test]
async fn a_conversation_as_gemini_has_it() {
    let conversation = conversation_for("gemini-native", json!({"thought_signature": "alone"}));
    let (_, received) = exchange("gemini-native", NAME, conversation, stream(&text_reply())).await;
    insta::assert_json_snapshot!("gemini_native", received.json());
}
