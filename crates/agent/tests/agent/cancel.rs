//! A person stops a run.

use std::sync::Arc;

use futures_util::StreamExt as _;
use outfitter_agent::Input;
use outfitter_core::*;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::harness::*;

/// A run that is stopped once it has come this far so many times.
async fn cancelled(
    process: &Process,
    far: &Semaphore,
    times: u32,
) -> (RunOutcome, Vec<Arc<Event>>) {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let (run, ()) = tokio::join!(
        process.run_until(Input::Prompt("go".to_owned()), cancel),
        async {
            far.acquire_many(times).await.unwrap().forget();
            stop.cancel();
        }
    );
    (run.0.unwrap().outcome, run.1)
}

#[tokio::test]
async fn a_stopped_call_has_its_result_and_the_turn_can_be_taken_up() {
    let far = Arc::new(Semaphore::new(0));
    let begun = far.clone();
    let hangs = Counting::new(
        "hang",
        Effects::of(&[Effect::Write]),
        Arc::new(move |cx, _| {
            let begun = begun.clone();
            Box::pin(async move {
                begun.add_permits(1);
                cx.cancel.cancelled().await;
                Ok(Outcome::json(json!({"so": "far"}))
                    .stopped(Code::Cancelled, "stopped")
                    .into())
            })
        }),
    );
    let world = World::new(vec![Arc::new(hangs)]);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("a", "hang", "{}"), ("b", "hang", "{}")]),
        _ => say("done"),
    }));
    let (outcome, _) = cancelled(&process, &far, 2).await;
    assert_eq!(outcome, RunOutcome::Cancelled);
    let outputs = world.outputs().await;
    for call in ["a", "b"] {
        assert_eq!(outputs[call].len(), 1);
        assert_eq!(outputs[call][0].status, Status::Cancelled);
        assert_eq!(outputs[call][0].result, Some(json!({"so": "far"})));
    }
    let (end, _) = process.run(Input::Continue).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
}

#[tokio::test]
async fn a_reply_that_is_stopped_keeps_what_was_said() {
    struct Slow(ModelInfo, Arc<Semaphore>);
    #[async_trait::async_trait]
    impl ModelProvider for Slow {
        fn info(&self) -> &ModelInfo {
            &self.0
        }
        async fn stream(&self, _: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
            let first = futures_util::stream::iter([text("well, ")]);
            let far = self.1.clone();
            // Asked for once the first has been taken.
            let second = futures_util::stream::once(async move {
                far.add_permits(1);
                std::future::pending().await
            });
            Ok(first.chain(second).boxed())
        }
    }
    let world = World::new(Vec::new());
    let mut process = world.alive(Arc::new(|_, _| say("never")));
    let mut parts = outfitter_agent::AgentParts::clone(&process.agent.parts());
    let far = Arc::new(Semaphore::new(0));
    parts.model = Arc::new(Slow(process.model.info().clone(), far.clone()));
    process.agent = outfitter_agent::Agent::new(parts);
    let (outcome, events) = cancelled(&process, &far, 1).await;
    assert_eq!(outcome, RunOutcome::Cancelled);
    assert!(bodies(&events).iter().any(|body| matches!(
        body,
        EventBody::Message(message) if message.content() == "well, "
    )));
}

#[tokio::test]
async fn a_new_prompt_closes_the_calls_that_a_crash_left_open() {
    let world = World::new(vec![Arc::new(Counting::echo("look", Effects::READ))]);
    let dead = Arc::new(Mortal {
        inner: world.log.clone(),
        left: 3.into(),
    });
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[("a", "look", "{}")]),
        _ => say("done"),
    });
    let first = world.process(Model::new(script.clone()), dead);
    assert!(first.run(Input::Prompt("go".to_owned())).await.0.is_err());
    let (end, events) = world.alive(script).prompt("something else").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(world.outputs().await["a"][0].status, Status::Interrupted);
    assert!(bodies(&events).iter().any(|body| matches!(
        body,
        EventBody::Warning {
            code: WarningCode::Recovered,
            ..
        }
    )));
}
