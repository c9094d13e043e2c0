//! A model without calls: asked for JSON, read as calls and answers.

use std::sync::Arc;

use outfitter_core::{ModelRequest, StopReason, ToolName, ToolSchema};
use outfitter_model::ToolMode;
use serde_json::json;

use crate::common::{ask, hello, settings};
use crate::fake::{Fake, stream};
use crate::requests::conversation_for;

fn reply(text: &str, reason: &str) -> String {
    let mut body = String::new();
    for piece in text.chars().collect::<Vec<_>>().chunks(3) {
        let piece: String = piece.iter().collect();
        body += &format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"content": piece}}]})
        );
    }
    body + &format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"delta": {}, "finish_reason": reason}]})
    )
}

fn with_tools() -> ModelRequest {
    let tool = ToolSchema {
        name: ToolName::new("echo").unwrap(),
        description: "Says it again.".into(),
        parameters: Arc::new(json!({
            "type": "object", "required": ["text"],
            "properties": {"text": {"type": "string"}, "times": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"type": "integer"}},
        })),
    };
    ModelRequest {
        tools: Arc::new([tool]),
        ..hello()
    }
}

#[tokio::test]
async fn a_call_is_asked_for_as_json_and_comes_back_as_a_call() {
    let said =
        r#"{"name": "echo", "arguments": {"text":"hi \"you\"", "times": 12345678901234567890123}}"#;
    let fake = Fake::start([
        stream(&reply(said, "stop")),
        stream(&reply(r#"{"answer":"done 🙂"}"#, "stop")),
    ])
    .await;
    let mut settings = settings("openai", fake.url("/v1"));
    settings.tool_mode = ToolMode::JsonSchema;
    let model = settings.build().unwrap();
    let called = ask(&model, with_tools()).await.whole();
    assert_eq!(
        called.calls(),
        [r#"echo({"text":"hi \"you\"", "times": 12345678901234567890123})"#]
    );
    assert_eq!(
        (called.text().as_str(), called.reply.stop),
        ("", Some(StopReason::ToolCalls))
    );
    assert_eq!(
        called.reply.warnings,
        [],
        "its id is ours, so there is nothing to say"
    );
    let answered = ask(&model, with_tools()).await.whole();
    assert_eq!(
        (answered.text().as_str(), answered.reply.stop),
        ("done 🙂", Some(StopReason::End))
    );
    let sent = fake.received()[0].json();
    assert!(sent.get("tools").is_none());
    insta::assert_json_snapshot!("json_mode_request", sent);
    // The name is chosen before the arguments are written.
    let bytes = String::from_utf8(fake.received()[0].body.clone()).unwrap();
    assert!(bytes.find(r#""properties":{"name""#).is_some(), "{bytes}");
}

#[tokio::test]
async fn a_cut_off_call_is_a_call_whose_arguments_do_not_parse() {
    let fake = Fake::start([stream(&reply(
        r#"{"name":"echo","arguments":{"text":"hel"#,
        "length",
    ))])
    .await;
    let mut settings = settings("ollama", fake.url("/v1"));
    settings.tool_mode = ToolMode::JsonSchema;
    let cut = ask(&settings.build().unwrap(), with_tools()).await.whole();
    assert_eq!(cut.calls(), [r#"echo({"text":"hel)"#]);
    assert_eq!(cut.reply.stop, Some(StopReason::Length));
}

#[test]
fn the_model_sees_its_own_form_in_the_conversation() {
    let mut settings = settings("openai", "http://h".into());
    settings.tool_mode = ToolMode::JsonSchema;
    let request = conversation_for("openai", json!({"x": 1}));
    let body = settings.build().unwrap().wire_body(&request).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    insta::assert_json_snapshot!("json_mode_conversation", body["messages"]);
}

#[tokio::test]
async fn without_tools_nothing_is_asked_for_and_a_reply_is_what_it_is() {
    let fake = Fake::start([stream(&reply("{\"answer\": 1}", "stop"))]).await;
    let mut settings = settings("openai", fake.url("/v1"));
    settings.tool_mode = ToolMode::JsonSchema;
    let plain = ask(&settings.build().unwrap(), hello()).await.whole();
    assert_eq!(plain.text(), "{\"answer\": 1}");
    assert!(fake.received()[0].json().get("response_format").is_none());
}
