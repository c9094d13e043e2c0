//! How replies end, and what is no reply at all.

use outfitter_core::{Code, ModelError, Part, StopReason};
use rstest::rstest;
use serde_json::json;

use super::{DONE, call, calls, delta, event, finish, openai, reply};
use crate::fake::{
    Step, chunk, close_delimited_head, json as json_body, last_chunk, stream, stream_head, whole,
};

#[rstest]
#[case::object(
    r#"{"error":{"message":"no credit","type":"billing"}}"#,
    "no credit (billing)"
)]
#[case::text(r#"{"error":"no credit"}"#, "no credit")]
#[case::list(r#"[{"error":{"message":"no credit"}}]"#, "no credit")]
#[case::top_level(r#"{"object":"error","message":"no credit"}"#, "no credit")]
#[case::quoting_the_key(r#"{"error":"bad key sk-secret"}"#, "bad key [redacted]")]
#[tokio::test]
async fn a_200_with_an_error_is_the_providers_error(#[case] body: &str, #[case] said: &str) {
    let error = openai(json_body("200 OK", body)).await.error.unwrap();
    assert!(
        matches!(&error, ModelError::Provider { message } if message == said),
        "{error}"
    );
    assert_eq!(error.code(), Code::ProtocolError);
}

#[rstest]
#[case::html(
    "content-type: text/html\r\n",
    "<html><body>Sign in</body></html>",
    "web page"
)]
#[case::html_as_something_else("content-type: text/plain\r\n", "\n <!doctype html><p>", "web page")]
#[case::other_json(
    "content-type: application/json\r\n",
    "{\"hello\":1}",
    "not a chat completion"
)]
#[case::broken_json(
    "content-type: application/json\r\n",
    "{\"choices\":",
    "not a chat completion"
)]
#[case::words_in_a_stream(
    "content-type: text/event-stream\r\n",
    "data: what?\n\n",
    "not a chat completion"
)]
#[tokio::test]
async fn a_200_that_is_no_reply_is_a_protocol_error(
    #[case] headers: &str,
    #[case] body: &str,
    #[case] said: &str,
) {
    let error = openai(whole("200 OK", headers, body)).await.error.unwrap();
    assert!(
        matches!(&error, ModelError::Protocol { message } if message.contains(said)),
        "{error}"
    );
}

#[rstest]
#[case::as_json("application/json")]
#[case::as_a_stream("text/event-stream")]
#[tokio::test]
async fn a_200_with_a_whole_completion_is_accepted(#[case] kind: &str) {
    let body = json!({
        "error": null,
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "reasoning_content": "hm", "content": "let me look",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "a", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        }}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7},
    });
    let headers = format!("content-type: {kind}\r\n");
    let outcome = openai(whole("200 OK", &headers, &body.to_string()))
        .await
        .whole();
    assert_eq!(outcome.text(), "let me look");
    assert_eq!(outcome.reasoning(), "hm");
    assert_eq!(outcome.calls(), ["f({})", "g({})"]);
    assert_eq!(outcome.reply.usage.unwrap().output_tokens, 7);
}

#[rstest]
#[case::chunked(stream_head(), chunk as fn(String) -> Step)]
#[case::close_delimited(close_delimited_head(), crate::fake::send as fn(String) -> Step)]
#[tokio::test]
async fn a_drop_in_the_middle_is_truncated_with_the_partial(
    #[case] head: Step,
    #[case] piece: fn(String) -> Step,
) {
    let mut steps = vec![head];
    for word in ["one ", "two ", "three"] {
        steps.push(piece(delta(&json!({"content": word}))));
    }
    steps.push(Step::Close);
    let outcome = openai(steps).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(matches!(error, ModelError::Truncated), "{error}");
    assert_eq!(outcome.text(), "one two three");
    assert_eq!(outcome.reply.stop, None);
}

#[tokio::test]
async fn a_drop_in_the_middle_of_an_event_is_truncated() {
    let whole_event = delta(&json!({"content": "two"}));
    let steps = vec![
        close_delimited_head(),
        crate::fake::send(delta(&json!({"content": "one"}))),
        crate::fake::send(&whole_event[..whole_event.len() / 2]),
        Step::Close,
    ];
    let outcome = openai(steps).await;
    assert!(matches!(outcome.error, Some(ModelError::Truncated)));
    assert_eq!(outcome.text(), "one");
}

#[rstest]
#[case::chunked_end(vec![last_chunk()])]
#[case::dropped(vec![Step::Close])]
#[tokio::test]
async fn a_finish_reason_without_the_end_mark_is_accepted(#[case] end: Vec<Step>) {
    let body = calls(&[call(0, "a", "f", "{}")]) + &finish("tool_calls");
    let usage =
        event(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}));
    let mut steps = vec![stream_head(), chunk(body), chunk(usage)];
    steps.extend(end);
    let outcome = openai(steps).await.whole();
    assert_eq!(outcome.calls(), ["f({})"]);
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    assert_eq!(outcome.reply.usage.unwrap().input_tokens, 3);
}

#[tokio::test]
async fn the_end_mark_without_a_finish_reason_is_accepted() {
    let body = delta(&json!({"content": "x"})) + DONE;
    let outcome = openai(stream(&body)).await.whole();
    assert_eq!(
        (outcome.text().as_str(), outcome.reply.stop),
        ("x", Some(StopReason::End))
    );
}

#[tokio::test]
async fn the_last_event_may_lack_its_line_ends() {
    let body = delta(&json!({"content": "x"})) + finish("stop").trim_end();
    assert_eq!(openai(stream(&body)).await.whole().text(), "x");
}

#[tokio::test]
async fn an_empty_200_is_truncated() {
    for steps in [
        whole("200 OK", "", ""),
        stream(""),
        stream("\n\n: nothing\n\n"),
    ] {
        assert!(matches!(
            openai(steps).await.error,
            Some(ModelError::Truncated)
        ));
    }
}

#[tokio::test]
async fn error_null_in_every_chunk_is_ignored() {
    let events = ["a", "b"].map(|word| {
        event(&json!({"error": null, "choices": [{"delta": {"content": word}, "error": null}]}))
    });
    assert_eq!(reply(&events, "stop").await.text(), "ab");
}

#[rstest]
#[case::top_level(event(&json!({"error": {"message": "overloaded", "code": 503}})), "overloaded")]
#[case::in_the_choice(event(&json!({"choices": [{"delta": {}, "error": {"message": "overloaded"}, "finish_reason": "error"}]})), "overloaded")]
#[case::by_event_name("event: error\ndata: {\"message\":\"overloaded\"}\n\n".to_owned(), "overloaded")]
#[case::by_finish_reason(finish("error"), "it stopped with \"error\"")]
#[tokio::test]
async fn an_error_in_the_stream_ends_it_with_the_partial(
    #[case] failure: String,
    #[case] said: &str,
) {
    let after = delta(&json!({"content": "never"})) + &finish("stop") + DONE;
    let body = delta(&json!({"content": "so far"})) + &failure + &after;
    let outcome = openai(stream(&body)).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::Provider { message } if message == said),
        "{error}"
    );
    assert_eq!(outcome.text(), "so far");
}

#[tokio::test]
async fn usage_may_be_floats_or_huge_and_zeros_do_not_count() {
    let usage = |input: serde_json::Value, output: serde_json::Value| {
        event(&json!({"choices": [], "usage": {
            "prompt_tokens": input, "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": 2.0},
            "completion_tokens_details": {"reasoning_tokens": "1"},
        }}))
    };
    let body = [
        usage(json!(0), json!(0)),
        delta(&json!({"content": "x"})),
        usage(json!(12.0), json!(5_000_000_000_u64)),
        usage(json!(0), json!(0)),
    ];
    let tokens = reply(&body, "stop").await.reply.usage.unwrap();
    assert_eq!(
        (tokens.input_tokens, tokens.output_tokens),
        (12, 5_000_000_000)
    );
    assert_eq!((tokens.cache_read_tokens, tokens.reasoning_tokens), (2, 1));
}

#[tokio::test]
async fn usage_is_found_where_servers_put_it() {
    let tokens = json!({"prompt_tokens": 3, "completion_tokens": 4});
    for chunk in [
        json!({"choices": [{"delta": {}, "usage": tokens}]}),
        json!({"choices": [], "x_groq": {"usage": tokens}}),
        json!({"usage": tokens}),
    ] {
        let usage = reply(&[event(&chunk)], "stop").await.reply.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (3, 4));
    }
}

#[tokio::test]
async fn refusals_and_opaque_reasoning_are_kept() {
    let outcome = reply(
        &[
            delta(&json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]})),
            delta(&json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]})),
            delta(&json!({"refusal": "I "})),
            delta(&json!({"refusal": "cannot"})),
        ],
        "content_filter",
    )
    .await;
    assert_eq!(outcome.reply.stop, Some(StopReason::Refused));
    assert_eq!(
        outcome.reply.parts,
        [
            Part::Refusal {
                text: "I cannot".into()
            },
            Part::Provider {
                provider: "openai".into(),
                data: json!({"reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
                ]}),
            },
        ]
    );
}

#[tokio::test]
async fn a_megabyte_of_arguments_in_small_deltas_arrives_whole() {
    let piece = "x".repeat(40);
    let mut events = vec![calls(&[call(0, "a", "f", "{\"c\":\"")])];
    events.extend(std::iter::repeat_n(
        calls(&[call(0, "", "", &piece)]),
        25_000,
    ));
    events.push(calls(&[call(0, "", "", "\"}")]));
    let outcome = reply(&events, "tool_calls").await;
    assert_eq!(
        outcome.calls()[0].len(),
        1_000_000 + "f({\"c\":\"\"})".len()
    );
}

#[tokio::test]
async fn other_choices_and_unknown_reasons_do_no_harm() {
    let chunk = json!({"choices": [
        {"index": 1, "delta": {"content": "other"}},
        {"index": 0, "delta": {"content": "mine"}},
    ]});
    let outcome = reply(&[event(&chunk)], "because").await;
    assert_eq!(outcome.text(), "mine");
    assert_eq!(
        outcome.reply.stop,
        Some(StopReason::Other("because".into()))
    );
}

#[tokio::test]
async fn a_reply_that_goes_on_after_a_reason_is_not_over() {
    let early = event(&json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}));
    let steps = vec![
        stream_head(),
        chunk(early + &delta(&json!({"content": "b"}))),
        Step::Close,
    ];
    let outcome = openai(steps).await;
    assert!(matches!(outcome.error, Some(ModelError::Truncated)));
    assert_eq!(outcome.text(), "ab");
}

#[tokio::test]
async fn a_reason_in_every_chunk_does_not_end_the_reply() {
    let chunk = |word: &str| {
        event(&json!({"choices": [{"delta": {"content": word}, "finish_reason": "stop"}]}))
    };
    assert_eq!(reply(&[chunk("a"), chunk("b")], "stop").await.text(), "ab");
}
