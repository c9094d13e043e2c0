//! A turn that breaks off anywhere goes on as if it had not.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use outfitter_agent::Input;
use outfitter_core::*;
use proptest::prelude::*;

use crate::harness::*;

/// What a reply of the model does: calls of these kinds at once; none is the end.
type Plan = Vec<Vec<Kind>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Idempotent,
    Failing,
    Malformed,
    Unknown,
}

const KINDS: [Kind; 6] = [
    Kind::Read,
    Kind::Write,
    Kind::Idempotent,
    Kind::Failing,
    Kind::Malformed,
    Kind::Unknown,
];

fn script(plan: Plan) -> Script {
    Arc::new(move |replies, _| match plan.get(replies) {
        None => say("done"),
        Some(kinds) => {
            let made: Vec<(String, &str, String)> = kinds
                .iter()
                .enumerate()
                .map(|(at, kind)| {
                    let (name, args) = match kind {
                        Kind::Read => ("look", "{}"),
                        Kind::Write => ("change", "{\"n\":1}"),
                        Kind::Idempotent => ("set", "{}"),
                        Kind::Failing => ("fail", "{}"),
                        Kind::Malformed => ("change", "{\"n\":"),
                        Kind::Unknown => ("chnge", "{}"),
                    };
                    (format!("c{replies}_{at}"), name, args.to_owned())
                })
                .collect();
            let made: Vec<(&str, &str, &str)> = made
                .iter()
                .map(|(id, name, args)| (&**id, *name, &**args))
                .collect();
            calls(&made)
        }
    })
}

struct Tools {
    all: Vec<Arc<dyn Tool>>,
    change: Arc<Counting>,
}

fn tools() -> Tools {
    let write = Effects::of(&[Effect::Write]);
    let change = Arc::new(Counting::echo("change", write));
    let fail = Counting::new(
        "fail",
        write,
        Arc::new(|_, _| Box::pin(async { Err(ToolError::failed("no")) })),
    );
    Tools {
        all: vec![
            Arc::new(Counting::echo("look", Effects::READ)),
            change.clone(),
            Arc::new(Counting::echo("set", write).idempotent()),
            Arc::new(fail.idempotent()),
        ],
        change,
    }
}

/// A world in which a model may make one call that fails as often as a plan says.
fn patient(mut world: World) -> World {
    world.settings.limits.identical_failures = 1000;
    world
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

async fn undisturbed(plan: &Plan) -> Vec<String> {
    let process = patient(World::new(tools().all)).alive(script(plan.clone()));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    process.model.asked.lock().unwrap().clone()
}

async fn broken_after(plan: &Plan, appends: u64) -> bool {
    let tools = tools();
    let world = patient(World::new(tools.all.clone()));
    let dead = Arc::new(Mortal {
        inner: world.log.clone(),
        left: AtomicU64::new(appends),
    });
    let first = world.process(Model::new(script(plan.clone())), dead);
    let (end, _) = first.run(Input::Prompt("go".to_owned())).await;
    let survived = end.is_ok();

    let second = world.alive(script(plan.clone()));
    if !survived {
        let input = if appends == 0 {
            Input::Prompt("go".to_owned())
        } else {
            Input::Continue
        };
        let (end, _) = second.run(input).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    }

    let outputs = world.outputs().await;
    let expected: usize = plan.iter().map(Vec::len).sum();
    assert_eq!(outputs.len(), expected, "every call has a result");
    assert!(
        outputs.values().all(|of| of.len() == 1),
        "every call has one result"
    );
    let ran = tools.change.ran.lock().unwrap().clone();
    assert!(
        ran.values().all(|times| *times == 1),
        "nothing is changed twice: {ran:?}"
    );

    let interrupted = outputs
        .values()
        .flatten()
        .filter(|output| output.status == Status::Interrupted)
        .count();
    let mut asked = first.model.asked.lock().unwrap().clone();
    asked.extend(second.model.asked.lock().unwrap().iter().cloned());
    asked.dedup();
    let expected = undisturbed(plan).await;
    if interrupted == 0 {
        assert_eq!(asked, expected, "the same requests byte for byte");
    } else {
        let same = asked
            .iter()
            .zip(&expected)
            .take_while(|(a, b)| a == b)
            .count();
        let told = asked
            .iter()
            .position(|request| request.contains("interrupted"));
        assert_eq!(
            Some(same),
            told,
            "the same requests until the interrupted result is told"
        );
        assert_eq!(asked.len(), expected.len());
    }
    let ends = world.entries().await;
    let ends = ends
        .iter()
        .filter(|entry| entry.body.kind() == "run_finished")
        .count();
    let runs: std::collections::HashSet<_> = world
        .entries()
        .await
        .iter()
        .map(|entry| entry.run.clone())
        .collect();
    assert_eq!(ends, runs.len(), "every run has its end");
    survived
}

fn plan() -> impl Strategy<Value = Plan> {
    let kind = (0..KINDS.len()).prop_map(|at| KINDS[at]);
    prop::collection::vec(prop::collection::vec(kind, 1..4), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_turn_broken_off_after_any_entry_goes_on_with_the_same_requests(plan in plan()) {
        block(async {
            let mut appends = 0;
            while !broken_after(&plan, appends).await {
                appends += 1;
                assert!(appends < 200, "the turn ends");
            }
        });
    }
}

#[test]
fn a_call_that_broke_off_while_changing_something_is_interrupted_and_not_made_again() {
    block(async {
        let plan = vec![vec![Kind::Write]];
        let mut interrupted = 0;
        let mut appends = 1;
        loop {
            let tools = tools();
            let world = patient(World::new(tools.all.clone()));
            let dead = Arc::new(Mortal {
                inner: world.log.clone(),
                left: AtomicU64::new(appends),
            });
            let (end, _) = world
                .process(Model::new(script(plan.clone())), dead)
                .run(Input::Prompt("go".to_owned()))
                .await;
            if end.is_ok() {
                break;
            }
            world
                .alive(script(plan.clone()))
                .run(Input::Continue)
                .await
                .0
                .unwrap();
            let outputs = world.outputs().await;
            interrupted += usize::from(outputs["c0_0"][0].status == Status::Interrupted);
            appends += 1;
        }
        assert_eq!(interrupted, 1, "only between its intent and its result");
    });
}
