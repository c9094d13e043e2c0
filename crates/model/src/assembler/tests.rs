use std::collections::BTreeSet;

use outfitter_core::{SystemClock, ToolCallDelta};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

/// `index, id, name, arguments`; an empty text is a field that is not there.
type Piece<'a> = (Option<u64>, &'a str, &'a str, &'a str);

fn piece((index, id, name, arguments): Piece<'_>) -> ModelDelta {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ModelDelta::ToolCall(ToolCallDelta {
        index,
        id: some(id),
        name: some(name),
        arguments: arguments.to_owned(),
    })
}

fn assembler() -> TurnAssembler {
    TurnAssembler::new("test", |id| id == "used", Arc::new(SystemClock))
}

fn assemble(deltas: impl IntoIterator<Item = ModelDelta>) -> Assembled {
    let mut reply = assembler();
    for delta in deltas {
        reply.push(delta);
    }
    reply.push(ModelDelta::Stopped(StopReason::ToolCalls));
    reply.finish()
}

/// Calls as `(id, name, arguments)`, with `*` for an id of ours.
fn calls(reply: &Assembled) -> Vec<(String, String, String)> {
    let ids: BTreeSet<_> = reply.tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), reply.tool_calls().count(), "ids are unique");
    reply
        .tool_calls()
        .map(|call| {
            let id = call.id.as_str();
            let ours = id.starts_with("call_") && id.len() == 31;
            (
                if ours { "*".into() } else { id.to_owned() },
                call.name.clone(),
                call.arguments.to_string(),
            )
        })
        .collect()
}

const A: Option<u64> = Some(0);
const B: Option<u64> = Some(1);
const NO: Option<u64> = None;

#[rstest]
#[case::sequential(
    &[(A, "a", "f", ""), (A, "", "", "{\"x\""), (A, "", "", ":1}"), (B, "b", "g", ""), (B, "", "", "{}")],
    &[("a", "f", "{\"x\":1}"), ("b", "g", "{}")]
)]
#[case::interleaved(
    &[(A, "a", "f", ""), (B, "b", "g", ""), (A, "", "", "{"), (B, "", "", "{"), (A, "", "", "}"), (B, "", "", "}")],
    &[("a", "f", "{}"), ("b", "g", "{}")]
)]
#[case::index_from_one_and_far(
    &[(B, "a", "f", "{}"), (Some(3_000_000), "b", "g", "{}"), (Some(u64::MAX), "c", "h", "{}")],
    &[("a", "f", "{}"), ("b", "g", "{}"), ("c", "h", "{}")]
)]
#[case::no_index_goes_to_the_last_open_call(
    &[(NO, "a", "f", ""), (NO, "", "", "{\"x\":"), (NO, "", "", "1}"), (NO, "b", "g", ""), (NO, "", "", "{}")],
    &[("a", "f", "{\"x\":1}"), ("b", "g", "{}")]
)]
#[case::no_index_but_id_with_every_piece(
    &[(NO, "a", "f", ""), (NO, "b", "g", ""), (NO, "a", "", "{}"), (NO, "b", "", "{ }")],
    &[("a", "f", "{}"), ("b", "g", "{ }")]
)]
#[case::no_index_and_no_id(
    &[(NO, "", "f", "{\"x\":1}"), (NO, "", "f", "{\"x\":2}"), (NO, "", "g", "{}")],
    &[("*", "f", "{\"x\":1}"), ("*", "f", "{\"x\":2}"), ("*", "g", "{}")]
)]
#[case::no_index_no_id_no_arguments(
    &[(NO, "", "f", ""), (NO, "", "g", "")],
    &[("*", "f", ""), ("*", "g", "")]
)]
#[case::no_id(&[(A, "", "f", "{}"), (B, "", "f", "{}")], &[("*", "f", "{}"), ("*", "f", "{}")])]
#[case::id_in_a_later_delta(
    &[(A, "", "f", ""), (A, "a", "", "{}")],
    &[("a", "f", "{}")]
)]
#[case::id_too_late(&[(A, "", "f", "{"), (A, "a", "", "}")], &[("*", "f", "{}")])]
#[case::id_without_index_in_a_later_delta(
    &[(NO, "", "f", ""), (NO, "a", "", "{}")],
    &[("a", "f", "{}")]
)]
#[case::same_id_two_indexes(
    &[(A, "x", "f", "{}"), (B, "x", "g", "{}")],
    &[("x", "f", "{}"), ("*", "g", "{}")]
)]
#[case::same_id_no_index(
    &[(NO, "x", "f", "{\"a\":1}"), (NO, "x", "f", "{\"b\":2}")],
    &[("x", "f", "{\"a\":1}"), ("*", "f", "{\"b\":2}")]
)]
#[case::id_of_an_earlier_turn(&[(A, "used", "f", "{}")], &[("*", "f", "{}")])]
#[case::every_call_has_index_zero(
    &[(A, "a", "f", "{\"x\":1}"), (A, "b", "f", "{\"x\":2}"), (A, "c", "g", "{}")],
    &[("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}"), ("c", "g", "{}")]
)]
#[case::every_call_has_index_zero_and_no_id(
    &[(A, "", "f", "{\"x\":1}"), (A, "", "f", "{\"x\":2}")],
    &[("*", "f", "{\"x\":1}"), ("*", "f", "{\"x\":2}")]
)]
#[case::a_new_id_with_every_piece_of_one_call(
    &[(A, "r1", "f", ""), (A, "r2", "", "{"), (A, "r3", "", "}")],
    &[("r1", "f", "{}")]
)]
#[case::name_and_id_repeated(
    &[(A, "a", "get", ""), (A, "a", "get", "{"), (A, "a", "get", "}"), (A, "a", "get", "")],
    &[("a", "get", "{}")]
)]
#[case::name_repeated_without_id(
    &[(A, "", "get", "{"), (A, "", "get", "\"a\":"), (A, "", "get", "1}"), (A, "", "get", "")],
    &[("*", "get", "{\"a\":1}")]
)]
#[case::name_in_pieces(&[(A, "a", "get_", ""), (A, "", "wea", ""), (A, "", "ther", "{}")], &[("a", "get_weather", "{}")])]
#[case::name_growing(&[(A, "a", "get_", ""), (A, "", "get_weather", "{}")], &[("a", "get_weather", "{}")])]
#[case::arguments_before_the_name(&[(A, "a", "", "{\"x\""), (A, "", "f", ":1}")], &[("a", "f", "{\"x\":1}")])]
#[case::no_name_at_all(&[(A, "a", "", "{}")], &[("a", "", "{}")])]
#[case::nothing_is_no_call(&[(A, "a", "", ""), (NO, "", "", " ")], &[])]
#[case::cut_off(&[(A, "a", "f", "{\"path\":\"a.txt\",\"content\":\"abc")], &[("a", "f", "{\"path\":\"a.txt\",\"content\":\"abc")])]
#[case::raw_text_stays(&[(A, "a", "f", "{\"n\": 1e5, \"n\": 12345678901234567890123 }\n")], &[("a", "f", "{\"n\": 1e5, \"n\": 12345678901234567890123 }\n")])]
#[case::empty_stays_empty(&[(A, "a", "f", "")], &[("a", "f", "")])]
fn pieces_become_calls(#[case] pieces: &[Piece<'_>], #[case] expected: &[(&str, &str, &str)]) {
    let reply = assemble(pieces.iter().copied().map(piece));
    let calls = calls(&reply);
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| (id.as_str(), name.as_str(), arguments.as_str()))
        .collect();
    assert_eq!(calls, expected);
    let ours = expected.iter().filter(|call| call.0 == "*").count();
    let repaired = |warning: &&ReplyWarning| warning.code == WarningCode::RepairedCallId;
    assert_eq!(reply.warnings.iter().filter(repaired).count(), ours);
}

#[test]
fn text_reasoning_and_calls_keep_their_order() {
    let text = |text: &str| ModelDelta::Text(text.to_owned());
    let reply = assemble([
        ModelDelta::Reasoning("think".into()),
        ModelDelta::Reasoning("ing".into()),
        ModelDelta::ReasoningSignature("sig".into()),
        ModelDelta::ReasoningSignature("hidden".into()),
        ModelDelta::Reasoning("more".into()),
        text("a"),
        text("b"),
        piece((A, "1", "f", "{}")),
        ModelDelta::Provider(json!({"k": 1})),
        text("c"),
        piece((A, "", "", " ")),
        text("d"),
        ModelDelta::Refusal("n".into()),
        ModelDelta::Refusal("o".into()),
    ]);
    insta::assert_json_snapshot!(reply.parts, @r#"
    [
      {
        "type": "reasoning",
        "text": "thinking",
        "signature": "sig"
      },
      {
        "type": "reasoning",
        "text": "",
        "signature": "hidden"
      },
      {
        "type": "reasoning",
        "text": "more"
      },
      {
        "type": "text",
        "text": "ab"
      },
      {
        "type": "tool_call",
        "id": "1",
        "name": "f",
        "arguments": "{} "
      },
      {
        "type": "provider",
        "provider": "test",
        "data": {
          "k": 1
        }
      },
      {
        "type": "text",
        "text": "cd"
      },
      {
        "type": "refusal",
        "text": "no"
      }
    ]
    "#);
}

#[test]
fn what_is_shown_has_the_id_that_the_call_keeps() {
    let mut reply = assembler();
    assert_eq!(
        reply.push(piece((A, "", "", "{\"x\""))),
        None,
        "no name yet"
    );
    let first = reply.push(piece((A, "", "f", ":"))).unwrap();
    let second = reply.push(piece((A, "late", "", "1}"))).unwrap();
    assert_eq!(first.kind, DeltaKind::ToolArguments);
    assert_eq!(
        (first.text.as_str(), second.text.as_str()),
        ("{\"x\":", "1}")
    );
    assert_eq!(first.call, second.call);
    reply.push(ModelDelta::Stopped(StopReason::ToolCalls));
    let reply = reply.finish();
    assert_eq!(
        Some(&reply.tool_calls().next().unwrap().id),
        first.call.as_ref()
    );
}

#[test]
fn nothing_empty_is_shown() {
    let mut reply = assembler();
    for delta in [
        ModelDelta::Text(String::new()),
        ModelDelta::Reasoning(String::new()),
        piece((A, "a", "f", "")),
        ModelDelta::Started(ResponseFacts::default()),
    ] {
        assert_eq!(reply.push(delta), None);
    }
}

#[rstest]
#[case(StopReason::End, true, StopReason::ToolCalls)]
#[case(StopReason::ToolCalls, false, StopReason::End)]
#[case(StopReason::Length, true, StopReason::Length)]
#[case(StopReason::Refused, false, StopReason::Refused)]
fn the_stop_agrees_with_the_calls(
    #[case] said: StopReason,
    #[case] called: bool,
    #[case] is: StopReason,
) {
    let mut reply = assembler();
    if called {
        reply.push(piece((A, "a", "f", "{}")));
    }
    reply.push(ModelDelta::Stopped(said));
    assert_eq!(reply.finish().stop, Some(is));
}

#[test]
fn a_length_limit_a_refusal_and_retries_are_warned_of() {
    let codes = |stop: StopReason, retries| {
        let mut reply = assembler();
        reply.push(ModelDelta::Started(ResponseFacts {
            request_id: None,
            retries,
        }));
        reply.push(ModelDelta::Stopped(stop));
        let warnings = reply.finish().warnings;
        warnings.into_iter().map(|w| w.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(StopReason::End, 0), []);
    assert_eq!(codes(StopReason::Length, 0), [WarningCode::Truncated]);
    assert_eq!(
        codes(StopReason::Refused, 1),
        [WarningCode::Refused, WarningCode::Retried]
    );
}

#[test]
fn a_reply_that_was_cut_off_keeps_its_text_and_its_whole_calls() {
    let mut reply = assembler();
    reply.push(ModelDelta::Text("so far".into()));
    reply.push(piece((A, "a", "f", "{\"x\":1}")));
    reply.push(piece((B, "b", "g", "{\"x\":")));
    let reply = reply.finish();
    assert_eq!(reply.stop, None);
    assert_eq!(
        calls(&reply),
        [("a".into(), "f".into(), "{\"x\":1}".into())]
    );
    assert_eq!(
        reply.parts[0],
        Part::Text {
            text: "so far".into()
        }
    );
    assert_eq!(reply.warnings[0].code, WarningCode::Truncated);
}

#[test]
fn the_last_usage_that_is_not_zero_counts() {
    let usage = |input_tokens| {
        ModelDelta::Usage(TokenUsage {
            input_tokens,
            ..TokenUsage::default()
        })
    };
    let reply = assemble([usage(0), usage(5), usage(7), usage(0)]);
    assert_eq!(reply.usage.unwrap().input_tokens, 7);
}

#[test]
fn calls_over_the_bound_are_left_out_and_warned_of() {
    let numbered = (0..200).map(|n| piece((Some(n), "", "f", "{}")));
    let unnumbered = (0..200).map(|_| piece((NO, "", "f", "{}")));
    for reply in [assemble(numbered), assemble(unnumbered)] {
        assert_eq!(reply.tool_calls().count(), crate::limits::MAX_CALLS);
        assert!(reply.tool_calls().all(|call| &*call.arguments == "{}"));
        let warned = reply.warnings.last().unwrap();
        assert_eq!(warned.code, WarningCode::Truncated);
    }
}

#[test]
fn a_megabyte_of_arguments_is_copied_twice_and_no_more() {
    let piece_of = "x".repeat(40);
    let mut reply = assembler();
    let mut shown = 0;
    reply.push(piece((A, "a", "f", "{\"c\":\"")));
    for _ in 0..25_000 {
        // Each piece shows itself and nothing of what came before it.
        let text = reply.push(piece((A, "", "", &piece_of))).unwrap().text;
        shown += text.len();
        assert_eq!(text.len(), 40);
    }
    assert_eq!(shown, 1_000_000);
    reply.push(piece((A, "", "", "\"}")));
    reply.push(ModelDelta::Stopped(StopReason::ToolCalls));
    assert_eq!(calls(&reply.finish())[0].2.len(), 1_000_008);
}

fn any_delta() -> impl Strategy<Value = ModelDelta> {
    let id = prop_oneof![Just(""), Just("a"), Just("b"), Just("used")];
    let name = prop_oneof![Just(""), Just("f"), Just("g")];
    let arguments = prop_oneof![Just(""), Just("{"), Just("}"), Just("{}"), Just("\"")];
    let call = (prop::option::of(0..3_u64), id, name, arguments).prop_map(piece);
    prop_oneof![
        3 => call,
        1 => "[ab]{0,2}".prop_map(ModelDelta::Text),
        1 => "[ab]{0,2}".prop_map(ModelDelta::Reasoning),
        1 => Just(ModelDelta::ReasoningSignature("s".into())),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_ids_are_unique_and_no_text_is_lost(
        deltas in prop::collection::vec(any_delta(), 0..40),
    ) {
        let mut reply = assembler();
        let mut text = String::new();
        let mut arguments = 0;
        let mut shown: Vec<Shown> = Vec::new();
        for delta in deltas {
            match &delta {
                ModelDelta::Text(piece) => text.push_str(piece),
                ModelDelta::ToolCall(piece) => arguments += piece.arguments.len(),
                _ => {}
            }
            shown.extend(reply.push(delta));
        }
        reply.push(ModelDelta::Stopped(StopReason::End));
        let reply = reply.finish();
        let _ = calls(&reply);
        let kept: usize = reply.tool_calls().map(|call| call.arguments.len()).sum();
        prop_assert_eq!(kept, arguments);
        let said: String = reply.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(said, text);
        for call in reply.tool_calls().filter(|call| !call.name.is_empty()) {
            let seen: String = shown
                .iter()
                .filter(|shown| shown.call.as_ref() == Some(&call.id))
                .map(|shown| shown.text.as_str())
                .collect();
            prop_assert_eq!(&*seen, &*call.arguments);
        }
    }
}
