//! Each row of what OpenAI-compatible servers send.

use outfitter_core::{Code, ModelError, Part, StopReason, WarningCode};
use rstest::rstest;
use serde_json::json;

use crate::common::{Outcome, answer};
use crate::fake::{
    Step, chunk, close_delimited_head, json as json_body, last_chunk, stream, stream_head,
    stream_in, whole,
};

const DONE: &str = "data: [DONE]\n\n";

fn event(chunk: &serde_json::Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &serde_json::Value) -> String {
    event(
        &json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
    )
}

fn finish(reason: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

fn call(index: u64, id: &str, name: &str, arguments: &str) -> serde_json::Value {
    let mut call = json!({"index": index, "function": {}});
    if !id.is_empty() {
        call["id"] = json!(id);
        call["type"] = json!("function");
    }
    if !name.is_empty() {
        call["function"]["name"] = json!(name);
    }
    call["function"]["arguments"] = json!(arguments);
    call
}

fn calls(list: &[serde_json::Value]) -> String {
    delta(&json!({"tool_calls": list}))
}

async fn openai(steps: Vec<Step>) -> Outcome {
    answer("openai", steps).await
}

/// A stream of these events and a proper end.
async fn reply(events: &[String], reason: &str) -> Outcome {
    let body = [events.concat(), finish(reason), DONE.to_owned()].concat();
    openai(stream(&body)).await.whole()
}

const TEXT: &str = "Grüße, 你好, 🙂 and a good day to all of you.";

fn text_events() -> String {
    let characters: Vec<char> = TEXT.chars().collect();
    let mut body = delta(&json!({"role": "assistant", "content": ""}));
    for piece in characters.chunks(7) {
        body += &delta(&json!({"content": piece.iter().collect::<String>()}));
    }
    body + &finish("stop") + DONE
}

#[rstest]
#[case::one_write(usize::MAX)]
#[case::inside_characters(5)]
#[case::byte_by_byte(1)]
#[tokio::test]
async fn text_is_exact_whatever_the_pieces(#[case] size: usize) {
    let outcome = openai(stream_in(size, &text_events())).await.whole();
    assert_eq!(outcome.text(), TEXT);
    assert_eq!(outcome.reply.stop, Some(StopReason::End));
    assert_eq!(outcome.reply.facts.request_id.as_deref(), Some("req-7"));
}

#[rstest]
#[case::crlf("\r\n")]
#[case::cr_only("\r")]
#[tokio::test]
async fn text_is_exact_whatever_the_line_ends(#[case] end: &str) {
    let body = text_events().replace('\n', end);
    for size in [1, 5, usize::MAX] {
        assert_eq!(openai(stream_in(size, &body)).await.whole().text(), TEXT);
    }
}

#[tokio::test]
async fn both_bytes_of_a_line_end_may_come_in_two_reads() {
    let body = text_events().replace('\n', "\r\n");
    let mut steps = vec![stream_head()];
    let lines: Vec<&str> = body.split_inclusive('\r').collect();
    steps.extend(lines.iter().map(chunk));
    steps.push(last_chunk());
    assert_eq!(openai(steps).await.whole().text(), TEXT);
}

#[tokio::test]
async fn comments_several_data_lines_and_no_space_are_read() {
    let body =
        ": keep-alive\n\ndata:{\"choices\":[{\"delta\":\ndata:{\"content\":\"a\"}}]}\n\n: x\n"
            .to_owned()
            + "id: 3\nretry: 10\nevent: message\ndata:"
            + "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata:[DONE]\n\n";
    assert_eq!(openai(stream(&body)).await.whole().text(), "ab");
}

#[tokio::test]
async fn a_byte_order_mark_before_the_first_event_is_skipped() {
    let body = format!("\u{feff}{}", text_events());
    assert_eq!(openai(stream_in(2, &body)).await.whole().text(), TEXT);
}

#[tokio::test]
async fn reasoning_comes_by_either_name_and_not_twice() {
    let outcome = reply(
        &[
            delta(&json!({"reasoning_content": "a", "content": null})),
            delta(&json!({"reasoning": "b"})),
            delta(&json!({"reasoning_content": "c", "reasoning": "c"})),
            delta(&json!({"content": "x"})),
        ],
        "stop",
    )
    .await;
    assert_eq!(
        (outcome.reasoning().as_str(), outcome.text().as_str()),
        ("abc", "x")
    );
}

#[tokio::test]
async fn content_may_be_a_list_of_parts() {
    let outcome = reply(
        &[
            delta(&json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})),
            delta(&json!({"content": [{"type": "text", "text": "x"}]})),
        ],
        "stop",
    )
    .await;
    assert_eq!(
        (outcome.reasoning().as_str(), outcome.text().as_str()),
        ("hm", "x")
    );
}

#[tokio::test]
async fn parallel_calls_come_one_after_the_other() {
    let outcome = reply(
        &[
            calls(&[call(0, "a", "f", "")]),
            calls(&[call(0, "", "", "{\"x\":")]),
            calls(&[call(0, "", "", "1}")]),
            calls(&[call(1, "b", "g", "{}")]),
        ],
        "tool_calls",
    )
    .await;
    assert_eq!(outcome.calls(), ["f({\"x\":1})", "g({})"]);
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolCalls));
    assert_eq!(outcome.reply.warnings, []);
}

#[tokio::test]
async fn parallel_calls_come_interleaved_one_character_at_a_time() {
    let (first, second) = ("{\"city\":\"Köln\"}", "{\"city\":\"北京\"}");
    let mut events = vec![calls(&[call(0, "a", "f", ""), call(1, "b", "g", "")])];
    for (x, y) in first.chars().zip(second.chars().chain("    ".chars())) {
        events.push(calls(&[call(0, "", "", &x.to_string())]));
        events.push(calls(&[call(1, "", "", &y.to_string())]));
    }
    let outcome = reply(&events, "tool_calls").await;
    assert_eq!(outcome.calls()[0], format!("f({first})"));
    assert_eq!(
        outcome.calls()[1].trim_end_matches([' ', ')']),
        format!("g({second}")
    );
}

#[tokio::test]
async fn two_calls_come_in_one_delta() {
    let both = [
        call(0, "a", "f", "{\"x\":1}"),
        call(1, "b", "f", "{\"x\":2}"),
    ];
    let outcome = reply(&[calls(&both)], "tool_calls").await;
    assert_eq!(outcome.calls(), ["f({\"x\":1})", "f({\"x\":2})"]);
}

#[rstest]
#[case::empty(json!({"name": "f", "arguments": ""}), "f()")]
#[case::missing(json!({"name": "f"}), "f()")]
#[case::null(json!({"name": "f", "arguments": null}), "f()")]
#[case::an_object_instead_of_text(json!({"name": "f", "arguments": {"a": 1}}), "f({\"a\":1})")]
#[tokio::test]
async fn empty_arguments_stay_as_they_were(
    #[case] function: serde_json::Value,
    #[case] expected: &str,
) {
    let made = json!({"index": 0, "id": "a", "function": function});
    assert_eq!(
        reply(&[calls(&[made])], "tool_calls").await.calls(),
        [expected]
    );
}

#[tokio::test]
async fn arguments_cut_off_by_length_stay_a_call_with_its_text() {
    let cut = "{\"path\":\"a.txt\",\"content\":\"abc";
    let outcome = reply(&[calls(&[call(0, "a", "write", cut)])], "length").await;
    assert_eq!(outcome.calls(), [format!("write({cut})")]);
    assert_eq!(outcome.reply.stop, Some(StopReason::Length));
    assert_eq!(outcome.reply.warnings[0].code, WarningCode::Truncated);
}

#[rstest]
#[case::no_id(&[calls(&[call(0, "", "f", "{}")])], &["f({})"])]
#[case::id_in_a_later_delta(&[calls(&[call(0, "", "f", "")]), calls(&[call(0, "a", "", "{}")])], &["f({})"])]
#[case::one_id_twice(&[calls(&[call(0, "x", "f", "{}"), call(1, "x", "g", "{}")])], &["f({})", "g({})"])]
#[case::name_repeated_without_id(
    &[calls(&[call(0, "", "f", "{")]), calls(&[call(0, "", "f", "}")])],
    &["f({})"]
)]
#[tokio::test]
async fn every_call_has_an_id_of_its_own(#[case] events: &[String], #[case] expected: &[&str]) {
    let outcome = reply(events, "tool_calls").await;
    assert_eq!(outcome.calls(), expected);
    let ids: std::collections::BTreeSet<_> = outcome
        .reply
        .tool_calls()
        .map(|call| call.id.clone())
        .collect();
    assert_eq!(ids.len(), expected.len());
}

#[tokio::test]
async fn the_text_of_arguments_is_kept_byte_for_byte() {
    let raw = "{ \"n\":1e5, \"big\":12345678901234567890123, \"n\" : 100000.0, \"s\":\"\\u00e9\" }";
    let outcome = reply(&[calls(&[call(0, "a", "f", raw)])], "tool_calls").await;
    assert_eq!(outcome.calls(), [format!("f({raw})")]);
}

#[rstest]
#[case::without_index(json!([{"id": "a", "function": {"name": "f", "arguments": "{\"x\""}}]), json!([{"function": {"arguments": ":1}"}}]))]
#[case::index_null(json!([{"index": null, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}}]), json!([{"index": null, "function": {"arguments": ":1}"}}]))]
#[case::index_from_one(json!([call(1, "a", "f", "{\"x\"")]), json!([call(1, "", "", ":1}")]))]
#[case::index_three_million(json!([call(3_000_000, "a", "f", "{\"x\"")]), json!([call(3_000_000, "", "", ":1}")]))]
#[tokio::test]
async fn the_index_may_be_anything_or_missing(
    #[case] first: serde_json::Value,
    #[case] second: serde_json::Value,
) {
    let events = [
        delta(&json!({"tool_calls": first})),
        delta(&json!({"tool_calls": second})),
    ];
    assert_eq!(reply(&events, "tool_calls").await.calls(), ["f({\"x\":1})"]);
}

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
