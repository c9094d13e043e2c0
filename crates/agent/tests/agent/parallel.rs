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
    let met = Arc::new(Barrier::new(3));
    let (over, _) = tokio::sync::watch::channel(0);
    let over = Arc::new(over);
    let tool = Counting::new(
        "meet",
        Effects::READ,
        Arc::new(move |_, args| {
            let (met, over) = (met.clone(), over.clone());
            Box::pin(async move {
                met.wait().await;
                // The last first, and each a moment after the one before.
                let mut ended = over.subscribe();
                let before = 2 - number(&args);
                ended.wait_for(|ended| *ended == before).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
                over.send_modify(|ended| *ended += 1);
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
    let request: Value = serde_json::from_str(&asked).unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let read: Vec<_> = messages
        .filter(|message| message[0] == "tool")
        .map(|message| (message[2].as_str().unwrap(), message[1].to_string()))
        .collect();
    assert_eq!(read.len(), 3);
    for (n, (id, own)) in read.iter().enumerate() {
        assert_eq!(*id, format!("c{n}"), "results are in call order: {asked}");
        assert!(own.contains(&format!("\\\"n\\\":{n}")), "{own}");
    }
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_may() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (now.clone(), most.clone());
    let pair = Arc::new(Barrier::new(2));
    let tool = Counting::new(
        "count",
        Effects::READ,
        Arc::new(move |_, _| {
            let (running, peak, pair) = (running.clone(), peak.clone(), pair.clone());
            Box::pin(async move {
                peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                pair.wait().await;
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
