//! `GET /v1/runs/{id}/events`: replayed, followed, closed.

use serde_json::{Value, json};

use crate::client::{get, post};
use crate::harness::World;

fn durable(lines: &[Value]) -> Vec<&Value> {
    lines
        .iter()
        .filter(|line| line["type"] != "delta" && line["type"] != "tool_progress")
        .collect()
}

fn run_of(lines: &[Value]) -> String {
    lines[0]["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_replay_is_the_durable_events_from_any_number_on_also_after_a_restart() {
    let world = World::new();
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "input": "call prints {}" });
    let live = post("/v1/runs", &body).send(served.at).await.lines();
    let run = run_of(&live);
    served.stop().await;

    let served = world.serve().await;
    let whole = durable(&live);
    let count = live.last().unwrap()["seq"].as_u64().unwrap();
    for from in 0..=count + 1 {
        let path = format!("/v1/runs/{run}/events?from_seq={from}");
        let told = get(path).send(served.at).await.lines();
        let rest: Vec<&Value> = whole
            .iter()
            .filter(|line| line["seq"].as_u64().unwrap() >= from)
            .copied()
            .collect();
        assert_eq!(told.iter().collect::<Vec<_>>(), rest, "from {from}");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_connection_cut_at_any_event_is_continued_without_loss_or_repetition() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "call prints {}\ncall ask {}" });
    let whole = post("/v1/runs", &body).send(served.at).await.lines();
    let run = run_of(&whole);
    for cut in 0..whole.len() {
        let next = cut as u64 + 1;
        let path = format!("/v1/runs/{run}/events?from_seq={next}");
        let told = get(path).send(served.at).await.lines();
        let joined = [&whole[..cut], &told[..]].concat();
        assert_eq!(durable(&joined), durable(&whole), "cut at {cut}");
    }
    served.stop().await;
}

#[tokio::test]
async fn whoever_follows_a_run_sees_what_its_starter_sees_and_is_let_go_at_its_end() {
    let served = World::new().serve().await;
    let body = json!({ "input": "call hangs {}" });
    let mut starter = post("/v1/runs", &body).open(served.at).await;
    let mut seen = starter.until("tool_call").await;
    let run = run_of(&seen);
    let path = format!("/v1/runs/{run}/events");
    let mut follower = get(&*path).open(served.at).await;
    let mut followed = follower.until("tool_call").await;
    let late = get(format!("{path}?from_seq=9999")).open(served.at).await;

    post(format!("/v1/runs/{run}/cancel"), &json!({}))
        .send(served.at)
        .await;
    seen.extend(starter.rest().await);
    followed.extend(follower.rest().await);
    assert_eq!(durable(&seen), durable(&followed));
    let mut late = late;
    assert_eq!(late.rest().await, Vec::<Value>::new());
    served.stop().await;
}

#[tokio::test]
async fn a_follower_that_vanishes_ends_nothing() {
    let served = World::new().serve().await;
    let body = json!({ "input": "call hangs {}" });
    let mut starter = post("/v1/runs", &body).open(served.at).await;
    let seen = starter.until("tool_call").await;
    let path = format!("/v1/runs/{}/events", run_of(&seen));
    let mut follower = get(&*path).open(served.at).await;
    follower.until("tool_call").await;
    drop(follower);
    // Another one comes after it and still finds the run at work.
    let mut other = get(&*path).open(served.at).await;
    other.until("tool_call").await;
    let told = get(path.trim_end_matches("/events"))
        .send(served.at)
        .await
        .json();
    assert_eq!(told["status"], "running");
    served.stop().await;
}

#[tokio::test]
async fn a_run_that_is_not_there_is_not_found() {
    let served = World::new().serve().await;
    for path in ["", "/events", "/events?from_seq=5"] {
        let answer = get(format!("/v1/runs/run_nonsense{path}"))
            .send(served.at)
            .await;
        answer.is_problem(404, "not_found");
    }
    let bad = get("/v1/runs/run_nonsense/events?from_seq=x")
        .send(served.at)
        .await;
    bad.is_problem(400, "invalid_arguments");
    served.stop().await;
}
