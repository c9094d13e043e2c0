//! Deadlines and cancellation. Time stands still here and jumps when nothing else can happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outfitter_core::{Code, Deadline, Outcome, Reply, Status, ToolError};
use outfitter_tools::PipelineOptions;
use serde_json::json;

use crate::support::{Probe, World};

const LIMIT: Duration = Duration::from_secs(5);

fn timed(name: &str) -> Probe {
    Probe::new(name).spec(|spec| spec.timeout = Some(LIMIT))
}

/// Stops when it is told to and shows what it has.
fn listens(name: &str, ends: fn() -> Result<Reply, ToolError>) -> Probe {
    timed(name).call(move |cx, _| {
        Box::pin(async move {
            cx.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            ends()
        })
    })
}

fn so_far(code: Code) -> Result<Reply, ToolError> {
    Ok(Outcome::json(json!({"lines": 3}))
        .stopped(code, "the command was killed")
        .into())
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_stop_is_dropped_and_has_one_result() {
    let finished = Arc::new(AtomicBool::new(false));
    let world = World::new([timed("deaf").call({
        let finished = finished.clone();
        move |_, _| {
            let finished = finished.clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(60)).await;
                finished.store(true, Ordering::SeqCst);
                Ok(Outcome::text("late").into())
            })
        }
    })]);
    let output = world.output("deaf", "").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(!finished.load(Ordering::SeqCst), "it went on");
    assert_eq!(world.journal.messages().len(), 1);
    assert_eq!((output.status, &output.result), (Status::Timeout, &None));
    insta::assert_json_snapshot!(&output.error);
}

#[tokio::test(start_paused = true)]
async fn a_late_result_is_dropped_unless_it_says_that_it_was_stopped() {
    let world = World::new([
        listens("late", || Ok(Outcome::text("late").into())),
        listens("late_failure", || {
            Ok(Outcome::text("x").stopped(Code::Failed, "late").into())
        }),
        listens("late_error", || Err(ToolError::failed("late"))),
        listens("late_panic", || panic!("late")),
        listens("says_timeout", || so_far(Code::Timeout)),
        listens("says_cancelled", || so_far(Code::Cancelled)),
    ]);
    for name in ["late", "late_failure", "late_error", "late_panic"] {
        let output = world.output(name, "").await;
        assert_eq!(output.error.as_ref().unwrap().code, Code::Timeout, "{name}");
        assert_eq!(output.result, None, "{name}");
    }
    for name in ["says_timeout", "says_cancelled"] {
        let output = world.output(name, "").await;
        assert_eq!(output.status, Status::Timeout, "{name}");
        let error = output.error.as_ref().unwrap();
        assert_eq!((error.code, error.retryable), (Code::Timeout, true));
        assert_eq!(output.result, Some(json!({"lines": 3})), "{name}");
    }
    assert_eq!(world.journal.messages().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_stops_its_calls() {
    let world = World::new([listens("says_timeout", || so_far(Code::Timeout))]);
    let (output, ()) = tokio::join!(world.output("says_timeout", ""), async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        world.run.cancel.cancel();
    });
    assert_eq!(output.status, Status::Cancelled);
    assert_eq!(output.result, Some(json!({"lines": 3})));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_does_not_stop_its_run() {
    let world = World::new([listens("late", || Ok(Outcome::text("late").into()))]);
    world.output("late", "").await;
    assert!(!world.run.cancel.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_default_and_the_run_bound_a_call_too() {
    let mut world = World::new([Probe::new("endless").call(|cx, _| {
        Box::pin(async move {
            assert!(cx.deadline.remaining().is_some());
            std::future::pending().await
        })
    })])
    .options(PipelineOptions {
        default_timeout: Duration::from_secs(7),
        ..PipelineOptions::default()
    });
    let begun = tokio::time::Instant::now();
    assert_eq!(world.output("endless", "").await.status, Status::Timeout);
    let default = begun.elapsed();
    world.run.deadline = Deadline::after(Duration::from_secs(2));
    let begun = tokio::time::Instant::now();
    assert_eq!(world.output("endless", "").await.status, Status::Timeout);
    assert!(begun.elapsed() < default, "the run's end came first");
}

#[tokio::test]
async fn nothing_runs_once_the_run_is_over() {
    let mut world = World::new([Probe::new("runs").gives(|| panic!("it ran"))]);
    world.run.deadline = Deadline::after(Duration::ZERO);
    assert_eq!(world.output("runs", "").await.status, Status::Timeout);
    world.run.deadline = Deadline::NEVER;
    world.run.cancel.cancel();
    assert_eq!(world.output("runs", "").await.status, Status::Cancelled);
}

/// Panics when it is dropped before its end.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_while_it_is_dropped_still_has_its_one_result() {
    let world = World::new([timed("fragile").call(|_, _| {
        Box::pin(async {
            let _fragile = Fragile;
            std::future::pending().await
        })
    })]);
    let output = world.output("fragile", "").await;
    assert_eq!(output.status, Status::Timeout);
    assert_eq!(world.journal.messages().len(), 1);
}
