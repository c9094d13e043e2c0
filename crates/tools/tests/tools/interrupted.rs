//! Calls in whose middle the process ends, and nobody called them off.

use std::time::Duration;

use outfitter_core::{
    Cancel, Code, Effect, Effects, Outcome, Reply, Status, ToolError, ToolOutput,
};
use serde_json::json;

use crate::support::{Probe, World, call};

const SENDS: Effects = Effects::of(&[Effect::Message]);

/// Ends a second after it is told to.
fn listens(name: &str, effects: Effects, ends: fn() -> Result<Reply, ToolError>) -> Probe {
    Probe::new(name)
        .spec(|spec| spec.effects = effects)
        .call(move |cx, _| {
            Box::pin(async move {
                cx.cancel.cancelled().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
                ends()
            })
        })
}

fn stopped() -> Result<Reply, ToolError> {
    Ok(Outcome::json(json!({"lines": 3}))
        .stopped(Code::Cancelled, "the command was killed")
        .into())
}

fn done() -> Result<Reply, ToolError> {
    Ok(Outcome::text("done").into())
}

/// A world whose run is one of this server.
fn served(server: &Cancel, probe: Probe) -> World {
    let mut world = World::new([probe]);
    world.run.cancel = server.interruptible();
    world
}

async fn interrupted(server: &Cancel, world: &World, name: &str) -> std::sync::Arc<ToolOutput> {
    let (output, ()) = tokio::join!(world.output(name, ""), async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        server.cancel();
    });
    output
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_run_again_is_not_on_record_as_after_a_crash() {
    let read = listens("stops", Effects::NONE, stopped);
    let again = listens("stops", SENDS, stopped).spec(|spec| spec.idempotent = true);
    for probe in [read, again] {
        let server = Cancel::new();
        let world = served(&server, probe);
        let output = interrupted(&server, &world, "stops").await;
        assert_eq!(output.status, Status::Interrupted);
        assert_eq!(world.journal.messages().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_changes_something_is_interrupted_with_what_it_has() {
    let server = Cancel::new();
    let world = served(&server, listens("stops", SENDS, stopped));
    let output = interrupted(&server, &world, "stops").await;
    assert_eq!(output.status, Status::Interrupted);
    assert_eq!(output.result, Some(json!({"lines": 3})));
    assert_eq!(world.journal.messages().len(), 1);
    assert!(world.read_by_model().contains("all, some or none"));
}

/// It was made: who makes it again makes it twice.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_done_all_the_same_is_done() {
    let server = Cancel::new();
    let world = served(&server, listens("ends", SENDS, done));
    let output = interrupted(&server, &world, "ends").await;
    assert_eq!(output.status, Status::Success);
    assert_eq!(world.journal.messages().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_belongs_to_no_turn_has_its_output_on_record() {
    let server = Cancel::new();
    let world = served(&server, listens("stops", Effects::NONE, stopped));
    let view = world.view();
    let (made, ()) = tokio::join!(
        world
            .pipeline
            .run_direct(&view, call("stops", ""), &world.run),
        async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            server.cancel();
        }
    );
    made.unwrap();
    assert_eq!(world.journal.messages().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_somebody_called_off_is_cancelled_though_the_server_stops_then() {
    let server = Cancel::new();
    let world = served(&server, listens("stops", Effects::NONE, stopped));
    let (output, ()) = tokio::join!(world.output("stops", ""), async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        world.run.cancel.cancel();
        server.cancel();
    });
    assert_eq!(output.status, Status::Cancelled);
    assert_eq!(world.journal.messages().len(), 1);
}

/// It has not begun, so that nothing is to be said of it.
#[tokio::test]
async fn a_call_that_had_not_begun_is_made_when_the_turn_goes_on() {
    let server = Cancel::new();
    let world = served(&server, listens("sends", SENDS, || panic!("it ran")));
    server.cancel();
    assert_eq!(world.output("sends", "").await.status, Status::Interrupted);
    assert_eq!(world.journal.entries().len(), 0);
}
