//! Servers that are told to stop, or die, between what was said last and the end of its run.

use outfitter_core::*;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::client::{get, post};
use crate::gated::{Gated, Point};
use crate::harness::{Served, World, soon};

/// The kinds of the entries of a session.
async fn kinds(world: &World, session: &str) -> Vec<&'static str> {
    let scope = Scope {
        tenant: "local".into(),
        subject: "local".into(),
    };
    let id = SessionId::new(session).unwrap();
    let page = world.log.read(&scope, &id, Seq(1), 1_000).await.unwrap();
    page.entries.iter().map(|entry| entry.body.kind()).collect()
}

async fn runs(world: &World, session: &str) -> (usize, usize) {
    let kinds = kinds(world, session).await;
    let count = |kind| kinds.iter().filter(|other| **other == kind).count();
    (count("run_started"), count("run_finished"))
}

async fn said(at: std::net::SocketAddr, session: &str) -> Option<Value> {
    let told = get(format!("/v1/sessions/{session}/messages"))
        .send(at)
        .await;
    told.json()["messages"].as_array()?.last().cloned()
}

/// A world whose server died after the last words of session `s`, before the end of its run.
async fn died_before_the_end(world: &mut World) {
    let whole = world.log.clone();
    let gated = Gated::new(world.log.clone());
    gated.close(Point::EndOfRun);
    world.log = gated;
    let served = world.serve().await;
    let body = json!({ "session_id": "s", "input": "hi" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    client.until("run_started").await;
    soon(async || {
        let last = said(served.at, "s").await?;
        (last["content"] == "you said: hi").then_some(())
    })
    .await;
    served.kill();
    world.log = whole;
    assert_eq!(runs(world, "s").await, (1, 0));
}

/// Tells the server to stop, and waits until it has heard.
async fn told_to_stop(served: &mut Served) {
    served.tell_to_stop();
    soon(async || TcpStream::connect(served.at).await.err()).await;
}

/// The server was told to stop before it had come to a turn of an earlier one, and left its run
/// without an end.
#[tokio::test]
async fn a_stop_before_recovery_left_a_run_without_an_end() {
    let mut world = World::new();
    died_before_the_end(&mut world).await;
    let whole = world.log.clone();
    let gated = Gated::new(world.log.clone());
    gated.close(Point::List);
    world.log = gated.clone();
    let mut served = world.serve().await;
    told_to_stop(&mut served).await;
    assert_eq!(runs(&world, "s").await, (1, 0), "it stands at the gate");
    gated.let_go(Point::List);
    served.ended().await;
    world.log = whole;
    assert_eq!(runs(&world, "s").await, (1, 1));

    // What was not gone on with then goes on now, in a run that ends as the turn does.
    let served = world.serve().await;
    soon(async || (runs(&world, "s").await == (2, 2)).then_some(())).await;
    let session = get("/v1/sessions/s").send(served.at).await.json();
    assert_eq!(session["waiting"], json!([]));
    served.stop().await;
    // And is at rest from then on.
    let entries = kinds(&world, "s").await.len();
    world.serve().await.stop().await;
    assert_eq!(kinds(&world, "s").await.len(), entries);
}

/// A run whose end cannot be written in the time that a stop gives is ended by who stops.
#[tokio::test]
async fn a_run_that_was_cut_off_by_a_stop_had_no_end() {
    let mut world = World::new();
    world.config.grace = std::time::Duration::from_millis(50);
    let whole = world.log.clone();
    let gated = Gated::new(world.log.clone());
    gated.close(Point::EndOfRun);
    world.log = gated.clone();
    let mut served = world.serve().await;
    let body = json!({ "session_id": "s", "input": "hi" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    client.until("message").await;
    soon(async || {
        said(served.at, "s")
            .await
            .filter(|last| last["role"] == "assistant")
    })
    .await;
    told_to_stop(&mut served).await;
    gated.open(Point::EndOfRun);
    served.ended().await;
    world.log = whole;
    assert_eq!(runs(&world, "s").await, (1, 1));
}

/// A direct call belongs to no turn, so nothing went on there, and who followed it waited for ever.
#[tokio::test]
async fn a_direct_call_that_died_was_followed_for_ever() {
    let world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "s", "arguments": {} });
    let client = post("/v1/tools/hangs/call", &body).open(served.at);
    let mut asking = tokio::task::JoinSet::new();
    asking.spawn(client);
    let kinds = soon(async || {
        let listed = get("/v1/sessions").send(served.at).await.json();
        let begun = listed["sessions"][0]["entries"].as_u64()?;
        (begun >= 2).then(|| kinds(&world, "s"))
    })
    .await
    .await;
    assert_eq!(kinds, ["run_started", "tool_call"]);
    served.kill();

    let served = world.serve().await;
    soon(async || (runs(&world, "s").await == (1, 1)).then_some(())).await;
    let last = said(served.at, "s").await.unwrap();
    let output = &last["metadata"]["tool_agent_output"];
    assert_eq!(output["status"], "interrupted", "{last}");
    served.stop().await;
}

/// A direct call in a session that waits hid the question from the next server: it never expired.
#[tokio::test]
async fn a_question_behind_a_direct_call_never_expired() {
    let world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "s", "input": "call ask {\"n\":0}" });
    let call = json!({ "session_id": "s", "arguments": {} });
    // The server dies before the time of the question is up.
    let mut client = post("/v1/runs", &body).open(served.at).await;
    client.until("run_finished").await;
    post("/v1/tools/echo/call", &call).send(served.at).await;
    served.kill();

    let served = world.serve().await;
    let last = soon(async || {
        let last = said(served.at, "s").await?;
        (last["content"] == "done").then_some(last)
    })
    .await;
    assert_eq!(last["role"], "assistant");
    served.stop().await;
}
