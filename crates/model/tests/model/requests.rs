//! A conversation as each wire has it.

use std::sync::Arc;

use outfitter_core::{
    CallId, Code, ErrorInfo, Message, MessageRole, ModelRequest, Part, PartSource, ToolCall,
    ToolName, ToolOutput, ToolSchema,
};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{message, request, settings, text};

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId::new(id).unwrap(),
        name: name.into(),
        arguments: arguments.into(),
    })
}

fn result(id: &str, parts: Vec<Part>, failed: bool) -> Arc<Message> {
    let error = ErrorInfo::new(Code::Failed, "no");
    let output = ToolOutput::failed("f", CallId::new(id).unwrap(), json!({}), error);
    let output = ToolOutput {
        error: output.error.clone().filter(|_| failed),
        ..output
    };
    Arc::new(Message {
        output: Some(Arc::new(output)),
        ..Message::clone(&message(MessageRole::Tool, parts))
    })
}

fn own(provider: &str, data: Value) -> Part {
    Part::Provider {
        provider: provider.into(),
        data,
    }
}

fn picture(source: PartSource) -> Part {
    Part::Image {
        mime: "image/png".into(),
        source,
    }
}

fn base64() -> PartSource {
    PartSource::Base64 {
        data: "iVBORw0KGgo=".into(),
    }
}

fn conversation() -> ModelRequest {
    let schema = ToolSchema {
        name: ToolName::new("read").unwrap(),
        description: "Reads.".into(),
        parameters: Arc::new(json!({"type": "object", "properties": {"path": {"type": "string"}}})),
    };
    let messages = vec![
        message(
            MessageRole::User,
            vec![text("look at "), picture(base64()), text("this")],
        ),
        message(
            MessageRole::Assistant,
            vec![
                Part::Reasoning {
                    text: "hm".into(),
                    signature: Some("sig+/=".into()),
                },
                Part::Reasoning {
                    text: "unsigned".into(),
                    signature: None,
                },
                own(
                    "anthropic",
                    json!({"type": "redacted_thinking", "data": "z"}),
                ),
                own(
                    "openai",
                    json!({"reasoning_details": [{"type": "x", "data": "y"}]}),
                ),
                text("before "),
                call("a", "read", "{ \"path\":\"a\", \"n\":1e5 }"),
                own(
                    "openai",
                    json!({"call_extra_content": {"google": {"thought_signature": "t"}}}),
                ),
                text("after"),
                call("functions.read:1", "no such/tool", "{\"path\":\"abc"),
                call("c", "now", ""),
            ],
        ),
        result("c", vec![text("noon")], false),
        result("a", vec![text("content"), picture(base64())], false),
        result("functions.read:1", vec![text("{\"error\":1}")], true),
        message(MessageRole::System, vec![text("be quick")]),
        message(MessageRole::User, vec![text("and?")]),
        message(
            MessageRole::Assistant,
            vec![Part::Refusal { text: "no".into() }],
        ),
        message(MessageRole::User, vec![]),
    ];
    ModelRequest {
        tools: Arc::new([schema]),
        ..request(messages)
    }
}

/// The same, with an item of a provider before its text.
pub(crate) fn conversation_for(provider: &str, item: Value) -> ModelRequest {
    let mut request = conversation();
    let mut spoken = (*request.messages[1]).clone();
    spoken.parts.insert(2, own(provider, item));
    request.messages[1] = Arc::new(spoken);
    request
}

/// A result of the call of that id.
pub(crate) fn result_of(id: &str, parts: Vec<Part>) -> Arc<Message> {
    result(id, parts, false)
}

fn body(provider: &str, vision: bool, request: &ModelRequest) -> Value {
    let mut settings = settings(provider, "http://h".into());
    settings.vision = Some(vision);
    let model = settings.build().unwrap();
    serde_json::from_slice(&model.wire_body(request).unwrap()).unwrap()
}

#[test]
fn openai_with_vision() {
    insta::assert_json_snapshot!(body("openai", true, &conversation()));
}

#[test]
fn openai_without_vision() {
    let body = body("openai", false, &conversation());
    assert_eq!(
        body["messages"][1]["content"],
        "look at [picture, image/png, 9 bytes: this model cannot see pictures]this"
    );
    assert!(!body.to_string().contains("image_url"));
}

#[test]
fn anthropic_with_vision() {
    insta::assert_json_snapshot!(body("anthropic", true, &conversation()));
}

#[test]
fn anthropic_without_vision() {
    let body = body("anthropic", false, &conversation());
    let words = "[picture, image/png, 9 bytes: this model cannot see pictures]";
    assert_eq!(body["messages"][0]["content"][1]["text"], words);
    assert!(!body.to_string().contains("base64"));
}

#[test]
fn reasoning_goes_back_where_it_is_wanted() {
    let request = conversation();
    let assistant = |provider| body(provider, false, &request)["messages"][2].clone();
    assert_eq!(assistant("deepseek")["reasoning_content"], "hmunsigned");
    assert_eq!(assistant("openai")["reasoning_content"], Value::Null);
    let elsewhere = assistant("openrouter");
    assert_eq!(
        elsewhere["reasoning_details"],
        Value::Null,
        "another provider's is not sent"
    );
    assert_eq!(elsewhere["tool_calls"][0]["extra_content"], Value::Null);
}

#[test]
fn usage_is_not_asked_for_where_asking_is_an_error() {
    assert_eq!(
        body("openai", true, &conversation())["stream_options"]["include_usage"],
        true
    );
    assert_eq!(
        body("mistral", true, &conversation())["stream_options"],
        Value::Null
    );
}

#[rstest]
#[case::as_written(
    "{ \"b\":1e5,\"a\":[ ] }",
    "{ \"b\":1e5,\"a\":[ ] }",
    r#"{ "b":1e5,"a":[ ] }"#
)]
#[case::empty("", "{}", "{}")]
#[case::blank(" \n", "{}", "{}")]
#[case::null("null", "{}", "{}")]
#[case::cut_off("{\"a\":\"b", "{\"a\":\"b", r#"{"malformed_arguments":"{\"a\":\"b"}"#)]
#[case::twice(
    "{\"a\":1,\"a\":2}",
    "{\"a\":1,\"a\":2}",
    r#"{"malformed_arguments":"{\"a\":1,\"a\":2}"}"#
)]
#[case::no_object("[1]", "[1]", r#"{"malformed_arguments":"[1]"}"#)]
fn arguments_go_back_as_they_were_written(
    #[case] raw: &str,
    #[case] openai: &str,
    #[case] anthropic: &str,
) {
    let request = request(vec![message(
        MessageRole::Assistant,
        vec![call("a", "f", raw)],
    )]);
    let sent = body("openai", true, &request);
    assert_eq!(
        sent["messages"][1]["tool_calls"][0]["function"]["arguments"],
        openai
    );
    let bytes = settings("anthropic", "http://h".into())
        .build()
        .unwrap()
        .wire_body(&request);
    let bytes = String::from_utf8(bytes.unwrap()).unwrap();
    assert!(
        bytes.contains(&format!("\"input\":{anthropic},")),
        "{bytes}"
    );
}

#[test]
fn a_picture_that_nobody_loaded_is_said_in_words() {
    let id = outfitter_core::ArtifactId::new("art_1").unwrap();
    let parts = vec![picture(PartSource::Artifact { id })];
    let request = request(vec![message(MessageRole::User, parts)]);
    let words = "[picture, image/png, artifact art_1: not loaded]";
    assert_eq!(
        body("openai", true, &request)["messages"][1]["content"][0]["text"],
        words
    );
    assert_eq!(
        body("anthropic", true, &request)["messages"][0]["content"][0]["text"],
        words
    );
}

#[test]
fn the_order_inside_a_schema_does_not_matter() {
    let with = |schema: Value| {
        let tool = ToolSchema {
            name: ToolName::new("f").unwrap(),
            description: "d".into(),
            parameters: Arc::new(schema),
        };
        ModelRequest {
            tools: Arc::new([tool]),
            ..request(Vec::new())
        }
    };
    let one = with(json!({"type": "object", "properties": {"a": {}, "b": {}}}));
    let other = with(json!({"properties": {"b": {}, "a": {}}, "type": "object"}));
    for provider in ["openai", "anthropic"] {
        let model = settings(provider, "http://h".into()).build().unwrap();
        assert_eq!(model.wire_body(&one), model.wire_body(&other));
        assert!(model.wire_body(&one).is_some());
    }
}

fn any_message() -> impl Strategy<Value = Arc<Message>> {
    let part = prop_oneof![
        "[a ]{0,3}".prop_map(|text| Part::Text { text }),
        (
            "[ab.]{1,2}",
            "[f/]{0,2}",
            prop_oneof![Just("{}"), Just("{"), Just("")]
        )
            .prop_map(|(id, name, arguments)| call(&id, &name, arguments)),
        Just(Part::Reasoning {
            text: "r".into(),
            signature: Some("s".into())
        }),
        Just(own("anthropic", json!({"citations": []}))),
        Just(picture(base64())),
    ];
    let role = prop_oneof![
        Just(MessageRole::User),
        Just(MessageRole::Assistant),
        Just(MessageRole::System),
        Just(MessageRole::Tool),
    ];
    let parts = prop::collection::vec(part, 0..4);
    (role, parts, prop::option::of("[ab.]{1,2}")).prop_map(|(role, parts, answers)| {
        match answers.filter(|_| role == MessageRole::Tool) {
            Some(id) => result(&id, parts, false),
            None => message(role, parts),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_history_is_a_body_that_the_wire_can_take(
        messages in prop::collection::vec(any_message(), 0..12),
    ) {
        let request = request(messages);
        let sent = body("anthropic", true, &request);
        let turns = sent["messages"].as_array().unwrap();
        for pair in turns.windows(2) {
            prop_assert_ne!(&pair[0]["role"], &pair[1]["role"], "turns alternate");
        }
        for block in turns.iter().flat_map(|turn| turn["content"].as_array().unwrap()) {
            prop_assert!(block["type"].is_string());
            if block["type"] == "text" {
                prop_assert!(!block["text"].as_str().unwrap().trim().is_empty());
            }
        }
        let sent = body("openai", true, &request);
        for message in sent["messages"].as_array().unwrap() {
            prop_assert!(message["role"].is_string());
            prop_assert!(!message["content"].is_null() || message["tool_calls"].is_array());
        }
    }
}

#[test]
fn what_a_conversation_opens_with_stands_in_the_one_system_message() {
    let opened = vec![
        message(MessageRole::System, vec![text("These skills are loaded.")]),
        message(MessageRole::User, vec![text("hi")]),
    ];
    let roles = |system: &str| {
        let request = ModelRequest {
            system: system.into(),
            ..request(opened.clone())
        };
        let body = body("openai", false, &request);
        let messages = body["messages"].as_array().unwrap().clone();
        let first = messages[0]["content"].as_str().unwrap().to_owned();
        let roles = messages
            .iter()
            .map(|one| one["role"].as_str().unwrap().to_owned());
        (first, roles.collect::<Vec<_>>())
    };
    let (first, both) = roles("You help.");
    assert_eq!(first, "You help.\n\nThese skills are loaded.");
    assert_eq!(both, ["system", "user"]);
    let (first, alone) = roles("");
    assert_eq!(first, "These skills are loaded.");
    assert_eq!(alone, ["system", "user"]);
}
