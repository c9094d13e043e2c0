//! The mode of a run: what it leaves, what the model is told, and that a turn keeps it.

use std::sync::Arc;

use outfitter_agent::{Answered, Input, Session};
use outfitter_core::*;
use rstest::rstest;
use serde_json::json;

use crate::harness::*;

fn world() -> World {
    let asks = Counting::new(
        "ask",
        Effects::READ,
        Arc::new(|_, _| {
            Box::pin(async {
                Ok(Reply::Wait(Box::new(Ask {
                    kind: InterruptKind::Question {
                        question: "which?".to_owned(),
                        choices: Vec::new(),
                        sensitive: false,
                        questionnaire: None,
                    },
                    schema: None,
                    expires_in: std::time::Duration::from_secs(3600),
                    on_expiry: OnExpiry::Cancel,
                    state: json!(null),
                })))
            })
        }),
    );
    World::new(vec![
        Arc::new(asks),
        Arc::new(Counting::echo("look", Effects::READ)),
        Arc::new(Counting::echo(
            "write",
            Effects::of(&[Effect::Read, Effect::Write]),
        )),
        Arc::new(Counting::echo("think", Effects::NONE)),
    ])
}

fn in_mode(process: Process, mode: Mode) -> Process {
    let proxy = process.session.proxy.narrow(Selection {
        mode,
        ..Selection::default()
    });
    Process {
        session: Session {
            proxy,
            ..process.session
        },
        ..process
    }
}

fn all() -> Script {
    Arc::new(|replies, _| match replies {
        0 => calls(&[
            ("l", "look", "{}"),
            ("w", "write", "{}"),
            ("t", "think", "{}"),
        ]),
        _ => say("done"),
    })
}

fn started(events: &[Arc<Event>]) -> RunStarted {
    match &events[0].body {
        EventBody::RunStarted(started) => started.clone(),
        other => unreachable!("{other:?}"),
    }
}

#[rstest]
#[case(Mode::Agent, &["ask", "look", "think", "write"], &["l", "t", "w"])]
#[case(Mode::Plan, &["ask", "look", "think"], &["l", "t"])]
#[case(Mode::Chat, &[], &[])]
#[tokio::test]
async fn a_mode_leaves_what_it_admits_and_refuses_the_rest(
    #[case] mode: Mode,
    #[case] shown: &[&str],
    #[case] made: &[&str],
) {
    let world = world();
    let process = in_mode(world.alive(all()), mode);
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let started = started(&events);
    assert_eq!(started.mode, mode);
    assert_eq!(*started.tools, *shown);
    let outputs = world.outputs().await;
    for call in ["l", "w", "t"] {
        let output = &outputs[call][0];
        if made.contains(&call) {
            assert_eq!(output.status, Status::Success, "{call}");
        } else {
            assert_eq!(
                output.error.as_ref().unwrap().code,
                Code::NotPermitted,
                "{call}"
            );
        }
    }
}

#[tokio::test]
async fn the_model_is_told_of_a_mode_that_takes_something_away() {
    for (mode, told) in [
        (Mode::Plan, "The mode is `plan`"),
        (Mode::Chat, "The mode is `chat`"),
    ] {
        let mut world = world();
        world.told.skill_catalogue = "skills of this session".into();
        let process = in_mode(world.alive(Arc::new(|_, _| say("hi"))), mode);
        process.prompt("go").await;
        let asked = process.model.asked.lock().unwrap()[0].clone();
        assert!(asked.contains(told), "{asked}");
        // Without tools no skill can be loaded.
        assert_eq!(
            asked.contains("skills of this session"),
            mode == Mode::Plan,
            "{asked}"
        );
    }
    let world = world();
    let process = world.alive(Arc::new(|_, _| say("hi")));
    process.prompt("go").await;
    let asked = process.model.asked.lock().unwrap()[0].clone();
    assert!(!asked.contains("mode"), "{asked}");
}

/// A turn keeps its mode: whoever goes on with it gets the narrower of that and their own.
#[rstest]
#[case(Mode::Plan, Mode::Agent, Mode::Plan)]
#[case(Mode::Agent, Mode::Plan, Mode::Plan)]
#[case(Mode::Agent, Mode::Agent, Mode::Agent)]
#[case(Mode::Plan, Mode::Chat, Mode::Chat)]
#[tokio::test]
async fn a_run_that_goes_on_has_the_narrower_mode(
    #[case] before: Mode,
    #[case] asked: Mode,
    #[case] has: Mode,
) {
    let world = world();
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[("q", "ask", "{}")]),
        1 => calls(&[("w", "write", "{}")]),
        _ => say("done"),
    });
    let process = in_mode(world.alive(script.clone()), before);
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    let answer = Input::Answer(Answered {
        interrupt: end.waiting[0].id.clone(),
        value: json!("yes"),
        by: AnswerKind::Subject {
            subject: "s".into(),
        },
    });
    // Another process, which knows of the first only what the log says.
    let process = in_mode(world.alive(script.clone()), asked);
    let (end, events) = process.run(answer).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    assert_eq!(started(&events).mode, has);
    let outputs = world.outputs().await;
    let code = outputs["w"][0].error.as_ref().map(|error| error.code);
    assert_eq!(code, (has != Mode::Agent).then_some(Code::NotPermitted));

    // New words begin a new turn, with the mode that is asked for.
    let process = world.alive(Arc::new(|_, _| say("hi")));
    let (_, events) = process.prompt("again").await;
    assert_eq!(started(&events).mode, Mode::Agent);
}

#[tokio::test]
async fn a_direct_call_has_the_mode_of_its_session() {
    let world = world();
    let process = in_mode(world.alive(all()), Mode::Plan);
    let call = |name: &str| RawCall {
        id: CallId::new(name).unwrap(),
        name: name.to_owned(),
        arguments: Arguments::parse(""),
    };
    for (name, code) in [("look", None), ("write", Some(Code::NotPermitted))] {
        let events = Arc::new(outfitter_agent::NoSubscriber);
        let end = process
            .agent
            .call(&process.session, call(name), Cancel::new(), events);
        let CallEnd::Output(output) = end.await.unwrap() else {
            panic!("waits")
        };
        assert_eq!(output.error.as_ref().map(|error| error.code), code);
    }
    let modes: Vec<Mode> = world
        .entries()
        .await
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::Event(EventBody::RunStarted(started)) => Some(started.mode),
            _ => None,
        })
        .collect();
    assert_eq!(modes, [Mode::Plan, Mode::Plan]);
}

#[tokio::test]
async fn other_parts_are_taken_by_the_next_run() {
    let world = world();
    let process = world.alive(Arc::new(|_, _| say("old")));
    let switch = process.agent.switch();
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.output.answer, "old");
    let model = Model::new(Arc::new(|_, _| say("new")));
    assert!(switch.set(|parts| outfitter_agent::AgentParts {
        model: model.clone(),
        ..parts.clone()
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.output.answer, "new");
    drop(process);
    assert!(!switch.is_there());
    assert!(!switch.set(Clone::clone));
}
