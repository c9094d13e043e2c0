//! Events become lines.

use outfitter_core::{EventBody, MessageRole, Part, ToolCall, UnixMs};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::Value;

use crate::samples::{call, every_kind, lines, message, numbered, run};

#[test]
fn every_kind_of_event_is_one_line_of_the_contracts_form() {
    insta::assert_snapshot!(lines(&every_kind()));
}

#[test]
fn what_is_not_said_is_left_out_never_null() {
    let written = lines(&run());
    insta::assert_snapshot!(written);
    assert!(!written.contains("null"));
}

#[test]
fn the_output_of_a_run_has_four_fields_and_no_others() {
    let written = lines(&every_kind());
    let last: Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
    let fields: Vec<&String> = last["output"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["status", "answer", "suggested_actions", "error"]);
}

#[rstest]
#[case(0, "0.0")]
#[case(1, "0.001")]
#[case(1_767_225_600_000, "1767225600.0")]
#[case(1_767_225_600_009, "1767225600.009")]
#[case(4_102_444_799_999, "4102444799.999")]
fn time_is_unix_seconds_exact_to_the_millisecond(#[case] ms: u64, #[case] seconds: &str) {
    let mut event = run().remove(0);
    event.at = UnixMs(ms);
    let written = lines(&[event]);
    assert!(written.contains(&format!("\"ts\":{seconds},")), "{written}");
}

#[rstest]
#[case::key_twice(
    r#"{"command":"echo 1","password":"hunter22","n":1,"n":2}"#,
    r#"{"command":"echo 1","password":"[redacted]","n":1,"n":2}"#
)]
#[case::cut_off(
    r#"{"command":"echo 1","password":"hunter22""#,
    r#"{"command":"echo 1","password":"[redacted]""#
)]
#[case::comma_too_many(r#"{"password":"hunter22",}"#, r#"{"password":"[redacted]",}"#)]
fn malformed_arguments_showed_a_password_under_its_name(#[case] raw: &str, #[case] shown: &str) {
    let called = Part::ToolCall(ToolCall {
        id: call("call_1"),
        name: "run_command".to_owned(),
        arguments: raw.into(),
    });
    let told = message("msg_1", MessageRole::Assistant, vec![called]);
    let written = lines(&numbered("run_1", vec![told]));
    let read: Value = serde_json::from_str(written.trim()).unwrap();
    assert_eq!(read["message"]["tool_calls"][0]["arguments"], shown);
    assert!(!written.contains("hunter22"), "{written}");
}

#[test]
fn a_line_is_added_to_what_the_buffer_has() {
    let mut out = b"before\n".to_vec();
    outfitter_codec::encode_event(&run()[0], &mut out).unwrap();
    assert!(out.starts_with(b"before\n{\"type\":\"run_started\""));
    assert!(out.ends_with(b"}\n"));
}

/// Where readers split text into lines, beside the line feed.
const BREAKS: [char; 8] = [
    '\u{b}', '\u{c}', '\r', '\u{1c}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

proptest! {
    #[test]
    fn any_text_stays_one_line_and_reads_back(text in "[\\PCa\u{85}\u{2028}\u{2029}\u{2027}\u{c2}\u{84}\\n\\r]*") {
        let body = EventBody::Warning {
            code: outfitter_core::WarningCode::Retried,
            message: text.clone(),
        };
        let written = lines(&numbered("run_1", vec![body]));
        let line = written.strip_suffix('\n').unwrap();
        prop_assert!(!line.contains('\n') && !line.contains(BREAKS), "{:?}", line);
        let read: Value = serde_json::from_str(line).unwrap();
        prop_assert_eq!(&read["message"], &text);
    }

    #[test]
    fn every_millisecond_of_this_age_is_exact(ms in 0..253_402_300_799_999u64) {
        let mut event = run().remove(0);
        event.at = UnixMs(ms);
        let read: Value = serde_json::from_str(lines(&[event]).trim()).unwrap();
        let seconds = read["ts"].as_f64().unwrap();
        prop_assert_eq!((seconds * 1000.0).round() as u64, ms);
    }
}
