//! What the gateway refuses, and how it says so.

use std::sync::atomic::Ordering;

use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::gateway_client::{Body, Client, Wire, messages, request, service};
use crate::hosted::{Hosted, principal};

#[rstest]
#[case::no_principal(None, "127.0.0.1", None, StatusCode::UNAUTHORIZED)]
#[case::foreign_host(Some("ann"), "evil.example", None, StatusCode::FORBIDDEN)]
#[case::foreign_origin(
    Some("ann"),
    "127.0.0.1",
    Some("https://evil.example"),
    StatusCode::FORBIDDEN
)]
#[tokio::test]
async fn who_may_not_come_in_is_refused_at_the_door(
    #[case] who: Option<&str>,
    #[case] host: &str,
    #[case] origin: Option<&str>,
    #[case] status: StatusCode,
) {
    let who = who.map(|who| principal(who, Role::Admin));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut request = request(who.as_ref(), &[], &body);
    request.headers_mut().insert("host", host.parse().unwrap());
    if let Some(origin) = origin {
        request
            .headers_mut()
            .insert("origin", origin.parse().unwrap());
    }
    assert_eq!(
        service(&Hosted::new()).handle(request).await.status(),
        status
    );
}

#[tokio::test]
async fn the_tool_is_the_one_of_the_body_and_a_header_that_differs_is_refused() {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), Wire::Modern).await;
    let params = json!({"name": "echo", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "words"),
    ];
    let response = client
        .service
        .handle(request(Some(&client.who), &headers, &body))
        .await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(host.begun.load(Ordering::SeqCst), 0);
}

/// What a refusal says, which has to be a problem of the HTTP API.
async fn problem(response: Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    assert_eq!(
        response.headers()["content-type"],
        "application/problem+json"
    );
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let problem: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(problem["status"], status.as_u16(), "{problem}");
    assert!(!problem["detail"].as_str().unwrap().is_empty(), "{problem}");
    (status, problem)
}

#[rstest]
#[case::no_json("x")]
#[case::nothing("")]
#[case::empty_batch("[]")]
#[case::batch(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#)]
#[case::list_of_its_members(r#"["2.0",1,"tools/call",{"name":"echo","arguments":{}}]"#)]
#[case::no_method(r#"{"id":4}"#)]
#[case::cut_off(r#"{"jsonrpc":"2.0","id":4,"method":"#)]
#[tokio::test]
async fn a_body_that_is_no_message_is_malformed_and_not_of_a_wrong_type(#[case] body: &str) {
    let ann = principal("ann", Role::User);
    let mut request = request(Some(&ann), &[], &Value::Null);
    *request.body_mut() = Full::from(body.to_owned());
    let (status, problem) = problem(service(&Hosted::new()).handle(request).await).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::BAD_REQUEST, &json!("invalid_arguments")),
        "{problem}"
    );
    assert_eq!(problem["detail"], "the body is not one JSON-RPC message");
}

#[rstest]
#[case("params", json!(["echo", {"text": "hi"}]))]
#[case("params.arguments", json!({"name": "echo", "arguments": ["hi"]}))]
#[tokio::test]
async fn a_list_was_taken_for_the_members_of_an_object(
    #[case] what: &str,
    #[case] params: Value,
    #[values("application/json", "application/json; charset=utf-8")] kind: &str,
) {
    let ann = principal("ann", Role::User);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mut request = request(Some(&ann), &[], &body);
    let headers = request.headers_mut();
    headers.insert("content-type", kind.parse().unwrap());
    let said = messages(service(&Hosted::new()).handle(request).await).await;
    let why = format!("{what} is a list, and has to be an object");
    let error = json!({"code": -32602, "message": why});
    assert_eq!(said, [json!({"jsonrpc": "2.0", "id": 1, "error": error})]);
}

#[rstest]
#[case::method(Method::PUT, "accept", "*/*", 405, "usage")]
#[case::accept(Method::POST, "accept", "text/html", 406, "usage")]
#[case::stream(Method::GET, "accept", "application/json", 406, "usage")]
#[case::content_type(Method::POST, "content-type", "text/plain", 415, "invalid_arguments")]
#[case::no_such_session(Method::POST, "mcp-session-id", "nobody's", 404, "not_found")]
#[case::no_session(
    Method::POST,
    "mcp-protocol-version",
    "2025-06-18",
    400,
    "invalid_arguments"
)]
#[case::no_session_to_end(Method::DELETE, "accept", "*/*", 400, "invalid_arguments")]
#[case::foreign_host(Method::POST, "host", "evil.example", 403, "not_permitted")]
#[tokio::test]
async fn a_request_that_is_refused_is_told_so_as_everywhere_in_the_api(
    #[case] method: Method,
    #[case] header: &'static str,
    #[case] value: &str,
    #[case] status: u16,
    #[case] code: &str,
) {
    let ann = principal("ann", Role::User);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut request = request(Some(&ann), &[], &body);
    *request.method_mut() = method;
    request.headers_mut().insert(header, value.parse().unwrap());
    let (found, problem) = problem(service(&Hosted::new()).handle(request).await).await;
    assert_eq!(
        (found.as_u16(), &problem["code"]),
        (status, &json!(code)),
        "{problem}"
    );
}

#[tokio::test]
async fn a_caller_that_is_not_known_is_refused_as_everywhere_in_the_api() {
    let request = request(None, &[], &json!({}));
    let (status, problem) = problem(service(&Hosted::new()).handle(request).await).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::UNAUTHORIZED, &json!("unauthenticated"))
    );
}

#[rstest]
#[case(Wire::Legacy, "tools/call", json!({}), -32602)]
#[case(Wire::Legacy, "tools/call", json!({"name": "echo", "arguments": []}), -32602)]
#[case(Wire::Modern, "tools/call", json!({"name": "echo", "arguments": []}), -32602)]
#[case(Wire::Legacy, "tools/call", json!({"name": 7}), -32602)]
#[case(Wire::Legacy, "tools/nothing", json!({}), -32601)]
#[tokio::test]
async fn parameters_that_do_not_fit_are_no_unknown_method(
    #[case] wire: Wire,
    #[case] method: &str,
    #[case] params: Value,
    #[case] code: i32,
) {
    let host = Hosted::new();
    let client = Client::connect(&service(&host), principal("ann", Role::User), wire).await;
    let reply = client.ask(method, params).await;
    assert_eq!(reply["error"]["code"], code, "{reply}");
    assert_eq!(host.begun.load(Ordering::SeqCst), 0);
}

/// Who is refused is told what to do instead.
#[rstest]
#[case::no_session(&[("mcp-protocol-version", "2025-11-25")], 400, "begin with `initialize`")]
#[case::gone(&[("mcp-session-id", "gone")], 404, "begin a new one with `initialize`")]
#[case::json_only(&[("accept", "application/json")], 406, "application/json, text/event-stream")]
#[case::stream_only(&[("accept", "text/event-stream")], 406, "application/json, text/event-stream")]
#[case::anything(&[("accept", "*/*")], 406, "application/json, text/event-stream")]
#[case::form(&[("content-type", "text/plain")], 415, "Content-Type: application/json")]
#[tokio::test]
async fn a_refusal_of_the_gateway_did_not_say_what_to_do(
    #[case] headers: &[(&'static str, &str)],
    #[case] status: u16,
    #[case] says: &str,
) {
    let ann = principal("ann", Role::User);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut request = request(Some(&ann), &[], &body);
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let (told, problem) = problem(service(&Hosted::new()).handle(request).await).await;
    assert_eq!(told.as_u16(), status, "{problem}");
    let hint = problem["hint"].as_str().unwrap_or_default();
    assert!(hint.contains(says), "{problem}");
}

#[tokio::test]
async fn a_revision_that_is_not_known_is_answered_with_those_that_are() {
    let ann = principal("ann", Role::User);
    let client = Client::connect(&service(&Hosted::new()), ann, Wire::Legacy).await;
    let session = client.session.clone().unwrap();
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2019-01-01"),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let refused = client
        .service
        .handle(request(Some(&client.who), &headers, &body))
        .await;
    let bytes = refused.into_body().collect().await.unwrap().to_bytes();
    let said = std::str::from_utf8(&bytes).unwrap();
    assert!(said.contains("2025-11-25"), "{said}");
}
