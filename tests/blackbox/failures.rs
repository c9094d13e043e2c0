//! Providers that fail: a clear end, an exit status by the code, a history that can go on.

use rstest::rstest;
use serde_json::{Value, json};

use crate::fake::{self, Step, chunk, send, stream, stream_head};
use crate::lines::Lines;
use crate::provider::Provider;
use crate::replies::goes_on;
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::{Part, Reply, Stop, answer, call};
use crate::world::KEY;

fn refusal(wire: Wire, status: &str, headers: &str) -> Vec<Step> {
    let body = match wire {
        OpenAi => json!({"error": {"message": "no, because", "type": "x", "code": "y"}}),
        Anthropic => {
            json!({"type": "error", "error": {"type": "x_error", "message": "no, because"}})
        }
    };
    let headers = format!("content-type: application/json\r\n{headers}");
    fake::whole(status, &headers, &body.to_string())
}

/// A run against these answers fails with this code and exit status, and the session goes on.
#[track_caller]
fn fails(wire: Wire, answers: Vec<Vec<Step>>, code: &str, exit: i32, requests: usize) -> Lines {
    let provider = Provider::start(wire);
    let world = provider.world();
    for steps in answers {
        provider.then(steps);
    }
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(exit);
    let lines = ran.lines();
    assert_eq!(
        (lines.outcome(), lines.code()),
        ("failed", code),
        "{}",
        ran.shown()
    );
    assert!(
        ran.stderr.starts_with("error: failed to "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.lines().count() <= 2, "{}", ran.stderr);
    assert_eq!(provider.requests().len(), requests);
    // An unfinished turn goes on where it was.
    provider.then(answer(wire, "better now"));
    let again = world.run(&["run", "--json", "--session", "s"]).exits(0);
    assert_eq!(again.lines().answer(), "better now");
    provider.last_request();
    goes_on(&world, &provider, wire, "s");
    lines
}

#[rstest]
#[case::too_many("429 Too Many Requests", "retry-after: 0\r\n")]
#[case::too_many_in_ms("429 Too Many Requests", "retry-after-ms: 5\r\n")]
#[case::server_error("500 Internal Server Error", "")]
#[case::overloaded("529 Overloaded", "")]
#[case::unavailable("503 Service Unavailable", "retry-after: 0\r\n")]
#[case::request_timeout("408 Request Timeout", "")]
#[case::conflict("409 Conflict", "")]
fn what_may_pass_is_tried_again(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] status: &str,
    #[case] headers: &str,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(refusal(wire, status, headers));
    provider.then(answer(wire, "fine"));
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    assert_eq!(lines.answer(), "fine");
    assert_eq!(lines.warnings(), ["retried"]);
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn server_errors_use_the_retries_up(#[values(OpenAi, Anthropic)] wire: Wire) {
    let refused = || refusal(wire, "500 Internal Server Error", "");
    fails(
        wire,
        vec![refused(), refused(), refused()],
        "unavailable",
        1,
        3,
    );
}

#[rstest]
fn a_rate_limit_that_stays_is_told_as_one(#[values(OpenAi, Anthropic)] wire: Wire) {
    let refused = || refusal(wire, "429 Too Many Requests", "retry-after: 0\r\n");
    fails(
        wire,
        vec![refused(), refused(), refused()],
        "rate_limited",
        1,
        3,
    );
}

#[rstest]
fn a_rate_limit_of_an_hour_is_not_waited_for(#[values(OpenAi, Anthropic)] wire: Wire) {
    let refused = refusal(wire, "429 Too Many Requests", "retry-after: 3600\r\n");
    fails(wire, vec![refused], "rate_limited", 1, 1);
}

#[rstest]
#[case("400 Bad Request")]
#[case("401 Unauthorized")]
#[case("403 Forbidden")]
#[case("404 Not Found")]
#[case("413 Payload Too Large")]
#[case("422 Unprocessable Entity")]
fn a_refusal_is_asked_for_once(#[values(OpenAi, Anthropic)] wire: Wire, #[case] status: &str) {
    let lines = fails(wire, vec![refusal(wire, status, "")], "failed", 1, 1);
    let message = lines.finished()["output"]["error"]["message"].to_string();
    assert!(message.contains("no, because"), "{message}");
}

#[rstest]
fn an_error_in_a_success_is_an_error(#[values(OpenAi, Anthropic)] wire: Wire) {
    let error = || refusal(wire, "200 OK", "");
    let provider = Provider::start(wire);
    let world = provider.world();
    (0..3).for_each(|_| provider.then(error()));
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(1);
    let lines = ran.lines();
    assert_eq!(
        (lines.outcome(), lines.code()),
        ("failed", "protocol_error")
    );
    let message = lines.finished()["output"]["error"]["message"].to_string();
    assert!(message.contains("no, because"), "{message}");
    let asked = provider.requests().len();
    assert!((1..=3).contains(&asked));
}

#[rstest]
#[case::html("text/html", "<html><body>Bad gateway</body></html>")]
#[case::nothing("application/json", "")]
#[case::half_json("application/json", "{\"choices\":[")]
#[case::list("application/json", "[]")]
#[case::no_events("text/event-stream", "")]
#[case::noise("text/event-stream", "data: \u{1}\n\ndata: {]\n\n")]
fn a_success_that_is_no_reply_is_a_protocol_error(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] kind: &str,
    #[case] body: &str,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let headers = format!("content-type: {kind}\r\n");
    (0..3).for_each(|_| provider.then(fake::whole("200 OK", &headers, body)));
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(1);
    assert_eq!(ran.lines().code(), "protocol_error", "{}", ran.shown());
}

/// What was said before a reply broke off is kept; nothing is asked twice, because it was shown.
#[rstest]
fn a_stream_that_stops_in_its_text_is_told_with_what_came(#[values(OpenAi, Anthropic)] wire: Wire) {
    let reply = Reply::new(wire, &[Part::Text("half of an answer")], Stop::Done).without_last(3);
    let mut steps = vec![stream_head(), chunk(reply.body())];
    steps.push(Step::Close);
    let lines = fails(wire, vec![steps], "protocol_error", 1, 1);
    assert!("half of an answer".starts_with(&lines.deltas("text")));
}

#[rstest]
fn a_stream_that_stops_in_its_arguments_makes_no_call(#[values(OpenAi, Anthropic)] wire: Wire) {
    let arguments = r#"{"path":"new.txt","content":"abcdefgh"}"#;
    let reply = Reply::new(wire, &[call("c", "file_write", arguments)], Stop::Calls);
    let steps = stream(&reply.without_last(4).body());
    let lines = fails(wire, vec![steps], "protocol_error", 1, 1);
    assert!(lines.outputs().is_empty());
}

#[rstest]
fn an_error_in_the_middle_of_a_stream_ends_it(#[values(OpenAi, Anthropic)] wire: Wire) {
    let reply = Reply::new(wire, &[Part::Text("half of an answer")], Stop::Done).without_last(3);
    let error = match wire {
        OpenAi => json!({"error": {"message": "it broke", "code": 500}}),
        Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "it broke"}})
        }
    };
    let steps = stream(&format!("{}event: error\ndata: {error}\n\n", reply.body()));
    let lines = fails(wire, vec![steps], "protocol_error", 1, 1);
    let message = lines.finished()["output"]["error"]["message"].to_string();
    assert!(message.contains("it broke"), "{message}");
}

#[rstest]
fn nobody_at_the_address_is_unavailable(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let mut world = provider.world();
    // Nothing can listen there.
    world.set("OUTFITTER_MODEL__BASE_URL", "http://127.0.0.1:1/v1");
    let ran = world.run(&["run", "--json", "hi"]).exits(1);
    assert_eq!(ran.lines().code(), "unavailable");
}

#[rstest]
fn a_provider_that_says_nothing_is_a_timeout(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider
        .world()
        .with("OUTFITTER_MODEL__TIMEOUT_SECONDS", "1")
        .with("OUTFITTER_MODEL__MAX_RETRIES", "0");
    provider.then(vec![Step::WaitForClose]);
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(124);
    assert_eq!(ran.lines().code(), "timeout");
    let reply = Reply::new(wire, &[Part::Text("it begins")], Stop::Done).without_last(3);
    provider.then(vec![stream_head(), chunk(reply.body()), Step::WaitForClose]);
    let ran = world.run(&["run", "--json", "--session", "s"]).exits(124);
    assert_eq!(ran.lines().code(), "timeout");
    goes_on(&world, &provider, wire, "s");
}

/// A provider that repeats the key in its refusal tells it to nobody through us.
#[rstest]
fn a_key_that_is_echoed_is_taken_out(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values("400 Bad Request", "200 OK", "500 Internal Server Error")] status: &str,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let body = json!({"type": "error",
        "error": {"type": "auth", "message": format!("incorrect API key provided: {KEY}. See x")}});
    for _ in 0..6 {
        let headers = "content-type: application/json\r\n";
        provider.then(fake::whole(status, headers, &body.to_string()));
    }
    // `Ran` itself looks for the key.
    let ran = world
        .run(&["run", "--json", "-v", "--session", "s", "hi"])
        .exits(1);
    assert!(ran.stdout.contains("incorrect API key"), "{}", ran.shown());
    world.run(&["run", "-v", "--session", "s"]).exits(1);
    for command in ["show", "replay"] {
        world.run(&["sessions", command, "s", "--json"]).exits(0);
    }
    for (path, bytes) in world.kept() {
        let found = bytes.windows(KEY.len()).any(|at| at == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}

/// The same for a key that a model repeats, in words and in the arguments of a call.
#[rstest]
fn a_key_that_a_model_repeats_is_in_no_event_of_a_call(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let arguments = json!({"path": "x.txt", "content": KEY}).to_string();
    let reply = Reply::in_pieces(
        wire,
        4096,
        &[call("c", "file_write", &arguments)],
        Stop::Calls,
    );
    provider.then(reply.whole());
    provider.then(answer(wire, "done"));
    let mut running = world.start(&["run", "--json", "hi"]);
    running.until_stdout("run_finished");
    while !running.is_over() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let (stdout, _) = running.taken();
    let calls: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "tool_call")
        .collect();
    assert_eq!(calls.len(), 1);
    assert!(!calls[0].to_string().contains(KEY), "{}", calls[0]);
}

#[test]
fn a_connection_that_is_reset_before_an_answer_is_tried_again() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    provider.then(vec![Step::Close]);
    provider.then(vec![send("HTTP/1.1 200"), Step::Close]);
    provider.then(answer(OpenAi, "fine"));
    let ran = world.run(&["run", "--json", "hi"]).exits(0);
    assert_eq!(ran.lines().answer(), "fine");
    assert_eq!(provider.requests().len(), 3);
}

/// A key goes to the address it was configured for and to no other.
#[rstest]
fn a_redirection_is_not_followed(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values("301 Moved Permanently", "307 Temporary Redirect")] status: &str,
) {
    let elsewhere = Provider::answering(wire, move |_| answer(wire, "gotcha"));
    let provider = Provider::start(wire);
    let world = provider.world();
    let to = format!("location: {}\r\n", elsewhere.url());
    provider.then(fake::whole(status, &to, ""));
    let ran = world.run(&["run", "--json", "hi"]).exits(1);
    assert_eq!(ran.lines().outcome(), "failed");
    assert!(elsewhere.requests().is_empty());
}

/// A reply that never ends is stopped at its bound.
#[test]
fn a_reply_without_an_end_is_too_large_at_some_point() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let piece = "x".repeat(1 << 20);
    let mut steps = vec![
        stream_head(),
        chunk("data: {\"choices\":[{\"delta\":{\"content\":\""),
    ];
    steps.extend((0..100).map(|_| chunk(&piece)));
    provider.then(steps);
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(1);
    assert_eq!(ran.lines().outcome(), "failed");
    assert_eq!(ran.lines().code(), "too_large");
    assert!(ran.stdout.len() < 1 << 20);
    goes_on(&world, &provider, OpenAi, "s");
}

#[test]
fn a_key_with_a_line_end_is_the_key_without_it() {
    let provider = Provider::start(OpenAi);
    let world = provider.world().with("OPENAI_API_KEY", &format!("{KEY}\n"));
    provider.then(answer(OpenAi, "fine"));
    world.run(&["run", "hi"]).exits(0);
    let sent = provider.last_header("authorization");
    assert_eq!(sent, Some(format!("Bearer {KEY}")));
}
