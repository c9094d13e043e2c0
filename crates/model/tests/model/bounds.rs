//! Replies without an end, with too much in them, or with nothing.

use outfitter_core::{Code, ModelError};
use outfitter_model::limits::MAX_SAID_BYTES;
use rstest::rstest;

use crate::common::{ask, hello, settings};
use crate::fake::{Fake, Step, chunk, json, stream, stream_head};
use crate::transport::DONE;

#[tokio::test]
async fn a_reply_without_end_is_bounded() {
    let line = format!("data: {}", "x".repeat(1 << 20));
    let mut steps = vec![stream_head()];
    steps.extend(std::iter::repeat_n(chunk(line), 20));
    let fake = Fake::start([steps]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert!(matches!(error, ModelError::TooLarge { .. }), "{error}");
    assert_eq!(error.code(), Code::TooLarge);
}

/// The bound is on what is said, whatever it is said as; what was said before it is kept.
#[rstest]
#[case::text("openai", |piece: &str| format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{piece}\"}}}}]}}"))]
#[case::thoughts("openai", |piece: &str| {
    format!("{{\"choices\":[{{\"delta\":{{\"reasoning\":\"{piece}\"}}}}]}}")
})]
#[case::arguments("openai", |piece: &str| {
    let call = format!("{{\"index\":0,\"function\":{{\"name\":\"f\",\"arguments\":\"{piece}\"}}}}");
    format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}")
})]
#[case::what_is_kept("openai", |piece: &str| {
    format!("{{\"choices\":[{{\"delta\":{{\"reasoning_details\":[{{\"data\":\"{piece}\"}}]}}}}]}}")
})]
#[case::text_of_the_other_wire("anthropic", |piece: &str| {
    let delta = format!("{{\"type\":\"text_delta\",\"text\":\"{piece}\"}}");
    format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}")
})]
#[case::a_signature("anthropic", |piece: &str| {
    let delta = format!("{{\"type\":\"signature_delta\",\"signature\":\"{piece}\"}}");
    format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}")
})]
#[tokio::test]
async fn what_a_reply_says_is_bounded(
    #[case] provider: &str,
    #[case] event: impl Fn(&str) -> String,
) {
    let mebibyte = "b".repeat(1 << 20);
    let piece = chunk(format!("data: {}\n\n", event(&mebibyte)));
    let mut steps = vec![stream_head()];
    steps.extend(std::iter::repeat_n(piece, 12));
    let fake = Fake::start([steps]).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    let outcome = ask(&model, hello()).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::TooLarge { limit } if *limit == MAX_SAID_BYTES),
        "{error}"
    );
    let most = usize::try_from(MAX_SAID_BYTES).unwrap();
    assert!(outcome.text().len() <= most);
    assert!(outcome.text().is_empty() || outcome.text().len() + mebibyte.len() > most);
}

/// The end mark alone is no reply, nor is a whole document with nothing in it.
#[rstest]
#[case::done("openai", stream(DONE))]
#[case::done_after_a_role(
    "openai",
    stream(&["data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n", DONE].concat())
)]
#[case::done_after_usage(
    "openai",
    stream(&["data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n", DONE].concat())
)]
#[case::no_choices("openai", json("200 OK", "{\"choices\":[]}"))]
#[case::usage_alone("openai", json("200 OK", "{\"usage\":{\"prompt_tokens\":3}}"))]
#[case::an_empty_message(
    "openai",
    json("200 OK", "{\"choices\":[{\"message\":{\"content\":\"\"}}]}")
)]
#[case::message_stop("anthropic", stream("data: {\"type\":\"message_stop\"}\n\n"))]
#[case::done_of_the_other_wire("anthropic", stream(DONE))]
#[case::start_and_stop(
    "anthropic",
    stream(
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
    )
)]
#[case::no_content("anthropic", json("200 OK", "{\"type\":\"message\",\"content\":[]}"))]
#[tokio::test]
async fn an_end_without_a_word_or_a_reason_is_a_protocol_error(
    #[case] provider: &str,
    #[case] steps: Vec<Step>,
) {
    let fake = Fake::start([steps]).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert_eq!(
        error.to_string(),
        "read the reply: it ended without a word and without a reason to stop"
    );
    assert_eq!(error.code(), Code::ProtocolError);
}

/// A model may have nothing to say, if it says why it stopped.
#[rstest]
#[case(
    "openai",
    json(
        "200 OK",
        "{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":\"stop\"}]}"
    )
)]
#[case(
    "anthropic",
    json(
        "200 OK",
        "{\"type\":\"message\",\"content\":[],\"stop_reason\":\"end_turn\"}"
    )
)]
#[case(
    "openai",
    stream("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
)]
#[tokio::test]
async fn an_empty_reply_with_a_reason_is_a_reply(#[case] provider: &str, #[case] steps: Vec<Step>) {
    let fake = Fake::start([steps]).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    assert!(ask(&model, hello()).await.whole().reply.parts.is_empty());
}
