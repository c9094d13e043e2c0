//! What a model writes as arguments, and what a tool gets: the cases of the field under their ids.

use std::sync::{Arc, Mutex};

use outfitter_core::{Code, Outcome, Status};
use serde_json::{Value, json};

use crate::support::{Probe, World};

fn asking(schema: Value) -> Probe {
    Probe::new("ask").schema(schema)
}

#[tokio::test]
async fn a07_a_tool_gets_the_values_that_were_meant_and_the_record_says_so() {
    let world = World::new([asking(json!({
        "type": "object",
        "properties": {
            "n": {"type": "number"},
            "i": {"type": ["integer", "null"]},
            "b": {"type": "boolean"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "h": {"type": "object"},
            "id": {"type": "string"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["n"],
        "additionalProperties": false,
    }))]);
    let raw = r#"{"n":"5","i":"18446744073709551615","b":"true","paths":"[\"a\",\"5\"]","h":"{\"k\":\"5\"}","id":"007","either":"007"}"#;
    let output = world.output("ask", raw).await;
    let meant = json!({
        "n": 5, "i": 18_446_744_073_709_551_615_u64, "b": true, "paths": ["a", "5"],
        "h": {"k": "5"}, "id": "007", "either": "007",
    });
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(output.result, Some(meant.clone()), "what the tool got");
    assert_eq!(output.tool_call_args, meant, "what the record says");
}

#[tokio::test]
async fn a07_what_cannot_be_read_is_refused_with_its_path_and_what_can_is_no_fault() {
    let world = World::new([asking(json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"}, "m": {"type": "number"}, "deep": {"type": "object",
                "properties": {"l": {"type": "array", "items": {"type": "integer"}}}},
        },
    }))
    .gives(|| panic!("it ran"))]);
    for (text, at) in [
        (r#"{"n":"5px"}"#, "/n"),
        (r#"{"n":""}"#, "/n"),
        (r#"{"n":"0x10"}"#, "/n"),
        (r#"{"n":" 5"}"#, "/n"),
        (r#"{"n":"null"}"#, "/n"),
        (r#"{"n":null}"#, "/n"),
        (r#"{"n":"5.5"}"#, "/n"),
        (r#"{"n":"18446744073709551616"}"#, "/n"),
        (r#"{"n":"1","m":"x"}"#, "/m"),
        (r#"{"deep":{"l":["1","2","x"]}}"#, "/deep/l/2"),
        (r#"{"deep":"{\"l\":[1,\"x\"]}"}"#, "/deep/l/1"),
    ] {
        let output = world.output("ask", text).await;
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.code, Code::InvalidArguments, "{text}");
        assert_eq!(error.path.as_deref(), Some(at), "{text}: {error:?}");
        assert!(
            !error.message.contains("; "),
            "one fault: {}",
            error.message
        );
    }
}

#[tokio::test]
async fn an_explicit_null_stays_and_a_member_of_any_name_arrives() {
    // Names that a dispatcher made of keyword arguments would trip over or swallow.
    let world = World::new([asking(json!({
        "type": "object",
        "properties": {
            "maybe": {"type": ["string", "null"]}, "tool": {}, "tool_name": {}, "tool_call_id": {},
            "self": {}, "args": {}, "kwargs": {}, "__proto__": {},
        },
        "required": ["maybe"],
        "additionalProperties": false,
    }))]);
    let raw = r#"{"maybe":null,"tool":"a","tool_name":"b","tool_call_id":"c","self":1,"args":[1],"kwargs":{},"__proto__":2}"#;
    let output = world.output("ask", raw).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(output.result, serde_json::from_str(raw).unwrap());
}

/// JSON inside JSON is text. Whatever it looks like, it is not read a second time.
#[tokio::test]
async fn what_the_model_wrote_as_text_reaches_the_tool_letter_by_letter() {
    let got: Arc<Mutex<Option<String>>> = Arc::default();
    let seen = got.clone();
    let write = asking(json!({
        "type": "object",
        "properties": {"content": {"type": "string"}, "n": {"type": "integer"}},
    }))
    .call(move |_, args| {
        let seen = seen.clone();
        Box::pin(async move {
            *seen.lock().unwrap() = args["content"].as_str().map(str::to_owned);
            Ok(Outcome::json(json!(null)).into())
        })
    });
    let world = World::new([write]);
    for content in [
        r#"{"a": 1, "b": "\u00e9\n"}"#,
        r#""quoted""#,
        r"C:\new\table and \\server and \u0041",
        r#"{\"escaped\": \"twice\"}"#,
        "[1, 2]",
        "5",
        "true",
        "null",
        "&lt;b&gt; %41 \r\n\t\u{0}\u{1f980}\u{7f}\u{2028}",
        "",
        " ",
    ] {
        // With another argument that is read out of a string, so that the whole is looked through.
        for call in [
            json!({"content": content}),
            json!({"content": content, "n": "5"}),
        ] {
            let output = world.output("ask", &call.to_string()).await;
            assert_eq!(output.status, Status::Success, "{output:?}");
            assert_eq!(got.lock().unwrap().as_deref(), Some(content));
        }
    }
}

#[tokio::test]
async fn every_fault_is_listed_with_its_path_what_was_expected_and_what_was_found() {
    let world = World::new([asking(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "options": {"$ref": "#/$defs/options"},
            "many": {"type": "array", "items": {"$ref": "#/$defs/options"}},
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {"options": {
            "type": "object",
            "properties": {"encoding": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["limit"],
            "additionalProperties": false,
        }},
    }))]);
    let raw =
        r#"{"pth":"a","options":{"encodng":"utf-8"},"many":[{"limit":1},{"limit":"x","limt":2}]}"#;
    let output = world.output("ask", raw).await;
    let error = output.error.as_ref().unwrap();
    insta::assert_snapshot!(error.message.replace("; ", "\n"));
}
