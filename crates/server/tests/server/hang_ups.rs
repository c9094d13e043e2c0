//! Clients that hang up while what they asked for is half done. It was left half done.

use std::sync::Arc;

use outfitter_core::*;
use serde_json::json;

use crate::client::{Ask, delete, get, post};
use crate::gated::{Gated, Point};
use crate::harness::{Served, World, soon};

/// A server with one connection at a time: when the next is answered, the one before is gone, and
/// all that the server did for it alone.
fn one_at_a_time() -> (World, Arc<Gated>) {
    let mut world = World::new();
    world.config.connections = 1;
    world.config.cancel_on_disconnect = false;
    let log = Gated::new(world.log.clone());
    world.log = log.clone();
    (world, log)
}

/// Asks, hangs up when half of it is done, and lets the log go on once the server has seen that.
async fn asked_and_gone(served: &Served, log: &Gated, half_done: Point, ask: Ask) {
    log.close(half_done);
    let asking = ask.ask(served.at).await;
    log.come().await;
    drop(asking);
    assert_eq!(get("/healthz").send(served.at).await.status, 200);
    log.let_go(half_done);
}

/// The run did not know what was written to its log, and could write nothing more, not even its
/// end.
#[tokio::test]
async fn who_answered_and_hung_up_broke_the_run_that_was_under_way() {
    let (world, log) = one_at_a_time();
    let served = world.serve().await;
    let body = json!({ "session_id": "s", "input": "call ask {\"n\":1}\ncall hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    let asked = client.until("question").await;
    let question = asked.last().unwrap().clone();
    drop(client);
    let id = question["question_id"].as_str().unwrap();
    let run = question["run_id"].as_str().unwrap();
    let answer = post(
        format!("/v1/questions/{id}/answer"),
        &json!({ "answer": "yes" }),
    );
    asked_and_gone(&served, &log, Point::Answered, answer).await;

    // The run has the answer, and an end.
    let cancelled = post(format!("/v1/runs/{run}/cancel"), &json!({}));
    assert_eq!(cancelled.send(served.at).await.status, 202);
    let events = get(format!("/v1/runs/{run}/events")).send(served.at).await;
    let events = events.lines();
    let types: Vec<&str> = events.iter().filter_map(|it| it["type"].as_str()).collect();
    assert!(types.contains(&"answered"), "{types:?}");
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["outcome"]),
        (&json!("run_finished"), &json!("cancelled"))
    );
    served.stop().await;
}

/// A part of it was gone, and the rest was there for good.
#[tokio::test]
async fn who_deleted_a_session_and_hung_up_left_half_of_it() {
    let (world, log) = one_at_a_time();
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "arguments": {} });
    let output = post("/v1/tools/large/call", &body).send(served.at).await;
    let id = output.json()["artifacts"][0].as_str().unwrap().to_owned();
    let id = ArtifactId::new(&*id).unwrap();
    let scope = Scope {
        tenant: "local".into(),
        subject: "local".into(),
    };
    let session = SessionId::new("a").unwrap();
    let kept = async || {
        world
            .artifacts
            .read(&scope, &session, &id, 0, 1)
            .await
            .is_ok()
    };
    assert!(kept().await);
    let asked = delete("/v1/sessions/a");
    asked_and_gone(&served, &log, Point::Delete, asked).await;
    soon(async || {
        let told = get("/v1/sessions/a").send(served.at).await;
        (told.status == 404).then_some(())
    })
    .await;
    assert!(!kept().await);
    // And the session is free again.
    soon(async || {
        let again = post("/v1/tools/echo/call", &body).send(served.at).await;
        (again.status == 200).then_some(())
    })
    .await;
    served.stop().await;
}
