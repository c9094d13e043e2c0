//! Each row of what the responses API sends, byte for byte.

mod replay;

use outfitter_core::{ModelError, Part, StopReason};
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{Outcome, answer};
use crate::fake::{
    Step, chunk, close_delimited_head, json as whole_json, send, stream, stream_head, stream_in,
    whole,
};

const PROVIDER: &str = "openai-responses";

fn event(body: &Value) -> String {
    format!(
        "event: {}\ndata: {body}\n\n",
        body["type"].as_str().unwrap()
    )
}

fn created() -> String {
    event(
        &json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
    ) + &event(
        &json!({"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}}),
    )
}

fn completed(output: &Value) -> String {
    event(&json!({"type": "response.completed", "response": {
        "id": "resp_1", "status": "completed", "error": null, "incomplete_details": null, "output": output,
        "usage": {
            "input_tokens": 30, "input_tokens_details": {"cached_tokens": 20},
            "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 39,
        },
    }}))
}

fn added(at: u64, item: &Value) -> String {
    event(&json!({"type": "response.output_item.added", "output_index": at, "item": item}))
}

fn item_done(at: u64, item: &Value) -> String {
    event(&json!({"type": "response.output_item.done", "output_index": at, "item": item}))
}

fn words(at: u64, delta: &str) -> String {
    event(
        &json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": at, "content_index": 0, "delta": delta, "logprobs": []}),
    )
}

fn message_item(said: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": said, "annotations": []}]})
}

fn call_item(call: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": call, "name": name, "arguments": arguments, "status": "completed"})
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA", "status": null,
        "summary": [{"type": "summary_text", "text": "First.\n\nThen."}]})
}

fn arguments(at: u64, delta: &str) -> String {
    event(
        &json!({"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": at, "delta": delta}),
    )
}

fn arguments_done(at: u64, all: &str) -> String {
    event(
        &json!({"type": "response.function_call_arguments.done", "item_id": "fc", "output_index": at, "arguments": all}),
    )
}

fn text_reply() -> String {
    let said = "Grüße, 你好, 🙂";
    let mut body = created()
        + &added(
            0,
            &json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []}),
        );
    body += &event(
        &json!({"type": "response.content_part.added", "output_index": 0, "part": {"type": "output_text", "text": ""}}),
    );
    for piece in said.chars().collect::<Vec<_>>().chunks(3) {
        body += &words(0, &piece.iter().collect::<String>());
    }
    body += &event(
        &json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": said}),
    );
    body + &item_done(0, &message_item(said)) + &completed(&json!([message_item(said)]))
}

/// A thought, a text and two calls.
fn rich_reply() -> String {
    let summary = |at: u64, delta: &str| {
        event(
            &json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": at, "part": {}}),
        ) + &event(
            &json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": at, "delta": delta}),
        )
    };
    let mut body = created();
    body += &added(
        0,
        &json!({"type": "reasoning", "id": "rs_1", "summary": []}),
    );
    body += &(summary(0, "First.") + &summary(1, "Then."));
    body += &item_done(0, &thought());
    body +=
        &(added(1, &json!({"type": "message", "id": "m", "content": []})) + &words(1, "Looking."));
    body += &item_done(1, &message_item("Looking."));
    body += &added(2, &call_item("call_a", "read", ""));
    body += &added(3, &call_item("call_b", "read", ""));
    body += &(arguments(2, "{\"n\":") + &arguments(3, "{}") + &arguments(2, "1e5}"));
    body += &(arguments_done(2, "{\"n\":1e5}") + &arguments_done(3, "{}"));
    body += &item_done(2, &call_item("call_a", "read", "{\"n\":1e5}"));
    body += &item_done(3, &call_item("call_b", "read", "{}"));
    body + &completed(&json!([]))
}

async fn responses(steps: Vec<Step>) -> Outcome {
    answer(PROVIDER, steps).await
}

#[rstest]
#[case::whole(usize::MAX)]
#[case::bytes(1)]
#[case::seven(7)]
#[tokio::test]
async fn text_is_exact_whatever_its_pieces(#[case] size: usize) {
    for body in [
        text_reply(),
        text_reply().replace('\n', "\r\n"),
        text_reply().replace('\n', "\r"),
    ] {
        let outcome = responses(stream_in(size, &body)).await.whole();
        assert_eq!(outcome.text(), "Grüße, 你好, 🙂");
        assert_eq!(outcome.reply.stop, Some(StopReason::End));
        let usage = outcome.reply.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (30, 9));
        assert_eq!((usage.cache_read_tokens, usage.reasoning_tokens), (20, 4));
    }
}

#[tokio::test]
async fn thoughts_text_and_calls_keep_their_order_and_are_said_once() {
    let outcome = responses(stream(&rich_reply())).await.whole();
    assert_eq!(outcome.reasoning(), "First.\n\nThen.");
    assert_eq!(outcome.text(), "Looking.");
    assert_eq!(outcome.calls(), ["read({\"n\":1e5})", "read({})"]);
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    let ids: Vec<&str> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["call_a", "call_b"]);
    let Part::Provider { provider, data } = &outcome.reply.parts[1] else {
        panic!("{:?}", outcome.reply.parts)
    };
    assert_eq!(provider, PROVIDER);
    assert_eq!(data["encrypted_content"], "gAAAA");
    assert!(data.get("status").is_none());
}

#[rstest]
#[case::without_event_lines(rich_reply().lines().filter(|line| !line.starts_with("event:")).collect::<Vec<_>>().join("\n") + "\n\n")]
#[case::only_done_events(created() + &item_done(0, &thought()) + &item_done(1, &message_item("Looking.")) + &item_done(2, &call_item("call_a", "read", "{\"n\":1e5}")) + &item_done(3, &call_item("call_b", "read", "{}")) + &completed(&json!([])))]
#[case::only_the_end(completed(&json!([thought(), message_item("Looking."), call_item("call_a", "read", "{\"n\":1e5}"), call_item("call_b", "read", "{}")])))]
#[tokio::test]
async fn what_did_not_come_in_pieces_is_taken_from_the_whole(#[case] body: String) {
    let outcome = responses(stream(&body)).await.whole();
    assert_eq!(outcome.text(), "Looking.");
    assert_eq!(outcome.reasoning(), "First.\n\nThen.");
    assert_eq!(outcome.calls(), ["read({\"n\":1e5})", "read({})"]);
}

#[tokio::test]
async fn a_whole_response_instead_of_a_stream_is_accepted() {
    let body = json!({"id": "r", "status": "completed", "error": null, "output": [message_item("hi"), call_item("c", "f", "{}")], "usage": {"input_tokens": 1, "output_tokens": 2}});
    let outcome = responses(whole_json("200 OK", &body.to_string()))
        .await
        .whole();
    assert_eq!(
        (outcome.text().as_str(), outcome.calls()),
        ("hi", vec!["f({})".to_owned()])
    );
}

#[tokio::test]
async fn a_refusal_is_kept_as_one() {
    let refusal = |kind: &str, key: &str, words: &str| {
        event(&json!({"type": format!("response.refusal.{kind}"), "output_index": 0, key: words}))
    };
    let body = created()
        + &refusal("delta", "delta", "I ")
        + &refusal("delta", "delta", "cannot.")
        + &refusal("done", "refusal", "I cannot.")
        + &completed(&json!([]));
    let outcome = responses(stream(&body)).await.whole();
    assert_eq!(
        outcome.reply.parts,
        [Part::Refusal {
            text: "I cannot.".into()
        }]
    );
}

#[rstest]
#[case("max_output_tokens", StopReason::Length)]
#[case("content_filter", StopReason::Refused)]
#[tokio::test]
async fn an_incomplete_response_says_why(#[case] reason: &str, #[case] stop: StopReason) {
    let cut = added(0, &call_item("c", "f", "")) + &arguments(0, "{\"path\":\"ab");
    let body = created()
        + &cut
        + &event(&json!({"type": "response.incomplete", "response": {
        "status": "incomplete", "incomplete_details": {"reason": reason}, "output": [], "usage": {"input_tokens": 1, "output_tokens": 2}}}));
    let outcome = responses(stream(&body)).await.whole();
    assert_eq!(outcome.reply.stop, Some(stop));
    assert_eq!(outcome.calls(), ["f({\"path\":\"ab)"]);
}

#[rstest]
#[case::failed(json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "overloaded"}}}), "overloaded (server_error)")]
#[case::error(json!({"type": "error", "code": "server_error", "message": "overloaded", "param": null}), "overloaded")]
#[case::nested(json!({"type": "error", "error": {"type": "server_error", "message": "overloaded"}}), "overloaded (server_error)")]
#[tokio::test]
async fn an_error_ends_the_stream_with_the_partial(#[case] failure: Value, #[case] said: &str) {
    let body = created()
        + &words(0, "so far")
        + &event(&failure)
        + &words(0, "never")
        + &completed(&json!([]));
    let outcome = responses(stream(&body)).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::Provider { message } if message == said),
        "{error}"
    );
    assert_eq!(outcome.text(), "so far");
}

#[tokio::test]
async fn a_stream_without_its_last_event_is_truncated_with_the_partial() {
    let body = created() + &words(0, "so far");
    let chunked = vec![stream_head(), chunk(&body), Step::Close];
    let by_close = vec![close_delimited_head(), send(&body), Step::Close];
    let gateway = stream(&(body.clone() + "data: [DONE]\n\n"));
    let ended = stream(&(body.clone() + &item_done(0, &message_item("so far"))));
    for steps in [chunked, by_close, gateway, ended] {
        let outcome = responses(steps).await;
        assert!(
            matches!(outcome.error, Some(ModelError::Truncated)),
            "{:?}",
            outcome.error
        );
        assert_eq!(outcome.text(), "so far");
    }
}

#[rstest]
#[case::error_body(
    whole_json("200 OK", r#"{"error":{"message":"no","type":"bad"}}"#),
    "no (bad)"
)]
#[case::failed_body(
    whole_json(
        "200 OK",
        r#"{"status":"failed","error":{"message":"no"},"output":[]}"#
    ),
    "no"
)]
#[tokio::test]
async fn an_error_in_a_success_is_an_error(#[case] steps: Vec<Step>, #[case] said: &str) {
    let error = responses(steps).await.error.unwrap();
    assert!(
        matches!(&error, ModelError::Provider { message } if message == said),
        "{error}"
    );
}

#[rstest]
#[case::page(whole("200 OK", "content-type: text/html\r\n", "<html>"))]
#[case::other_json(whole_json("200 OK", r#"{"choices":[]}"#))]
#[tokio::test]
async fn what_is_no_response_is_a_protocol_error(#[case] steps: Vec<Step>) {
    let error = responses(steps).await.error.unwrap();
    assert!(matches!(error, ModelError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn a_status_keeps_its_class_words_and_wait() {
    let outcome = responses(whole(
        "429 Too Many Requests",
        "retry-after: 7\r\n",
        r#"{"error":{"message":"slow down"}}"#,
    ))
    .await;
    let Some(ModelError::Status {
        status,
        message,
        retry_after,
    }) = outcome.error
    else {
        panic!("{:?}", outcome.error)
    };
    assert_eq!(
        (status, message.as_str(), retry_after.unwrap().as_secs()),
        (429, "slow down", 7)
    );
}

#[tokio::test]
async fn a_call_without_an_id_or_with_one_twice_gets_its_own() {
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let body = created()
        + &item_done(0, &call("x"))
        + &item_done(1, &call("x"))
        + &item_done(2, &call(""))
        + &completed(&json!([]));
    let outcome = responses(stream(&body)).await.whole();
    let ids: std::collections::BTreeSet<_> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.clone())
        .collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn a_megabyte_of_arguments_in_small_deltas_arrives_whole() {
    let mut body = created() + &added(0, &call_item("c", "f", "")) + &arguments(0, "{\"c\":\"");
    body.extend(std::iter::repeat_n(arguments(0, &"x".repeat(40)), 25_000));
    let body = body + &arguments(0, "\"}") + &completed(&json!([]));
    let outcome = responses(stream(&body)).await.whole();
    assert_eq!(
        outcome.calls()[0].len(),
        1_000_000 + "f({\"c\":\"\"})".len()
    );
}
