//! The gateway: what a caller may do anyway, over HTTP, in both eras.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use outfitter_core::{CallHost, Principal, Role, SystemClock};
use outfitter_mcp::{GatewayOptions, McpService};
use rstest::rstest;
use serde_json::{Value, json};

use crate::hosted::{Broken, Hosted, principal};
use crate::support::{LONG, until};

type Body = BoxBody<Bytes, std::convert::Infallible>;

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Legacy,
    Modern,
}

/// A client of somebody's.
struct Client {
    service: McpService,
    who: Arc<Principal>,
    wire: Wire,
    session: Option<String>,
}

fn service(host: &Arc<Hosted>) -> McpService {
    service_of(host.clone())
}

fn service_of(host: Arc<dyn CallHost>) -> McpService {
    McpService::new(GatewayOptions::loopback(host, Arc::new(SystemClock)))
}

fn request(
    who: Option<&Arc<Principal>>,
    headers: &[(&str, &str)],
    body: &Value,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", "127.0.0.1:8470")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Full::from(body.to_string())).unwrap();
    if let Some(who) = who {
        request.extensions_mut().insert(who.clone());
    }
    request
}

/// Every message of a response, whichever of the two forms it has.
async fn messages(response: Response<Body>) -> Vec<Value> {
    assert!(response.status().is_success(), "{:?}", response.status());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = std::str::from_utf8(&bytes).unwrap();
    if text.starts_with('{') {
        return vec![serde_json::from_str(text).unwrap()];
    }
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter(|data| !data.trim().is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

impl Client {
    async fn connect(service: &McpService, who: Arc<Principal>, wire: Wire) -> Self {
        let mut client = Self {
            service: service.clone(),
            who,
            wire,
            session: None,
        };
        match wire {
            Wire::Modern => {
                let found = client.ask("server/discover", json!({})).await;
                assert_eq!(found["result"]["serverInfo"], Value::Null);
            }
            Wire::Legacy => {
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
                let response = client.send("initialize", params).await;
                let session = response.headers().get("mcp-session-id");
                client.session = session.map(|session| session.to_str().unwrap().to_owned());
                assert!(client.session.is_some());
                let agreed = messages(response).await.pop().unwrap();
                assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25");
                assert_eq!(agreed["result"]["serverInfo"]["name"], "outfitter");
                let told = client
                    .post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                    .await;
                assert_eq!(told.status(), StatusCode::ACCEPTED);
            }
        }
        client
    }

    async fn send(&self, method: &str, params: Value) -> Response<Body> {
        self.post(&self.request(7, method, params)).await
    }

    fn request(&self, id: usize, method: &str, mut params: Value) -> Value {
        if self.wire == Wire::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    async fn post(&self, message: &Value) -> Response<Body> {
        let mut headers = Vec::new();
        let method = message["method"].as_str().unwrap_or_default();
        let name = message["params"]["name"].as_str();
        match self.wire {
            Wire::Modern => {
                headers.push(("mcp-protocol-version", "2026-07-28"));
                headers.push(("mcp-method", method));
                headers.extend(name.map(|name| ("mcp-name", name)));
            }
            Wire::Legacy => {
                headers.push(("mcp-protocol-version", "2025-11-25"));
                headers.extend(
                    self.session
                        .as_deref()
                        .map(|session| ("mcp-session-id", session)),
                );
            }
        }
        self.service
            .handle(request(Some(&self.who), &headers, message))
            .await
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        messages(self.send(method, params).await)
            .await
            .pop()
            .unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self
            .ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        assert_eq!(reply["id"], 7, "{reply}");
        reply["result"].clone()
    }

    async fn names(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[rstest]
#[tokio::test]
async fn a_caller_sees_what_the_caller_may_use(#[values(Wire::Legacy, Wire::Modern)] wire: Wire) {
    let service = service(&Hosted::new());
    let user = Client::connect(&service, principal("ann", Role::User), wire).await;
    let seen = user.names().await;
    assert_eq!(
        seen,
        [
            "abroad", "echo", "fails", "hangs", "picture", "steps", "words"
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
#[case("later", json!({}), "not_presented")]
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
