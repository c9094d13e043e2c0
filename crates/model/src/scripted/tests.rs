use std::sync::Arc;

use futures_util::TryStreamExt;
use outfitter_core::{Code, MessageId, SystemClock};
use rstest::rstest;

use super::*;
use crate::TurnAssembler;

fn request(messages: &[(MessageRole, &str)]) -> ModelRequest {
    let messages = messages.iter().enumerate().map(|(at, (role, text))| {
        let id = MessageId::new(format!("m{at}")).unwrap();
        Arc::new(Message::text(id, *role, *text))
    });
    ModelRequest {
        system: "".into(),
        messages: messages.collect(),
        tools: Arc::new([]),
    }
}

fn provider(script: &str) -> ScriptedProvider {
    ScriptedProvider::new(Script::from_text(script).unwrap(), "s")
}

async fn deltas(
    provider: &ScriptedProvider,
    request: ModelRequest,
) -> Result<Vec<ModelDelta>, ModelError> {
    let stream = provider.stream(request, Cancel::new()).await?;
    stream.try_collect().await
}

const USER: (MessageRole, &str) = (MessageRole::User, "look around");
const MODEL: (MessageRole, &str) = (MessageRole::Assistant, "");

const SCRIPT: &str = r#"
- reasoning: thinking…
  text: "我来看看 🙂 the folder"
  tool_calls:
    - { name: list_dir, arguments: { path: ".", depth: 2 } }
    - { id: mine, name: grep, arguments: { pattern: "fn main" } }
- expect: done
  text: bye
"#;

#[tokio::test]
async fn a_turn_streams_in_pieces_of_whole_characters() {
    let script = provider(SCRIPT);
    let deltas = deltas(&script, request(&[USER])).await.unwrap();
    let texts = deltas.iter().filter(|d| matches!(d, ModelDelta::Text(_)));
    assert!(texts.count() > 1);
    let mut reply = TurnAssembler::new("scripted", |_| false, Arc::new(SystemClock));
    deltas.into_iter().for_each(|delta| {
        reply.push(delta);
    });
    let reply = reply.finish();
    insta::assert_json_snapshot!(reply.parts, @r#"
    [
      {
        "type": "reasoning",
        "text": "thinking…"
      },
      {
        "type": "text",
        "text": "我来看看 🙂 the folder"
      },
      {
        "type": "tool_call",
        "id": "call_1_1",
        "name": "list_dir",
        "arguments": "{\"depth\":2,\"path\":\".\"}"
      },
      {
        "type": "tool_call",
        "id": "mine",
        "name": "grep",
        "arguments": "{\"pattern\":\"fn main\"}"
      }
    ]
    "#);
    assert_eq!(reply.warnings, []);
    assert_eq!(reply.usage.unwrap().source, UsageSource::Estimated);
}

#[tokio::test]
async fn the_history_says_which_turn_answers() {
    let script = provider(SCRIPT);
    let done = (MessageRole::User, "it is done");
    for _ in 0..2 {
        let deltas = deltas(&script, request(&[USER, MODEL, done]))
            .await
            .unwrap();
        assert!(deltas.contains(&ModelDelta::Text("bye".into())));
    }
}

#[tokio::test]
async fn an_expectation_that_does_not_hold_names_both_sides() {
    let other = (MessageRole::User, "it is not");
    let error = deltas(&provider(SCRIPT), request(&[USER, MODEL, other])).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"follow the script: turn 2 expected "done" in the last message and got "it is not""#
    );
    assert_eq!(error.code(), Code::Failed);
}

#[tokio::test]
async fn a_script_can_end() {
    let error = deltas(&provider("- text: a"), request(&[USER, MODEL, USER])).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "follow the script: it has 1 turns and was asked for turn 2"
    );
}

#[rstest]
#[case::of_the_turn("- tool_calls: [{ name: f }]\n  raw_arguments: '{\"a\":'", "{\"a\":")]
#[case::of_the_call("- tool_calls: [{ name: f, raw_arguments: 'x' }]", "x")]
#[case::a_text("- tool_calls: [{ name: f, arguments: '{\"a\": 1}' }]", "{\"a\": 1}")]
#[case::none("- tool_calls: [{ name: f }]", "{}")]
#[tokio::test]
async fn arguments_may_be_any_text(#[case] script: &str, #[case] expected: &str) {
    let deltas = deltas(&provider(script), request(&[USER])).await.unwrap();
    let text: String = deltas
        .iter()
        .filter_map(|delta| match delta {
            ModelDelta::ToolCall(call) => Some(call.arguments.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, expected);
}

#[rstest]
#[case(
    "- error: it broke",
    "get a reply: the provider reported an error: it broke"
)]
#[case(
    "- error: { status: 429, message: slow, retry_after_ms: 5 }",
    "get a reply: the provider answered 429: slow"
)]
#[case(
    "- { text: half, error: { kind: truncated } }",
    "read the whole reply: the stream stopped before its end"
)]
#[tokio::test]
async fn an_error_is_one_of_a_real_provider(#[case] script: &str, #[case] expected: &str) {
    let error = deltas(&provider(script), request(&[USER]))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[rstest]
#[case("- text: a\n- txt: b\n", "line 2", "txt")]
#[case(
    "- text: a\n- tool_calls:\n    - { name: f, argumens: {} }\n",
    "line 3",
    "argumens"
)]
#[case("- tool_calls: [{ arguments: {} }]\n", "line 1", "name")]
#[case("- text: [\n", "line", "")]
#[case("[]", "no turns", "")]
#[case("- { raw_arguments: x }", "turn 1", "raw_arguments")]
fn what_is_no_script_is_refused_with_its_place(
    #[case] script: &str,
    #[case] place: &str,
    #[case] what: &str,
) {
    let error = Script::from_text(script).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(place) && text.contains(what), "{text}");
    assert!(!text.contains('\n'), "{text}");
    assert_eq!(error.code(), Code::Usage);
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for_and_can_be_cancelled() {
    let script = provider("- { text: a, delay_ms: 60000 }");
    let before = tokio::time::Instant::now();
    deltas(&script, request(&[USER])).await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(60));
    let cancel = Cancel::new();
    let waiting = script.stream(request(&[USER]), cancel.clone());
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(waiting, stop);
    assert!(matches!(outcome, Err(ModelError::Cancelled)));
    assert_eq!(before.elapsed(), Duration::from_secs(61));
}

#[tokio::test]
async fn a_reply_can_be_cancelled_in_its_middle() {
    let script = provider("- text: a long text in many pieces");
    let cancel = Cancel::new();
    let mut stream = script
        .stream(request(&[USER]), cancel.clone())
        .await
        .unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    cancel.cancel();
    assert!(matches!(
        stream.next().await,
        Some(Err(ModelError::Cancelled))
    ));
    assert!(stream.next().await.is_none());
}

/// Text stays text, whatever it would be elsewhere: `n` was read as `false` in arguments, and as no
/// message where a failure has one.
#[rstest]
#[case("y")]
#[case("n")]
#[case("Yes")]
#[case("no")]
#[case("on")]
#[case("OFF")]
#[case("12")]
#[case("1.50")]
#[case("true")]
#[case("0x1f")]
#[case("2026-11-30")]
fn a_plain_word_where_text_is_meant_was_something_else(#[case] word: &str) {
    let script = format!(
        "- expect: {word}\n  text: {word}\n  reasoning: {word}\n\
         - tool_calls: [{{ id: {word}, name: {word}, raw_arguments: {word} }}]\n\
         - error: {{ message: {word} }}\n"
    );
    let script = Script::from_text(&script).unwrap();
    let [first, calls, fields] = script.turns() else {
        panic!("{script:?}");
    };
    assert_eq!(first.expect.as_deref(), Some(word));
    assert_eq!(first.text.as_deref(), Some(word));
    assert_eq!(first.reasoning.as_deref(), Some(word));
    let call = &calls.tool_calls[0];
    assert_eq!((call.id.as_deref(), &*call.name), (Some(word), word));
    assert_eq!(call.arguments(None), word);
    assert_eq!(fields.error.as_ref().unwrap().message, word);
}

/// Where a text or an object is meant, what would be neither is said with its line.
#[test]
fn a_failure_is_a_text_or_says_where_it_is_none() {
    for word in ["y", "n", "no", "off", "'12'"] {
        let script = Script::from_text(&format!("- error: {word}\n")).unwrap();
        let said = &script.turns()[0].error.as_ref().unwrap().message;
        assert_eq!(said, word.trim_matches('\''));
    }
    for word in ["12", "1.5", "true"] {
        let error = Script::from_text(&format!("- text: a\n- error: {word}\n")).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("line 2: "), "{said}");
        assert!(said.contains("put a number or true in quotes"), "{said}");
    }
}

/// As YAML 1.2 has it: only `true` and `false` are booleans.
#[rstest]
#[case(
    "[y, Y, n, N, yes, no, on, off]",
    r#"["y","Y","n","N","yes","no","on","off"]"#
)]
#[case("[true, True, false, FALSE]", "[true,true,false,false]")]
#[case("[~, null, 'null', 'yes']", r#"[null,null,"null","yes"]"#)]
fn a_word_in_arguments_was_a_boolean(#[case] list: &str, #[case] sent: &str) {
    let script = format!("- tool_calls: [{{ name: a, arguments: {{ list: {list} }} }}]\n");
    let script = Script::from_text(&script).unwrap();
    let arguments = script.turns()[0].tool_calls[0].arguments(None);
    assert_eq!(arguments, format!("{{\"list\":{sent}}}"));
}
