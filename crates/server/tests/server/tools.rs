//! Direct calls: one output each, with the status of its code.

use rstest::rstest;
use serde_json::{Value, json};

use crate::client::{get, post};
use crate::harness::{World, soon};

#[rstest]
#[case("echo", json!({ "n": 1 }), 200, Value::Null)]
#[case("echo", json!({ "n": "x" }), 422, json!("invalid_arguments"))]
#[case("nonsense", json!({}), 404, json!("unknown_tool"))]
#[case("admins_only", json!({}), 403, json!("not_permitted"))]
#[case("risky", json!({}), 403, json!("needs_approval"))]
#[case("fails", json!({}), 200, json!("failed"))]
#[case("panics", json!({}), 500, json!("internal"))]
#[tokio::test]
async fn a_call_is_answered_with_its_output_and_the_status_of_its_code(
    #[case] name: &str,
    #[case] arguments: Value,
    #[case] status: u16,
    #[case] code: Value,
) {
    let served = World::new().serve().await;
    let body = json!({ "arguments": arguments });
    let answer = post(format!("/v1/tools/{name}/call"), &body)
        .send(served.at)
        .await;
    let output = answer.json();
    assert_eq!(answer.status, status, "{output}");
    assert_eq!(output["tool_name"], name);
    assert_eq!(output["error"]["code"], code);
    // It is a run like any other: it can be looked up.
    let run = &answer.headers["outfitter-run-id"];
    let told = get(format!("/v1/runs/{run}")).send(served.at).await.json();
    assert_eq!(told["session_id"], answer.headers["outfitter-session-id"]);
    assert_ne!(told["status"], "running");
    served.stop().await;
}

#[tokio::test]
async fn arguments_reach_the_pipeline_as_they_were_written() {
    let served = World::new().serve().await;
    let twice = post("/v1/tools/echo/call", &Value::Null).body(r#"{"arguments":{"n":1,"n":2}}"#);
    let answer = twice.send(served.at).await;
    assert_eq!(answer.status, 422, "{}", answer.text());
    let none = post("/v1/tools/echo/call", &json!({}))
        .send(served.at)
        .await
        .json();
    assert_eq!(none["result"], json!({}));
    let more = post("/v1/tools/echo/call", &json!({ "args": {} }))
        .send(served.at)
        .await;
    more.is_problem(400, "invalid_arguments");
    served.stop().await;
}

#[tokio::test]
async fn a_call_whose_caller_is_gone_is_cancelled() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a" });
    let at = served.at;
    let mut calls = tokio::task::JoinSet::new();
    calls.spawn(async move {
        post("/v1/tools/hangs/call", &body).send(at).await;
    });
    let path = "/v1/sessions/a";
    soon(async || (get(path).send(at).await.status == 200).then_some(())).await;
    calls.shutdown().await;
    soon(async || {
        let body = json!({ "session_id": "a", "arguments": {} });
        let answer = post("/v1/tools/echo/call", &body).send(at).await;
        (answer.status == 200).then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test]
async fn the_listing_is_the_callers_own() {
    let served = World::new().serve().await;
    let names = async |token: Option<&str>, path: &str| {
        let ask = match token {
            Some(token) => get(path).by(token),
            None => get(path),
        };
        let listed = ask.send(served.at).await.json();
        let names: Vec<String> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        names
    };
    assert!(
        !names(None, "/v1/tools")
            .await
            .contains(&"admins_only".to_owned())
    );
    let admin = names(Some("root:admin"), "/v1/tools").await;
    assert!(admin.contains(&"admins_only".to_owned()));
    let unseen = get("/v1/tools?session_id=a").send(served.at).await;
    unseen.is_problem(404, "not_found");
    post("/v1/runs", &json!({ "session_id": "a", "input": "x" }))
        .send(served.at)
        .await;
    assert_eq!(
        names(None, "/v1/tools?session_id=a").await,
        names(None, "/v1/tools").await
    );
    served.stop().await;
}

/// A call that was refused before it began did not say with which arguments.
#[tokio::test]
async fn a_refused_call_has_its_arguments_without_what_is_secret() {
    let world = World::new();
    let served = world.serve().await;
    let hangs = json!({ "session_id": "s", "arguments": {} });
    let mut asking = tokio::task::JoinSet::new();
    asking.spawn(post("/v1/tools/hangs/call", &hangs).open(served.at));
    soon(async || {
        let listed = get("/v1/sessions").send(served.at).await.json();
        let begun = listed["sessions"][0]["entries"].as_u64()?;
        (begun >= 2).then_some(())
    })
    .await;
    let call = json!({ "session_id": "s", "arguments": { "n": 7, "password": "hunter2" } });
    let busy = post("/v1/tools/echo/call", &call).send(served.at).await;
    assert_eq!(busy.status, 409);
    let output = busy.json();
    assert_eq!(output["error"]["code"], "busy", "{output}");
    assert!(output["error"]["hint"].is_string(), "{output}");
    assert_eq!(output["tool_call_args"]["n"], 7, "{output}");
    assert!(!output.to_string().contains("hunter2"), "{output}");
    // So has one that is unknown, and one whose arguments cannot be read.
    let unknown = json!({ "arguments": { "n": 8 } });
    let unknown = post("/v1/tools/nothing/call", &unknown)
        .send(served.at)
        .await;
    assert_eq!(unknown.json()["tool_call_args"], json!({ "n": 8 }));
    let text = r#"{"arguments": {"n": 1, "n": 2}}"#;
    let twice = post("/v1/tools/echo/call", &Value::Null).body(text);
    let twice = twice.send(served.at).await.json();
    assert_eq!(twice["tool_call_args"], "{\"n\": 1, \"n\": 2}", "{twice}");
    asking.shutdown().await;
    served.stop().await;
}
