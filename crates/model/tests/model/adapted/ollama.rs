//! Ollama's own lines.

use outfitter_core::{ModelError, StopReason};
use serde_json::{Value, json};

use super::{answer, exchange, refusals};
use crate::common::hello;
use crate::fake::{Step, chunk, last_chunk, send};
use crate::requests::conversation_for;

const NAME: &str = "qwen3";

fn line(message: &Value) -> String {
    format!(
        "{}\n",
        json!({"model": NAME, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
    )
}

fn done(reason: &str) -> String {
    format!(
        "{}\n",
        json!({
            "model": NAME, "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
            "prompt_eval_count": 11, "eval_count": 7,
        })
    )
}

fn lines_in(size: usize, body: &str) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut steps = vec![send(head)];
    steps.extend(body.as_bytes().chunks(size).map(chunk));
    steps.push(last_chunk());
    steps
}

#[tokio::test]
async fn text_thoughts_and_calls_come_whatever_the_pieces() {
    let body = line(&json!({"role": "assistant", "content": "", "thinking": "hm"}))
        + &line(&json!({"role": "assistant", "content": "Grüße, 你好 🙂"}))
        + &line(&json!({"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "read", "arguments": {"path": "a"}}},
            {"function": {"name": "read", "arguments": {"path": "b"}}},
        ]}))
        + &done("stop");
    for size in [usize::MAX, 3] {
        let (outcome, received) =
            exchange("ollama-native", NAME, hello(), lines_in(size, &body)).await;
        let outcome = outcome.whole();
        assert_eq!(
            (outcome.reasoning().as_str(), outcome.text().as_str()),
            ("hm", "Grüße, 你好 🙂")
        );
        assert_eq!(
            outcome.calls(),
            [r#"read({"path":"a"})"#, r#"read({"path":"b"})"#]
        );
        assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
        assert_eq!(outcome.reply.usage.unwrap().input_tokens, 11);
        let ids: Vec<&str> = outcome
            .reply
            .tool_calls()
            .map(|call| call.id.as_str())
            .collect();
        assert!(
            ids.iter().all(|id| id.starts_with("call_")) && ids[0] != ids[1],
            "{ids:?}"
        );
        assert_eq!(outcome.reply.warnings, []);
        assert_eq!(received.path, "/base/api/chat");
    }
}

#[tokio::test]
async fn a_reply_that_is_never_done_is_truncated_with_the_partial() {
    let body = line(&json!({"role": "assistant", "content": "so far"}));
    let mut cut = lines_in(usize::MAX, &body);
    *cut.last_mut().unwrap() = Step::Close;
    for steps in [lines_in(usize::MAX, &body), cut] {
        let outcome = answer("ollama-native", NAME, steps).await;
        assert!(
            matches!(outcome.error, Some(ModelError::Truncated)),
            "{:?}",
            outcome.error
        );
        assert_eq!(outcome.text(), "so far");
    }
}

#[tokio::test]
async fn a_length_limit_is_one() {
    let body = line(&json!({"role": "assistant", "content": "x"})) + &done("length");
    let outcome = answer("ollama-native", NAME, lines_in(usize::MAX, &body))
        .await
        .whole();
    assert_eq!(outcome.reply.stop, Some(StopReason::Length));
}

#[tokio::test]
async fn refusals_are_what_they_are_on_every_wire() {
    refusals("ollama-native", NAME).await;
}

#[tokio::test]
async fn a_conversation_as_ollama_has_it() {
    let conversation = conversation_for("ollama-native", json!({"x": 1}));
    let (_, received) = exchange(
        "ollama-native",
        NAME,
        conversation,
        lines_in(usize::MAX, &done("stop")),
    )
    .await;
    insta::assert_json_snapshot!("ollama_native", received.json());
}
