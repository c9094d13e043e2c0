//! The gateway behind the same gate: its calls are runs of the server.

use serde_json::{Value, json};

use crate::client::{Ask, Whole, get, post};
use crate::harness::{Served, World, soon};

fn ask(body: &Value) -> Ask {
    post("/mcp", body).header("accept", "application/json, text/event-stream")
}

/// What the answer says, be it JSON or a stream.
fn said(whole: &Whole) -> Value {
    assert_eq!(whole.status, 200, "{}", whole.text());
    let text = whole.text();
    let data = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
        .rfind(|data| !data.is_empty());
    serde_json::from_str(data.unwrap_or(&text)).unwrap()
}

async fn begun(served: &Served, token: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let answer = ask(&hello).by(token).send(served.at).await;
    assert_eq!(said(&answer)["id"], 1);
    let session = answer.headers["mcp-session-id"].clone();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let ready = ask(&ready).by(token).header("mcp-session-id", &session);
    assert_eq!(ready.send(served.at).await.status, 202);
    session
}

fn call(name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": name, "arguments": { "n": 7 } } })
}

#[tokio::test]
async fn a_caller_has_their_own_tools_there_and_each_call_is_a_run() {
    let served = World::new().serve().await;
    let session = begun(&served, "alice").await;
    let of = |body: &Value| ask(body).by("alice").header("mcp-session-id", &session);
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {} });
    let listed = said(&of(&list).send(served.at).await);
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"echo") && !names.contains(&"admins_only"),
        "{names:?}"
    );
    let echoed = said(&of(&call("echo")).send(served.at).await);
    assert_eq!(echoed["result"]["structuredContent"], json!({ "n": 7 }));
    let refused = said(&of(&call("admins_only")).send(served.at).await);
    assert!(refused["result"]["isError"] == true || refused["error"].is_object());

    let sessions = get("/v1/sessions").by("alice").send(served.at).await.json();
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        1,
        "{sessions}"
    );
    let other = ask(&call("echo"))
        .by("bob")
        .header("mcp-session-id", &session);
    assert_eq!(other.send(served.at).await.status, 404);
    served.stop().await;
}

#[tokio::test]
async fn the_gate_stands_before_it() {
    let served = World::new().serve().await;
    let evil = ask(&call("echo")).header("host", "evil.example");
    evil.send(served.at).await.is_problem(403, "not_permitted");
    let page = ask(&call("echo")).header("origin", "https://evil.example");
    page.send(served.at).await.is_problem(403, "not_permitted");
    let forged = ask(&call("echo")).by("nobody").send(served.at).await;
    forged.is_problem(401, "unauthenticated");
    served.stop().await;
}

#[tokio::test]
async fn a_call_under_way_ends_with_the_server_and_its_run_says_so() {
    let world = World::new();
    let served = world.serve().await;
    let session = begun(&served, "alice").await;
    let (at, body) = (served.at, call("hangs"));
    let mut calls = tokio::task::JoinSet::new();
    let open = ask(&body).by("alice").header("mcp-session-id", &session);
    calls.spawn(async move { open.send(at).await.text() });
    let id = soon(async || {
        let told = get("/v1/sessions").by("alice").send(at).await.json();
        let session = &told["sessions"][0];
        let begun = session["entries"].as_u64().unwrap_or_default() >= 2;
        begun.then(|| session["id"].as_str().unwrap().to_owned())
    })
    .await;
    served.stop().await;
    // Who called is answered before the connection ends.
    let answer = calls.join_next().await.unwrap().unwrap();
    assert!(
        answer.contains("\\\"code\\\":\\\"interrupted\\\""),
        "{answer}"
    );
    let served = world.serve().await;
    let told = get(format!("/v1/sessions/{id}/messages"))
        .by("alice")
        .send(served.at)
        .await;
    let told = told.json();
    let output = &told["messages"][0]["metadata"]["tool_agent_output"];
    assert_eq!(output["status"], "interrupted", "{told}");
    served.stop().await;
}
