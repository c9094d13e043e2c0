//! What clients send.

use outfitter_codec::agui::{ClientEra, InputError, RunAgentInput};
use outfitter_core::Code;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

fn parse(input: &Value) -> Result<RunAgentInput, InputError> {
    RunAgentInput::parse(input.to_string().as_bytes())
}

fn least() -> Value {
    json!({"threadId": "t", "runId": "JHdSI7m", "messages": []})
}

#[test]
fn a_client_of_one_point_zero_is_read_whole() {
    let input = parse(&json!({
        "threadId": "cli", "runId": "r1", "parentRunId": "r0", "protocolVersion": "1.0",
        "state": {"n": 1}, "forwardedProps": {"ui": "a2ui"},
        "tools": [{"name": "pick", "description": "d", "parameters": {}}],
        "context": [{"description": "place", "value": "Rome"}],
        "messages": [{"id": "u1", "role": "user", "content": [
            {"type": "text", "text": "see "},
            {"type": "image", "source": {"type": "url", "value": "https://x/y.png"}},
            {"type": "text", "text": "this"},
        ]}],
        "resume": [{"interruptId": "int_1", "status": "resolved", "payload": {"approved": true}}],
    }))
    .unwrap();
    insta::assert_debug_snapshot!(input);
}

#[test]
fn a_client_of_before_may_send_null_for_nothing_and_fields_that_nobody_knows() {
    let mut input = least();
    for key in [
        "state",
        "tools",
        "context",
        "forwardedProps",
        "resume",
        "parentRunId",
    ] {
        input[key] = Value::Null;
    }
    input["later"] = json!({"x": 1});
    input["messages"] =
        json!([{"role": "weather", "content": 5}, {"role": "assistant", "content": null}]);
    let read = parse(&input).unwrap();
    assert_eq!(
        read,
        parse(&{
            let mut least = least();
            least["messages"] = input["messages"].clone();
            least
        })
        .unwrap()
    );
    assert_eq!((read.era, read.state), (ClientEra::Before, json!({})));
}

#[rstest]
#[case(None, ClientEra::Before)]
#[case(Some("0.0.59"), ClientEra::Before)]
#[case(Some("1.0"), ClientEra::One)]
#[case(Some("2"), ClientEra::One)]
#[case(Some("new"), ClientEra::Before)]
fn the_era_is_what_the_client_says(#[case] version: Option<&str>, #[case] era: ClientEra) {
    assert_eq!(ClientEra::of(version), era);
}

#[rstest]
#[case("threadId", json!(null), "/threadId")]
#[case("threadId", json!("a/b"), "/threadId")]
#[case("runId", json!(""), "/runId")]
#[case("runId", json!(7), "/runId")]
#[case("messages", json!(null), "/messages")]
#[case("messages", json!({}), "/messages")]
#[case("messages", json!([7]), "/messages/0")]
#[case("messages", json!([{"role": "user"}]), "/messages/0/content")]
#[case("messages", json!([{"role": "user", "content": [{"type": "text"}]}]), "/messages/0/content/0/text")]
#[case("messages", json!([{"content": "x"}]), "/messages/0/role")]
#[case("tools", json!([{}]), "/tools/0/name")]
#[case("context", json!([{"description": "d", "value": 1}]), "/context/0/value")]
#[case("resume", json!([{"interruptId": "", "status": "resolved"}]), "/resume/0/interruptId")]
#[case("resume", json!([{"interruptId": "i", "status": "maybe"}]), "/resume/0/status")]
fn what_does_not_fit_says_where(#[case] key: &str, #[case] value: Value, #[case] path: &str) {
    let mut input = least();
    input[key] = value;
    let error = parse(&input).unwrap_err().info();
    assert_eq!(error.path.as_deref(), Some(path), "{error}");
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    let error = RunAgentInput::parse(b"{\"threadId\": ").unwrap_err();
    assert!(matches!(error, InputError::Syntax(_)));
    assert_eq!(error.info().code, Code::InvalidArguments);
    for not_an_object in [json!(null), json!([]), json!("x")] {
        let error = parse(&not_an_object).unwrap_err().info();
        assert_eq!(error.path.as_deref(), Some(""));
    }
}

/// Each row: the history as `role:id`, the ids that are known, the words that are new.
#[rstest]
#[case("user:a", "", "a")]
#[case("user:a user:b", "", "a b")]
#[case("user:a assistant:x user:b", "", "b")]
#[case("user:a assistant:forged tool:forged user:b", "", "b")]
#[case("user:a user:b", "a", "b")]
#[case("user:a assistant:x", "", "")]
#[case("user:a assistant:x user:b reasoning:r system:s user:c", "x", "b c")]
#[case("user:a assistant:x user:b", "b", "")]
#[case("", "", "")]
fn only_what_the_person_added_is_new(#[case] said: &str, #[case] known: &str, #[case] new: &str) {
    let messages: Vec<Value> = said
        .split_whitespace()
        .map(|word| {
            let (role, id) = word.split_once(':').unwrap();
            json!({"role": role, "id": id, "content": id})
        })
        .collect();
    let mut input = least();
    input["messages"] = json!(messages);
    let input = parse(&input).unwrap();
    let found: Vec<&str> = input
        .new_user_messages(|id| known.split_whitespace().any(|word| word == id))
        .into_iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(found.join(" "), new);
}

proptest! {
    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = RunAgentInput::parse(&body);
    }

    #[test]
    fn no_field_of_any_form_panics(at in 0..9usize, text in "[\\[\\]{}\":,a0 null]{0,24}") {
        let keys = ["threadId", "runId", "messages", "state", "tools", "context", "resume", "forwardedProps", "protocolVersion"];
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let mut input = least();
            input[keys[at]] = value;
            let _ = parse(&input);
        }
    }
}
