//! Statuses, deadlines, connections, retries: what is the same on both wires.

use std::time::Duration;

use futures_util::StreamExt;
use outfitter_core::{Cancel, Code, ModelDelta, ModelError, Phase};
use outfitter_model::ModelCallPolicy;
use outfitter_model::limits::MAX_SAID_BYTES;
use rstest::rstest;

use crate::common::{KEY, ask, hello, settings};
use crate::fake::{Fake, Step, chunk, drip, json, last_chunk, send, stream, stream_head, whole};

const WHOLE: &str = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
const REPLY: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

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

fn short() -> ModelCallPolicy {
    ModelCallPolicy {
        max_retries: 0,
        timeout: Duration::from_millis(400),
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
async fn a_server_that_never_ends_after_its_finish_reason_has_answered() {
    let fake = Fake::start([vec![stream_head(), chunk(REPLY), Step::WaitForClose]]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    fake.closed(1).await;
}

#[tokio::test]
async fn a_server_that_never_ends_after_its_end_mark_has_answered() {
    let steps = vec![stream_head(), chunk(REPLY), chunk(DONE), Step::WaitForClose];
    let fake = Fake::start([steps]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    fake.closed(1).await;
}

#[rstest]
#[case::openai("openai", REPLY, DONE)]
#[case::anthropic(
    "anthropic",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n"
)]
#[tokio::test]
async fn one_connection_serves_every_call_though_the_last_chunk_comes_late(
    #[case] provider: &str,
    #[case] reply: &str,
    #[case] done: &str,
) {
    const CALLS: usize = 25;
    let steps = vec![stream_head(), chunk(reply), chunk(done), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, CALLS)).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    for _ in 0..CALLS {
        assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    }
    assert_eq!(fake.received().len(), CALLS);
    assert_eq!(fake.connections(), 1);
}

/// On several threads the connection's own task runs beside the caller, who may be faster.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_connection_serves_every_call_on_several_threads() {
    const CALLS: usize = 200;
    let steps = vec![stream_head(), chunk([REPLY, DONE].concat()), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, CALLS)).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    for _ in 0..CALLS {
        ask(&model, hello()).await.whole();
    }
    assert_eq!(fake.received().len(), CALLS);
    assert!(
        fake.connections() < CALLS / 10,
        "{} connections",
        fake.connections()
    );
}

#[tokio::test]
async fn a_caller_that_stops_at_the_stop_keeps_the_connection_too() {
    let steps = vec![stream_head(), chunk(REPLY), chunk(DONE), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, 5)).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    for _ in 0..5 {
        let mut stream = model.stream(hello(), Cancel::new()).await.unwrap();
        while !matches!(
            stream.next().await.unwrap().unwrap(),
            ModelDelta::Stopped(_)
        ) {}
        drop(stream);
    }
    assert_eq!(fake.connections(), 1);
}

#[tokio::test]
async fn whole_replies_and_refusals_keep_the_connection() {
    let fake = Fake::start([
        json("200 OK", WHOLE),
        json("429 Too Many Requests", "{\"error\":\"slow\"}"),
        json("200 OK", WHOLE),
    ])
    .await;
    let model = settings("openai", fake.url("")).build().unwrap();
    assert!(ask(&model, hello()).await.error.is_none());
    assert!(ask(&model, hello()).await.error.is_some());
    assert!(ask(&model, hello()).await.error.is_none());
    assert_eq!(fake.connections(), 1);
}

#[tokio::test]
async fn cancelling_in_any_phase_closes_the_connection() {
    let begun = vec![
        stream_head(),
        chunk("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"),
        Step::WaitForClose,
    ];
    let fake = Fake::start([vec![Step::WaitForClose], begun]).await;
    let model = settings("openai", fake.url("")).build().unwrap();

    let cancel = Cancel::new();
    let asked = model.stream(hello(), cancel.clone());
    let stop = async {
        while fake.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(asked, stop);
    assert!(matches!(outcome, Err(ModelError::Cancelled)));
    fake.closed(1).await;

    let cancel = Cancel::new();
    let mut stream = model.stream(hello(), cancel.clone()).await.unwrap();
    assert!(matches!(
        stream.next().await,
        Some(Ok(ModelDelta::Started(_)))
    ));
    assert!(matches!(stream.next().await, Some(Ok(ModelDelta::Text(_)))));
    cancel.cancel();
    assert!(matches!(
        stream.next().await,
        Some(Err(ModelError::Cancelled))
    ));
    assert!(stream.next().await.is_none());
    fake.closed(2).await;
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let begun = vec![stream_head(), chunk(": hello\n\n"), Step::WaitForClose];
    let fake = Fake::start([begun]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    let stream = model.stream(hello(), Cancel::new()).await.unwrap();
    drop(stream);
    fake.closed(1).await;
}

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
