//! What goes back to the responses API.

use outfitter_core::{MessageRole, ModelRequest, Part, ToolCall};
use serde_json::{Value, json};

use super::{PROVIDER, rich_reply, text_reply, thought};
use crate::common::{ask, hello, message, request, settings, text};
use crate::fake::{Fake, stream};

fn body(request: &ModelRequest, name: &str, vision: bool) -> Value {
    let mut settings = settings(PROVIDER, "http://h".into());
    settings.name = Some(name.into());
    settings.vision = Some(vision);
    let model = settings.build().unwrap();
    serde_json::from_slice(&model.wire_body(request).unwrap()).unwrap()
}

#[test]
fn a_conversation_goes_back_whole_and_nothing_is_kept_there() {
    for vision in [true, false] {
        let body = body(
            &crate::requests::conversation_for(PROVIDER, thought()),
            "gpt-5.1",
            vision,
        );
        insta::assert_json_snapshot!(format!("responses_vision_{vision}"), body);
    }
}

#[test]
fn sealed_thoughts_are_asked_for_only_where_there_are_any() {
    assert_eq!(
        body(&hello(), "gpt-5.1", true)["include"],
        json!(["reasoning.encrypted_content"])
    );
    assert!(
        body(&hello(), "gpt-4.1-mini", true)
            .get("include")
            .is_none()
    );
}

#[test]
fn a_thought_that_led_to_nothing_does_not_go_back() {
    let alone = message(
        MessageRole::Assistant,
        vec![Part::Provider {
            provider: PROVIDER.into(),
            data: thought(),
        }],
    );
    let body = body(&request(vec![alone]), "gpt-5.1", true);
    assert_eq!(body["input"][0]["type"], "message");
    assert_eq!(body["input"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_turn_is_replayed_as_it_came() {
    let fake = Fake::start([stream(&rich_reply()), stream(&text_reply())]).await;
    let model = settings(PROVIDER, fake.url("/v1")).build().unwrap();
    let first = ask(&model, hello()).await.whole();
    let calls: Vec<ToolCall> = first.reply.tool_calls().cloned().collect();
    let mut messages = hello().messages;
    messages.push(message(MessageRole::Assistant, first.reply.parts.clone()));
    for call in &calls {
        messages.push(crate::requests::result_of(
            call.id.as_str(),
            vec![text("done")],
        ));
    }
    ask(&model, request(messages)).await.whole();
    let received = fake.received();
    assert_eq!(received[1].path, "/v1/responses");
    assert_eq!(
        received[1].header("authorization"),
        Some("Bearer sk-secret")
    );
    let sent = received[1].json();
    let kinds: Vec<&str> = sent["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message",
            "reasoning",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output"
        ]
    );
    assert_eq!(sent["input"][3]["arguments"], "{\"n\":1e5}");
    assert_eq!(sent["store"], false);
}
