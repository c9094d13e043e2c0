//! How a server ends, and what it finds when it begins again.

use std::net::Ipv4Addr;
use std::sync::Arc;

use outfitter_core::{CallHostError, Scope, SessionId};
use outfitter_server::{ServeError, SessionHold, SessionHolds};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::{delete, get, post};
use crate::harness::{World, soon};
use crate::runs::check_live;

#[tokio::test]
async fn a_server_that_stops_ends_every_run_with_its_last_event() {
    let world = World::new();
    let served = world.serve().await;
    let mut clients = Vec::new();
    for session in ["a", "b", "c"] {
        let body = json!({ "session_id": session, "input": "call hangs {}" });
        let mut client = post("/v1/runs", &body).open(served.at).await;
        let begun = client.until("tool_call").await;
        clients.push((client, begun));
    }
    let agui = json!({ "threadId": "d", "runId": "r", "protocolVersion": "1.0", "messages": [
        { "id": "1", "role": "user", "content": "call hangs {}" } ] });
    let mut stream = post("/agui", &agui).open(served.at).await;
    let mut text = String::new();
    while !text.contains("TOOL_CALL_END") {
        text.push_str(&String::from_utf8(stream.piece().await.unwrap()).unwrap());
    }
    served.stop().await;
    for (mut client, begun) in clients {
        let rest = client.rest().await;
        check_live(&[begun, rest.clone()].concat());
        let end = rest.last().unwrap();
        assert_eq!(end["outcome"], "failed");
        assert_eq!(end["output"]["error"]["code"], "interrupted", "{end}");
    }
    while let Some(piece) = stream.piece().await {
        text.push_str(&String::from_utf8(piece).unwrap());
    }
    let ends = |kind: &str| text.matches(&format!("\"type\":\"{kind}\"")).count();
    assert_eq!((ends("RUN_FINISHED"), ends("RUN_ERROR")), (0, 1), "{text}");
    assert!(text.contains("\"code\":\"interrupted\""), "{text}");
}

/// An orderly stop lost what a crash does not: turns ended as if somebody had called them off.
#[tokio::test]
async fn a_turn_that_a_stop_interrupted_goes_on_and_one_that_was_called_off_does_not() {
    let world = World::new();
    let served = world.serve().await;
    let mut begun = Vec::new();
    for session in ["goes-on", "called-off"] {
        let body = json!({ "session_id": session, "input": "call hangs {}" });
        let mut client = post("/v1/runs", &body).open(served.at).await;
        let lines = client.until("tool_call").await;
        begun.push((client, lines[0]["run_id"].as_str().unwrap().to_owned()));
    }
    let (mut client, run) = begun.pop().unwrap();
    let path = format!("/v1/runs/{run}/cancel");
    post(path, &json!({})).send(served.at).await;
    assert_eq!(client.rest().await.last().unwrap()["outcome"], "cancelled");
    let (mut client, run) = begun.pop().unwrap();
    served.stop().await;
    client.rest().await;

    let served = world.serve().await;
    let at = served.at;
    let session = |id: &'static str| async move {
        let told = get(format!("/v1/sessions/{id}")).send(at).await.json();
        told["entries"].as_u64().unwrap()
    };
    // The call, which only reads, is made again in a run that says what it resumes.
    let again = soon(async || {
        let told = get(format!("/v1/runs/{run}")).send(at).await.json();
        assert_eq!(told["status"], "failed");
        let entries = session("goes-on").await;
        (entries > 8).then_some(entries)
    })
    .await;
    assert!(again > 8);
    let messages = get("/v1/sessions/goes-on/messages").send(at).await.json();
    let roles = messages["messages"].as_array().unwrap().iter();
    let results = roles.filter(|message| message["role"] == "tool").count();
    assert_eq!(results, 0, "it is at work again: {messages}");
    let entries = session("called-off").await;
    served.stop().await;
    let served = world.serve().await;
    let told = get("/v1/sessions/called-off").send(served.at).await.json();
    assert_eq!(told["entries"].as_u64().unwrap(), entries);
    served.stop().await;
}

#[tokio::test]
async fn a_turn_that_broke_off_goes_on_when_the_server_begins_again() {
    let world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "input": "call hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    let begun = client.until("tool_call").await;
    let dead = begun[0]["run_id"].as_str().unwrap().to_owned();
    let breaks = json!({ "session_id": "b", "input": "break" });
    let mut other = post("/v1/runs", &breaks).open(served.at).await;
    other.until("delta").await;
    served.kill();

    let served = world.serve().await;
    let at = served.at;
    // The dead run has its end in the log: whoever followed it is let go.
    let told = get(format!("/v1/runs/{dead}/events"))
        .send(at)
        .await
        .lines();
    let end = told.last().unwrap();
    assert_eq!(end["type"], "run_finished");
    assert_eq!(end["output"]["error"]["code"], "interrupted");
    // A read-only call is made again, in a run that says what it resumes.
    let run = soon(async || {
        let hanging = get("/v1/sessions/a").send(at).await.json();
        let entries = hanging["entries"].as_u64().unwrap();
        (entries > begun.len() as u64 + 2).then_some(entries)
    })
    .await;
    assert!(run > 0);
    // What the model had begun to say is said anew.
    served.stop().await;
}

#[tokio::test]
async fn a_dead_run_is_followed_until_its_end_is_written_and_a_live_resume_can_be_seen() {
    let world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "input": "call ask {\"n\":1}" });
    let lines = post("/v1/runs", &body).send(served.at).await.lines();
    let question = lines
        .iter()
        .find(|line| line["type"] == "question")
        .unwrap();
    let id = question["question_id"].as_str().unwrap();
    served.kill();
    let served = world.serve().await;
    let path = format!("/v1/questions/{id}/answer");
    let answer = post(path, &json!({ "answer": "yes" }))
        .send(served.at)
        .await;
    let run = answer.json()["run_id"].as_str().unwrap().to_owned();
    let told: Vec<Value> = get(format!("/v1/runs/{run}/events"))
        .send(served.at)
        .await
        .lines();
    assert_eq!(told[0]["resumes"], lines[0]["run_id"]);
    assert_eq!(told.last().unwrap()["outcome"], "success");
    served.stop().await;
}

#[tokio::test]
async fn an_address_that_others_reach_is_refused() {
    let world = World::new();
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
    let served = world.server(world.log.clone()).serve(listener, async {});
    assert!(matches!(served.await, Err(ServeError::NotLoopback(_))));
}

/// Another process has the session `theirs`.
struct Theirs;

struct Held;

impl SessionHold for Held {}

impl SessionHolds for Theirs {
    fn hold(&self, _: &Scope, id: &SessionId) -> Result<Box<dyn SessionHold>, CallHostError> {
        if id.as_str() == "theirs" {
            return Err(CallHostError::Busy(id.clone()));
        }
        Ok(Box::new(Held))
    }
}

#[tokio::test]
async fn a_session_that_another_process_has_is_left_to_it() {
    let mut world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "theirs", "input": "call hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    client.until("tool_call").await;
    served.kill();

    world.holds = Some(Arc::new(Theirs));
    let served = world.serve().await;
    post("/v1/runs", &body)
        .send(served.at)
        .await
        .is_problem(409, "busy");
    delete("/v1/sessions/theirs")
        .send(served.at)
        .await
        .is_problem(409, "busy");
    let calls = json!({ "session_id": "theirs" });
    let called = post("/v1/tools/echo/call", &calls).send(served.at).await;
    // A call that was never made has its one output, too.
    assert_eq!(called.status, 409, "{}", called.text());
    let output = called.json();
    assert_eq!(
        (&output["status"], &output["tool_name"]),
        (&json!("error"), &json!("echo"))
    );
    assert_eq!(output["error"]["code"], "busy", "{output}");
    let ours = json!({ "session_id": "ours", "input": "hi" });
    assert_eq!(post("/v1/runs", &ours).send(served.at).await.status, 200);
    // The turn that broke off there was not taken up: its run still has no end.
    let told = get("/v1/sessions/theirs/messages")
        .send(served.at)
        .await
        .json();
    assert_eq!(told["messages"].as_array().unwrap().len(), 2);
    served.stop().await;
}
