//! Clients of the gateway that go away in the middle of a call, and sessions that end under one.
//!
//! In the modern era the end of the connection is the end of the call. In the legacy era it is not
//! to be taken for that: the client may only have lost it. There a call ends with the word of its
//! client, with its session, or by its own time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Method, Response, StatusCode};
use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::gateway_client::{Body, Client, Wire, request, service};
use crate::hosted::{Hosted, principal};
use crate::support::until;

/// The ways to make a call: what makes it the library's to answer, or leaves it ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Plain,
    WithProgress,
}

fn hangs(call: Call) -> Value {
    let mut params = json!({"name": "hangs", "arguments": {}});
    if call == Call::WithProgress {
        params["_meta"] = json!({"progressToken": "t"});
    }
    params
}

/// Begins a call that hangs, and goes away once it is made.
async fn begin_and_vanish(client: &Client, call: Call, host: &Arc<Hosted>) {
    let before = host.begun.load(Ordering::SeqCst);
    let sent = client.send("tools/call", hangs(call));
    let made = until(|| host.begun.load(Ordering::SeqCst) > before);
    tokio::pin!(made);
    tokio::select! {
        response = sent => {
            made.await;
            drop(response);
        }
        () = &mut made => {}
    }
}

#[rstest]
#[tokio::test]
async fn a_call_of_a_modern_client_that_vanished_went_on(
    #[values(Call::Plain, Call::WithProgress)] call: Call,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Modern).await;
    begin_and_vanish(&client, call, &host).await;
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
    // The next call of the same person is not held up by it.
    let result = client.call("echo", json!({"a": 1})).await;
    assert_eq!(result["structuredContent"], json!({"a": 1}));
}

/// Ends the session of a client, as the protocol has it.
async fn end(client: &Client) -> Response<Body> {
    let session = client.session.clone().unwrap();
    ask(client, Method::DELETE, &session).await
}

/// A request of a client that names a session.
async fn ask(client: &Client, method: Method, session: &str) -> Response<Body> {
    let headers = [("mcp-session-id", session)];
    let list = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"});
    let mut ask = request(Some(&client.who), &headers, &list);
    *ask.method_mut() = method;
    client.service.handle(ask).await
}

async fn legacy(host: &Arc<Hosted>) -> Client {
    let client = Client::connect(&service(host), principal("ann", Role::User), Wire::Legacy).await;
    // The first call is the library's in any case.
    client.call("echo", json!({"a": 1})).await;
    client
}

#[rstest]
#[tokio::test]
async fn a_call_went_on_when_its_session_was_ended(
    #[values(Call::Plain, Call::WithProgress)] call: Call,
) {
    let host = Hosted::new();
    let client = legacy(&host).await;
    begin_and_vanish(&client, call, &host).await;
    assert_eq!(host.given_up.load(Ordering::SeqCst), 0, "it goes on");
    assert!(end(&client).await.status().is_success());
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
}

#[rstest]
#[tokio::test]
async fn a_legacy_client_that_lost_its_connection_can_still_stop_its_call(
    #[values(Call::Plain, Call::WithProgress)] call: Call,
) {
    let host = Hosted::new();
    let client = legacy(&host).await;
    begin_and_vanish(&client, call, &host).await;
    assert_eq!(host.given_up.load(Ordering::SeqCst), 0, "it goes on");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert!(client.post(&cancel).await.status().is_success());
    until(|| host.given_up.load(Ordering::SeqCst) == 1).await;
    let reply = client.ask("tools/list", json!({})).await;
    assert!(reply["result"]["tools"].is_array(), "{reply}");
}

/// The specification has 404 for a session that is not there, whoever asks for whatever: clients
/// begin a new one by that.
#[rstest]
#[tokio::test]
async fn the_end_of_a_session_that_was_not_there_was_said_to_be_done(
    #[values(Method::DELETE, Method::GET, Method::POST)] method: Method,
) {
    let service = service(&Hosted::new());
    let connect =
        async |who| Client::connect(&service, principal(who, Role::User), Wire::Legacy).await;
    let (ann, eve) = (connect("ann").await, connect("eve").await);
    assert_eq!(end(&ann).await.status(), StatusCode::NO_CONTENT);
    let ended = ann.session.clone().unwrap();
    let of_eve = eve.session.clone().unwrap();
    for session in ["no-such-session", "", &ended, &of_eve] {
        let told = ask(&ann, method.clone(), session).await;
        assert_eq!(told.status(), StatusCode::NOT_FOUND, "{method} {session:?}");
    }
    // Hers is still there.
    let list = ask(&eve, Method::POST, &of_eve).await;
    assert_eq!(list.status(), StatusCode::OK);
}
