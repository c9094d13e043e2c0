//! The gateway: what a caller may do anyway, over HTTP, in both eras.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::gateway_client::{Body, Client, Wire, messages, service, service_of};
use crate::gateway_older::stopped;
use crate::hosted::{Broken, Hosted, principal};
use crate::support::{LONG, until};

#[rstest]
#[tokio::test]
async fn a_caller_sees_what_the_caller_may_use(#[values(Wire::Legacy, Wire::Modern)] wire: Wire) {
    let service = service(&Hosted::new());
    let user = Client::connect(&service, principal("ann", Role::User), wire).await;
    let seen = user.names().await;
    assert_eq!(
        seen,
        [
            "abroad",
            "echo",
            "fails",
            "hangs",
            "late_steps",
            "later",
            "picture",
            "steps",
            "words"
        ]
    );
    let admin = Client::connect(&service, principal("bob", Role::Admin), wire).await;
    assert!(admin.names().await.contains(&"secret".to_owned()));
    let listed = user.ask("tools/list", json!({})).await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    if wire == Wire::Modern {
        assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    }
}

#[rstest]
#[tokio::test]
async fn a_call_gives_text_and_structure(#[values(Wire::Legacy, Wire::Modern)] wire: Wire) {
    let client =
        Client::connect(&service(&Hosted::new()), principal("ann", Role::User), wire).await;
    let result = client.call("echo", json!({"a": 1})).await;
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": r#"{"a":1}"#}])
    );
    assert_eq!(result["structuredContent"], json!({"a": 1}));
    assert_ne!(result["isError"], true);
    let result = client.call("words", json!({})).await;
    assert_eq!(result["content"][0]["text"], "only words");
    assert_eq!(result["structuredContent"], Value::Null);
    let result = client.call("picture", json!({})).await;
    assert_eq!(
        result["content"][1],
        json!({"type": "image", "data": "aGk=", "mimeType": "image/png"})
    );
}

#[rstest]
#[case("fails", json!({}), "failed")]
#[case("echo", json!({"a": "x"}), "invalid_arguments")]
#[case("echo", json!({"b": 1}), "invalid_arguments")]
#[case("secret", json!({}), "not_permitted")]
#[case("abroad", json!({}), "needs_approval")]
#[case("nothing", json!({}), "unknown_tool")]
#[tokio::test]
async fn every_refusal_is_a_result_with_its_code(
    #[case] tool: &str,
    #[case] arguments: Value,
    #[case] code: &str,
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let client =
        Client::connect(&service(&Hosted::new()), principal("ann", Role::User), wire).await;
    let result = client.call(tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["error"]["code"], code, "{text}");
}

#[rstest]
#[tokio::test]
async fn progress_comes_before_the_result(#[values(Wire::Legacy, Wire::Modern)] wire: Wire) {
    let client =
        Client::connect(&service(&Hosted::new()), principal("ann", Role::User), wire).await;
    let params = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": "p1"}});
    let all = messages(client.send("tools/call", params).await).await;
    let texts: String = all
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| {
            assert_eq!(message["params"]["progressToken"], "p1");
            message["params"]["message"].as_str().unwrap()
        })
        .collect();
    assert_eq!(texts, "step 0\nstep 1\nstep 2\n");
    assert_eq!(
        all.last().unwrap()["result"]["structuredContent"],
        json!({"steps": 3})
    );
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_and_wants_no_progress_is_answered_in_every_new_session(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
    #[values(json!({}), json!({"_meta": {"progressToken": "p"}}))] more: Value,
) {
    let service = service(&Hosted::new());
    let calls = (0..16).map(|n| {
        let service = &service;
        let mut params = json!({"name": "steps", "arguments": {}});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        async move {
            let who = principal(&format!("ann{n}"), Role::User);
            let client = Client::connect(service, who, wire).await;
            client.ask("tools/call", params).await
        }
    });
    let answered = tokio::time::timeout(LONG, futures_util::future::join_all(calls)).await;
    for reply in answered.expect("a client hangs") {
        assert_eq!(reply["result"]["structuredContent"], json!({"steps": 3}));
    }
}

#[rstest]
#[case("tools/list", json!({}))]
#[case("tools/call", json!({"name": "echo", "arguments": {}}))]
#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_next_request_is_answered_too(
    #[case] method: &str,
    #[case] params: Value,
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let service = service_of(Arc::new(Broken));
    let client = Client::connect(&service, principal("ann", Role::User), wire).await;
    for _ in 0..2 {
        let reply = tokio::time::timeout(LONG, client.ask(method, params.clone())).await;
        assert_eq!(reply.expect("the client hangs")["error"]["code"], -32603);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_given_up() {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Legacy).await;
    let response = client
        .send("tools/call", json!({"name": "hangs", "arguments": {}}))
        .await;
    until(|| host.begun.load(Ordering::SeqCst) == 1).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(client.post(&cancel).await.status(), StatusCode::ACCEPTED);
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
    drop(response);
}

/// It was answered with an error, and who calls off hears nothing of it any more.
#[rstest]
#[tokio::test]
async fn a_call_that_was_called_off_is_not_answered(
    #[values(json!({}), json!({"_meta": {"progressToken": "p"}}))] more: Value,
    #[values(true, false)] at_once: bool,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Legacy).await;
    client.call("echo", json!({"a": 1})).await;
    let mut params = json!({"name": "hangs", "arguments": {}});
    let more = more.as_object().unwrap().clone();
    params.as_object_mut().unwrap().extend(more);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    let begun = || host.begun.load(Ordering::SeqCst) == 2;
    let response = if at_once {
        let (response, cancelled) = tokio::join!(client.send("tools/call", params), async {
            until(begun).await;
            client.post(&cancel).await
        });
        assert_eq!(cancelled.status(), StatusCode::ACCEPTED);
        response
    } else {
        let response = client.send("tools/call", params).await;
        until(begun).await;
        client.post(&cancel).await;
        response
    };
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let told = tokio::time::timeout(LONG, messages(response)).await;
    assert_eq!(told.expect("the stream does not end"), Vec::<Value>::new());
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
    // Its id is free again, and so is the session.
    let result = client.call("echo", json!({"a": 2})).await;
    assert_eq!(result["structuredContent"], json!({"a": 2}));
}

/// The library held the head back until there was something to say: progress that did not come.
#[rstest]
#[tokio::test]
async fn a_call_that_wanted_progress_and_had_none_got_no_head_and_no_sign_of_life(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), wire).await;
    let params = json!({"name": "hangs", "arguments": {}, "_meta": {"progressToken": "p"}});
    let response = tokio::time::timeout(LONG, client.send("tools/call", params)).await;
    let response = response.expect("there is no head");
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let sign = tokio::time::timeout(LONG, body.frame()).await;
    assert!(sign.expect("there is no sign of life").is_some());
    until(|| host.begun.load(Ordering::SeqCst) == 1).await;
    drop(body);
    // What became of the call is what its era says.
    match wire {
        Wire::Modern => until(|| host.given_up.load(Ordering::SeqCst) == 1).await,
        Wire::Legacy => assert_eq!(host.given_up.load(Ordering::SeqCst), 0),
    }
}

/// What has a head late is whole all the same: progress and the one answer.
#[tokio::test]
async fn what_comes_after_a_late_head_is_told_in_its_order() {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Modern).await;
    let params = json!({"name": "late_steps", "arguments": {}, "_meta": {"progressToken": "p"}});
    // It says nothing before there is a head.
    let response = client.send("tools/call", params).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    host.go_on.notify_one();
    let all = messages(response).await;
    let (last, progress) = all.split_last().unwrap();
    assert!(!progress.is_empty());
    for message in progress {
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
    assert_eq!(last["result"]["structuredContent"], json!({"steps": 3}));
}

/// Any number waited behind a slow one, for as long as that took.
#[rstest]
#[tokio::test]
async fn so_many_calls_of_one_client_wait_and_the_next_is_told_to_come_again(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let host = Hosted::new();
    let service = service(&host);
    let client = Client::connect(&service, principal("ann", Role::User), wire).await;
    client.call("echo", json!({"a": 1})).await;
    let open = (100..164).map(|id| {
        let hangs = client.request(id, "tools/call", json!({"name": "hangs", "arguments": {}}));
        let client = &client;
        async move { client.post(&hangs).await }
    });
    let open = futures_util::future::join_all(open).await;
    let busy = client.call("echo", json!({"a": 1})).await;
    assert_eq!(busy["isError"], true, "{busy}");
    let said: Value = serde_json::from_str(busy["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["error"]["code"], "busy");
    assert_eq!(said["error"]["retryable"], true);
    // Nobody else waits for that.
    let other = Client::connect(&service, principal("bob", Role::User), wire).await;
    let result = other.call("echo", json!({"a": 2})).await;
    assert_eq!(result["structuredContent"], json!({"a": 2}));
    drop(open);
    service.stop();
}

#[rstest]
#[tokio::test]
async fn calls_at_once_are_made_one_after_the_other(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), wire).await;
    let calls = (0..5).map(|n| {
        let client = &client;
        async move {
            let params = json!({"name": "steps", "arguments": {}});
            let body = client.request(100 + n, "tools/call", params);
            let mut all = messages(client.post(&body).await).await;
            all.pop().unwrap_or_else(|| panic!("call {n} got no reply"))
        }
    });
    let replies = futures_util::future::join_all(calls).await;
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply["id"], 100 + n, "{reply}");
        assert_eq!(reply["result"]["structuredContent"], json!({"steps": 3}));
    }
    assert_eq!(host.most_at_once(), 1);
}

#[tokio::test]
async fn a_modern_client_that_goes_away_gives_its_call_up() {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Modern).await;
    let call = client.send("tools/call", json!({"name": "hangs", "arguments": {}}));
    let vanish = until(|| host.begun.load(Ordering::SeqCst) == 1);
    tokio::select! {
        response = call => {
            vanish_after(response, &host).await;
        }
        () = vanish => {}
    }
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
}

async fn vanish_after(response: Response<Body>, host: &Hosted) {
    until(|| host.begun.load(Ordering::SeqCst) == 1).await;
    drop(response);
}

#[tokio::test]
async fn a_session_belongs_to_who_began_it() {
    let host = Hosted::new();
    let service = service(&host);
    let ann = Client::connect(&service, principal("ann", Role::User), Wire::Legacy).await;
    let mut thief = Client {
        who: principal("eve", Role::Admin),
        session: ann.session.clone(),
        ..ann
    };
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(thief.post(&message).await.status(), StatusCode::NOT_FOUND);
    thief.session = Some("no-such-session".to_owned());
    assert_eq!(thief.post(&message).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn calls_of_one_client_are_in_one_session_and_those_of_others_are_not() {
    let host = Hosted::new();
    let service = service(&host);
    for (who, wire) in [
        ("ann", Wire::Legacy),
        ("ann", Wire::Modern),
        ("bob", Wire::Modern),
    ] {
        let client = Client::connect(&service, principal(who, Role::User), wire).await;
        client.call("words", json!({})).await;
        client.call("words", json!({})).await;
    }
    let seen = host.seen.lock().unwrap().clone();
    let sessions: Vec<&str> = seen.iter().map(|(session, _)| session.as_str()).collect();
    for pair in sessions.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    assert_ne!(sessions[0], sessions[2]);
    assert_ne!(sessions[2], sessions[4]);
}

/// What asks for no progress is answered in one piece, in sessions from the second call on: the
/// library hears the first. What takes long is a stream that says that it lives.
#[rstest]
#[tokio::test]
async fn a_plain_call_is_answered_in_one_piece_and_a_long_one_as_a_stream(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), wire).await;
    client.call("echo", json!({"a": 1})).await;
    let kind = |response: &Response<Body>| response.headers()["content-type"].clone();
    let echo = json!({"name": "echo", "arguments": {"a": 2}});
    let response = client.send("tools/call", echo.clone()).await;
    assert_eq!(kind(&response), "application/json");
    let reply = messages(response).await.pop().unwrap();
    assert_eq!(reply["id"], 7);
    assert_eq!(reply["result"]["structuredContent"], json!({"a": 2}));
    let told = reply["result"].get("resultType");
    assert_eq!(told.is_some(), wire == Wire::Modern, "{reply}");
    let hangs = json!({"name": "hangs", "arguments": {}});
    let response = client.send("tools/call", hangs).await;
    assert_eq!(kind(&response), "text/event-stream");
    client.service.stop();
    let reply = messages(response).await.pop().unwrap();
    stopped(&reply);
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
}

/// The library ends a session that it does not hear from for five minutes.
#[tokio::test(start_paused = true)]
async fn a_session_in_use_does_not_end() {
    let client = Client::connect(
        &service(&Hosted::new()),
        principal("ann", Role::User),
        Wire::Legacy,
    )
    .await;
    for _ in 0..60 {
        tokio::time::advance(std::time::Duration::from_secs(20)).await;
        let result = client.call("echo", json!({"a": 1})).await;
        assert_eq!(result["structuredContent"], json!({"a": 1}));
    }
}

#[tokio::test]
async fn a_session_that_was_ended_takes_no_plain_call() {
    let client = Client::connect(
        &service(&Hosted::new()),
        principal("ann", Role::User),
        Wire::Legacy,
    )
    .await;
    client.call("echo", json!({"a": 1})).await;
    client.call("echo", json!({"a": 1})).await;
    let session = client.session.clone().unwrap();
    let mut end = crate::gateway_client::request(
        Some(&client.who),
        &[("mcp-session-id", &session)],
        &json!({}),
    );
    *end.method_mut() = http::Method::DELETE;
    assert!(client.service.handle(end).await.status().is_success());
    let echo = json!({"name": "echo", "arguments": {"a": 2}});
    let response = client.send("tools/call", echo).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}
