//! What clients of older revisions take, and how a server that ends is told of in both eras.

use http::{Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::gateway_client::{Body, Client, Wire, messages, request, service};
use crate::hosted::{Hosted, principal};

/// What is answered to a call that was not done because the server ends: a result with the code.
pub(crate) fn stopped(reply: &Value) {
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("unavailable"), "{text}");
    assert!(text.contains("the server is stopping"), "{text}");
}

/// It was an error of the protocol in a session, and a result without one.
#[rstest]
#[tokio::test]
async fn a_call_that_waited_for_its_turn_when_the_server_ended_was_told_so_in_two_forms(
    #[values(Wire::Legacy, Wire::Modern)] wire: Wire,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), wire).await;
    client.call("echo", json!({"a": 1})).await;
    let hangs = json!({"name": "hangs", "arguments": {}});
    let first = client.send("tools/call", hangs.clone()).await;
    let waits = client.post(&client.request(8, "tools/call", hangs)).await;
    client.service.stop();
    for response in [waits, first] {
        stopped(&messages(response).await.pop().unwrap());
    }
}

/// Clients of before read the event as a message, and told of a broken one with each answer.
#[rstest]
#[case("2025-03-26", None, false)]
#[case("2025-06-18", Some("2025-06-18"), false)]
#[case("2025-11-25", Some("2025-11-25"), true)]
#[tokio::test]
async fn a_client_of_before_got_an_event_without_a_message(
    #[case] version: &str,
    #[case] header: Option<&str>,
    #[case] primed: bool,
) {
    let service = service(&Hosted::new());
    let who = principal("ann", Role::User);
    let mut headers: Vec<(&str, &str)> = Vec::new();
    let ask = async |headers: &[(&str, &str)], method: Method, body: Value| {
        let mut asked = request(Some(&who), headers, &body);
        *asked.method_mut() = method;
        service.handle(asked).await
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let response = ask(&headers, Method::POST, hello).await;
    let session = response.headers()["mcp-session-id"].clone();
    let mut told = vec![text(response).await];
    headers.push(("mcp-session-id", session.to_str().unwrap()));
    headers.extend(header.map(|version| ("mcp-protocol-version", version)));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    ask(&headers, Method::POST, ready).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    told.push(text(ask(&headers, Method::POST, list).await).await);
    // What it would hear of changes by.
    let mut hears = ask(&headers, Method::GET, json!({})).await.into_body();
    let end = ask(&headers, Method::DELETE, json!({})).await;
    assert_eq!(
        end.status(),
        StatusCode::NO_CONTENT,
        "202 was no end for them"
    );
    let mut heard = String::new();
    while let Some(frame) = hears.frame().await {
        heard.push_str(std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap());
    }
    for told in &told {
        assert!(told.contains("data: {"), "{told}");
    }
    told.push(heard);
    for told in told {
        let event = |event: &str| event.starts_with("data: \n");
        assert_eq!(told.split("\n\n").any(event), primed, "{told}");
    }
}

async fn text(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}
