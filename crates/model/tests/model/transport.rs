//! Statuses, deadlines, retries: what is the same on both wires.

use std::time::Duration;

use outfitter_core::{Code, ModelError, Phase};
use outfitter_model::ModelCallPolicy;
use rstest::rstest;

use crate::common::{KEY, ask, hello, settings};
use crate::fake::{Fake, Step, chunk, drip, json, last_chunk, send, stream_head, whole};

pub(crate) const WHOLE: &str =
    r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
pub(crate) const REPLY: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
pub(crate) const DONE: &str = "data: [DONE]\n\n";

#[rstest]
#[case(400, "Bad Request", Code::Failed)]
#[case(401, "Unauthorized", Code::Failed)]
#[case(404, "Not Found", Code::Failed)]
#[case(408, "Request Timeout", Code::Unavailable)]
#[case(409, "Conflict", Code::Unavailable)]
#[case(429, "Too Many Requests", Code::RateLimited)]
#[case(500, "Internal Server Error", Code::Unavailable)]
#[case(529, "Overloaded", Code::Unavailable)]
#[tokio::test]
async fn a_status_keeps_its_class_words_and_wait(
    #[values("openai", "anthropic")] provider: &str,
    #[case] status: u16,
    #[case] reason: &str,
    #[case] code: Code,
) {
    let body = r#"{"error":{"message":"your key sk-secret","type":"t"}}"#;
    let headers = "content-type: application/json\r\nretry-after: 7\r\n";
    let fake = Fake::start([whole(&format!("{status} {reason}"), headers, body)]).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert_eq!(error.code(), code);
    let ModelError::Status {
        status: got,
        message,
        retry_after,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((got, message.as_str()), (status, "your key [redacted] (t)"));
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}

#[rstest]
#[case::html("500 Oops", "content-type: text/html\r\n", "<html>..", "a web page")]
#[case::words("500 Oops", "", "it is\nbroken", "it is broken")]
#[case::nothing("503 Service Unavailable", "", "", "Service Unavailable")]
#[case::redirect(
    "308 Permanent Redirect",
    "location: http://127.0.0.1:1/\r\n",
    "",
    "a redirect, which is not followed; set base_url to where the service is"
)]
#[tokio::test]
async fn a_status_without_json_still_says_something(
    #[case] status: &str,
    #[case] headers: &str,
    #[case] body: &str,
    #[case] said: &str,
) {
    let fake = Fake::start([whole(status, headers, body)]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert!(
        matches!(&error, ModelError::Status { message, .. } if message == said),
        "{error}"
    );
}

pub(crate) fn short() -> ModelCallPolicy {
    ModelCallPolicy {
        max_retries: 0,
        // Each phase that is not the silent one has to be over by then.
        timeout: Duration::from_secs(2),
        ..ModelCallPolicy::default()
    }
}

#[rstest]
#[case::no_head(vec![Step::WaitForClose], Phase::FirstByte, "")]
#[case::no_body(vec![stream_head(), Step::WaitForClose], Phase::Idle, "")]
#[case::stalled_body(vec![stream_head(), chunk("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"), Step::WaitForClose], Phase::Idle, "hi")]
#[tokio::test]
async fn each_phase_has_its_deadline_and_the_connection_is_closed(
    #[case] steps: Vec<Step>,
    #[case] expected: Phase,
    #[case] partial: &str,
) {
    let fake = Fake::start([steps]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    let outcome = ask(&model, hello()).await;
    let error = outcome.error.as_ref().unwrap();
    assert!(
        matches!(error, ModelError::Timeout { phase, .. } if *phase == expected),
        "{error}"
    );
    assert_eq!(error.code(), Code::Timeout);
    assert_eq!(outcome.text(), partial);
    fake.closed(1).await;
}

/// What servers send so that a connection stays open.
#[rstest]
#[case::comments("openai", vec![stream_head(), drip(": ping\n\n")], Phase::Idle)]
#[case::empty_deltas(
    "openai",
    vec![stream_head(), drip("data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n")],
    Phase::Idle
)]
#[case::spaces_in_an_event("openai", vec![stream_head(), chunk("data:"), drip(" ")], Phase::Idle)]
#[case::spaces_before_anything("openai", vec![stream_head(), drip(" ")], Phase::Idle)]
#[case::spaces_in_a_document("openai", vec![stream_head(), chunk("{"), drip("\n")], Phase::Idle)]
#[case::pings("anthropic", vec![stream_head(), drip("data: {\"type\":\"ping\"}\n\n")], Phase::Idle)]
#[case::a_head_without_end("openai", vec![Step::Drip(b"H".to_vec())], Phase::FirstByte)]
#[tokio::test]
async fn what_says_nothing_does_not_keep_a_run_waiting(
    #[case] provider: &str,
    #[case] steps: Vec<Step>,
    #[case] expected: Phase,
) {
    let fake = Fake::start([steps]).await;
    let mut settings = settings(provider, fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    let asked = tokio::time::timeout(Duration::from_secs(60), ask(&model, hello()));
    let error = asked.await.expect("it has no end").error.unwrap();
    assert!(
        matches!(error, ModelError::Timeout { phase, .. } if phase == expected),
        "{error}"
    );
    fake.closed(1).await;
}

#[tokio::test]
async fn comments_after_the_finish_reason_do_not_keep_it_from_being_an_answer() {
    let steps = vec![stream_head(), chunk(REPLY), drip(": ping\n\n")];
    let fake = Fake::start([steps]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    let asked = tokio::time::timeout(Duration::from_secs(60), ask(&model, hello()));
    assert_eq!(asked.await.expect("it has no end").whole().text(), "hi");
    fake.closed(1).await;
}

#[tokio::test]
async fn an_error_body_without_end_is_not_waited_for() {
    let head = "HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n";
    let fake = Fake::start([vec![send(head), drip("no ")]]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    let asked = tokio::time::timeout(Duration::from_secs(60), ask(&model, hello()));
    let error = asked.await.expect("it has no end").error.unwrap();
    assert!(
        matches!(error, ModelError::Status { status: 500, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_connection_that_nobody_accepts_has_a_deadline_of_its_own() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // The kernel answers until its queue is full, and after that not at all.
    let mut waiting = Vec::new();
    for _ in 0..16 {
        let connect = tokio::net::TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(200), connect).await {
            Ok(stream) => waiting.push(stream.unwrap()),
            Err(_) => break,
        }
    }
    assert!(waiting.len() < 16, "the queue has no end here");
    let mut settings = settings("openai", format!("http://{address}"));
    settings.policy = short();
    let error = ask(&settings.build().unwrap(), hello())
        .await
        .error
        .unwrap();
    let connecting = matches!(
        error,
        ModelError::Timeout {
            phase: Phase::Connect,
            ..
        }
    );
    assert!(connecting, "{error}");
}

#[tokio::test]
async fn an_error_names_the_request_for_the_providers_support() {
    let fake = Fake::start([whole("500 Oops", "x-request-id: req-9\r\n", "broken")]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert_eq!(
        error.to_string(),
        "get a reply: the provider answered 500: broken [request req-9]"
    );
}

#[tokio::test]
async fn a_refused_connection_is_unavailable_and_names_the_address_only() {
    let fake = Fake::start([]).await;
    let base = fake.url("/v1?token=hidden");
    drop(fake);
    let model = settings("openai", base).build().unwrap();
    let error = ask(&model, hello()).await.error.unwrap();
    assert!(matches!(error, ModelError::Connect { .. }), "{error}");
    assert_eq!(error.code(), Code::Unavailable);
    let text = error.to_string();
    assert!(
        text.starts_with("reach the model: connect to http://127.0.0.1:"),
        "{text}"
    );
    assert!(!text.contains(KEY) && !text.contains("hidden"), "{text}");
}

#[tokio::test]
async fn a_connection_that_closes_without_an_answer_may_be_tried_again() {
    let fake = Fake::start([vec![Step::Close], json("200 OK", WHOLE)]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy.max_retries = 1;
    let model = settings.build().unwrap();
    let outcome = ask(&model, hello()).await.whole();
    assert_eq!(outcome.reply.facts.retries, 1);
}

#[tokio::test]
async fn retries_send_the_same_bytes_and_stop_at_the_first_delta() {
    let half = vec![
        stream_head(),
        chunk("data: {\"choices\":[{\"delta\":{\"content\":\"ha\"}}]}\n\n"),
        Step::Close,
    ];
    let nothing = vec![
        stream_head(),
        chunk("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"),
        Step::Close,
    ];
    let slow = whole("429 Too Many Requests", "retry-after-ms: 1\r\n", "{}");
    let fake = Fake::start([slow, nothing, half]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy.max_retries = 5;
    let model = settings.build().unwrap();
    let outcome = ask(&model, hello()).await;
    assert!(matches!(outcome.error, Some(ModelError::Truncated)));
    assert_eq!(outcome.text(), "ha");
    assert_eq!(outcome.reply.facts.retries, 2);
    let received = fake.received();
    assert_eq!(received.len(), 3);
    assert!(
        received
            .iter()
            .all(|request| request.body == received[0].body)
    );
    assert_eq!(Some(received[0].body.clone()), model.wire_body(&hello()));
}

#[tokio::test]
async fn a_400_is_asked_once() {
    let fake = Fake::start([
        json("400 Bad Request", "{\"error\":\"no\"}"),
        json("200 OK", WHOLE),
    ])
    .await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy.max_retries = 5;
    let model = settings.build().unwrap();
    assert!(ask(&model, hello()).await.error.is_some());
    assert_eq!(fake.received().len(), 1);
}

#[tokio::test]
async fn a_wrong_protocol_is_not_waited_for() {
    let fake = Fake::start([vec![send("SSH-2.0-OpenSSH\r\n"), last_chunk(), Step::Close]]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    assert!(ask(&model, hello()).await.error.is_some());
}
