//! Replies: text, reasoning, calls and their arguments.

use outfitter_core::{StopReason, WarningCode};
use rstest::rstest;
use serde_json::json;

use super::{TEXT, call, calls, delta, openai, reply, text_events};
use crate::fake::{chunk, last_chunk, stream, stream_head, stream_in};

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
