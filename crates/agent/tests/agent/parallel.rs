//! Several calls in one reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use outfitter_core::*;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::harness::*;

fn number(args: &Value) -> u64 {
    args["n"].as_u64().unwrap()
}

/// A04: two calls of one tool are two calls.
#[tokio::test]
async fn a04_calls_of_one_reply_run_at_once_and_the_model_reads_results_in_their_order() {
    let barrier = Arc::new(Barrier::new(3));
    let met = barrier.clone();
    let tool = Counting::new(
        "meet",
        Effects::READ,
        Arc::new(move |_, args| {
            let met = met.clone();
            Box::pin(async move {
                met.wait().await;
                tokio::time::sleep(Duration::from_millis(10 * (3 - number(&args)))).await;
                Ok(Outcome::json(args).into())
            })
        }),
    );
    let process = World::new(vec![Arc::new(tool)]).alive(Arc::new(|replies, _| match replies {
        0 => calls(&[
            ("c0", "meet", "{\"n\":0}"),
            ("c1", "meet", "{\"n\":1}"),
            ("c2", "meet", "{\"n\":2}"),
        ]),
        _ => say("met"),
    }));
    let (_, events) = process.prompt("go").await;
    let finished: Vec<String> = bodies(&events)
        .iter()
        .filter_map(|body| match body {
            EventBody::Message(message) => message.output.as_ref(),
            _ => None,
        })
        .map(|output| output.tool_call_id.to_string())
        .collect();
    assert_eq!(
        finished.last().unwrap(),
        "c0",
        "events come as calls finish: {finished:?}"
    );
    let asked = process.model.asked.lock().unwrap()[1].clone();
    let places: Vec<usize> = (0..3)
        .map(|n| asked.find(&format!("],\"c{n}\"]")).unwrap())
        .collect();
    assert!(places.is_sorted(), "results are in call order: {asked}");
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_may() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (now.clone(), most.clone());
    let tool = Counting::new(
        "count",
        Effects::READ,
        Arc::new(move |_, _| {
            let (running, peak) = (running.clone(), peak.clone());
            Box::pin(async move {
                peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(Outcome::json(json!({})).into())
            })
        }),
    );
    let mut world = World::new(vec![Arc::new(tool)]);
    world.settings.max_tool_concurrency = 2;
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => {
            let ids: Vec<String> = (0..8).map(|n| format!("c{n}")).collect();
            let many: Vec<_> = ids.iter().map(|id| (&**id, "count", "{}")).collect();
            calls(&many)
        }
        _ => say("done"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_tool_that_panics_harms_only_its_own_call() {
    let panics = Counting::new(
        "burst",
        Effects::READ,
        Arc::new(|_, _| Box::pin(async { panic!("ouch") })),
    );
    let world = World::new(vec![
        Arc::new(panics),
        Arc::new(Counting::echo("echo", Effects::READ)),
    ]);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("a", "burst", "{}"), ("b", "echo", "{}")]),
        _ => say("done"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let outputs = world.outputs().await;
    assert_eq!(outputs["a"][0].error.as_ref().unwrap().code, Code::Internal);
    assert_eq!(outputs["b"][0].status, Status::Success);
}
