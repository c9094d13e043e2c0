//! What a turn does, call by call.

use std::sync::Arc;

use outfitter_agent::{Input, Limits, RunError};
use outfitter_core::*;

use crate::harness::*;

fn echo() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Counting::echo("echo", Effects::READ))]
}

#[tokio::test]
async fn a_prompt_is_answered_and_every_event_is_in_its_place() {
    let process = World::new(echo()).alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("c1", "echo", "{\"n\":7}")]),
        _ => vec![text("se"), text("ven"), stop(StopReason::End)],
    }));
    let (end, events) = process.prompt("what is it?").await;
    assert_eq!(end.output.answer, "seven");
    let kinds: Vec<String> = bodies(&events)
        .into_iter()
        .map(|body| match body {
            EventBody::Message(message) => format!("message {}", message.role.as_str()),
            EventBody::Delta { kind, text, .. } => format!("delta {kind:?} {text}"),
            other => EntryBody::Event(other.clone()).kind().to_owned(),
        })
        .collect();
    insta::assert_snapshot!(kinds.join("\n"));
}

#[tokio::test]
async fn a_second_turn_sees_the_first() {
    let process = World::new(echo()).alive(Arc::new(|replies, _| say(["one", "two"][replies])));
    process.prompt("first").await;
    let (end, _) = process.prompt("second").await;
    assert_eq!(end.output.answer, "two");
    let asked = process.model.asked.lock().unwrap();
    for words in ["first", "one", "second"] {
        assert!(asked[1].contains(words), "{words} in {}", asked[1]);
    }
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_an_answer_and_the_run_goes_on() {
    let world = World::new(echo());
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("c1", "ecoh", "{}")]),
        _ => say("ok"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let error = world.outputs().await["c1"][0].error.clone().unwrap();
    assert_eq!(error.code, Code::UnknownTool);
}

#[tokio::test]
async fn a_turn_ends_at_its_limit_and_goes_on_when_it_is_told_to() {
    let mut world = World::new(echo());
    world.settings.limits = Limits {
        max_turns: 2,
        max_total_tokens: None,
        identical_failures: 3,
    };
    let process = world.alive(Arc::new(|replies, _| match replies {
        3 => say("at last"),
        n => calls(&[(&format!("c{n}"), "echo", "{}")]),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Limit);
    assert_eq!(end.output.error.unwrap().code, Code::Limit);
    let (end, events) = process.run(Input::Continue).await;
    assert_eq!(end.unwrap().output.answer, "at last");
    let EventBody::RunStarted(started) = &events[0].body else {
        panic!("{events:?}")
    };
    assert!(started.resumes.is_some());
}

#[tokio::test]
async fn a_turn_ends_when_its_tokens_are_used_up() {
    let mut world = World::new(echo());
    world.settings.limits = Limits {
        max_turns: 40,
        max_total_tokens: Some(100),
        identical_failures: 3,
    };
    let process = world.alive(Arc::new(|replies, _| {
        let mut deltas = calls(&[(&format!("c{replies}"), "echo", "{}")]);
        let used = TokenUsage {
            input_tokens: 60,
            output_tokens: 1,
            ..TokenUsage::default()
        };
        deltas.insert(0, Ok(ModelDelta::Usage(used)));
        deltas
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Limit);
    assert_eq!(process.model.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_and_leaves_a_turn_to_continue() {
    let world = World::new(echo());
    let down = world.alive(Arc::new(|_, _| {
        vec![Err(ModelError::Status {
            status: 503,
            message: "busy".to_owned(),
            retry_after: None,
        })]
    }));
    let (end, _) = down.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Failed);
    assert_eq!(end.output.error.unwrap().code, Code::Unavailable);
    let up = world.alive(Arc::new(|_, _| say("here")));
    let (end, _) = up.run(Input::Continue).await;
    assert_eq!(end.unwrap().output.answer, "here");
}

#[tokio::test]
async fn a_stream_that_stops_keeps_what_was_said_and_drops_the_half_call() {
    let world = World::new(echo());
    let process = world.alive(Arc::new(|_, _| {
        let mut deltas = vec![text("half a sen")];
        deltas.extend(calls(&[("c1", "echo", "{\"a")]).into_iter().take(1));
        deltas
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.output.error.unwrap().code, Code::ProtocolError);
    assert_eq!(end.output.answer, "half a sen");
    assert!(world.outputs().await.is_empty());
}

#[tokio::test]
async fn a_call_cut_off_by_a_length_limit_never_runs() {
    let tool = Arc::new(Counting::echo("echo", Effects::of(&[Effect::Write])));
    let world = World::new(vec![tool.clone()]);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => {
            let mut deltas = calls(&[("c1", "echo", "{\"path\":\"a.txt\",\"content\":\"abc")]);
            deltas.pop();
            deltas.push(stop(StopReason::Length));
            deltas
        }
        _ => say("sorry"),
    }));
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert!(tool.ran.lock().unwrap().is_empty());
    let outputs = world.outputs().await;
    assert_eq!(
        outputs["c1"][0].error.as_ref().unwrap().code,
        Code::InvalidArguments
    );
    assert!(bodies(&events).iter().any(|body| matches!(
        body,
        EventBody::Warning {
            code: WarningCode::Truncated,
            ..
        }
    )));
}

#[tokio::test]
async fn ids_used_twice_become_unique_and_every_call_has_its_result() {
    let world = World::new(echo());
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("x", "echo", "{\"n\":1}"), ("x", "echo", "{\"n\":2}")]),
        1 => calls(&[("x", "echo", "{\"n\":3}")]),
        _ => say("ok"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let outputs = world.outputs().await;
    assert_eq!(outputs.len(), 3);
    let mut seen: Vec<String> = outputs
        .values()
        .flatten()
        .map(|output| canonical(output.result.as_ref().unwrap()))
        .collect();
    seen.sort();
    assert_eq!(seen, ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]);
}

#[tokio::test]
async fn there_is_nothing_to_continue_after_an_answer() {
    let process = World::new(echo()).alive(Arc::new(|_, _| say("done")));
    assert!(matches!(
        process.run(Input::Continue).await.0,
        Err(RunError::NothingToContinue(_))
    ));
    process.prompt("go").await;
    assert!(matches!(
        process.run(Input::Continue).await.0,
        Err(RunError::NothingToContinue(_))
    ));
}

#[tokio::test]
async fn a_direct_call_is_a_run_without_a_model_and_no_part_of_the_conversation() {
    let world = World::new(echo());
    let process = world.alive(Arc::new(|_, _| say("hello")));
    let call = RawCall {
        id: CallId::new("d1").unwrap(),
        name: "echo".to_owned(),
        arguments: Arguments::parse("{\"n\":1}"),
    };
    let queue = outfitter_agent::EventQueue::new();
    let end = process
        .agent
        .call(&process.session, call, Cancel::new(), queue.clone())
        .await;
    let CallEnd::Output(output) = end.unwrap() else {
        panic!("it does not wait")
    };
    assert_eq!(output.status, Status::Success);
    let mut events = Vec::new();
    while let Some(event) = queue.next().await {
        events.push(event);
    }
    check_order(&events);
    process.prompt("hi").await;
    assert!(!process.model.asked.lock().unwrap()[0].contains("d1"));
}

#[tokio::test]
async fn two_runs_of_one_session_do_not_run_at_once() {
    let process =
        Arc::new(World::new(echo()).alive(Arc::new(|_, _| vec![text("a"), stop(StopReason::End)])));
    let again = process.clone();
    let (one, two) = tokio::join!(
        process.run(Input::Prompt("a".to_owned())),
        again.run(Input::Prompt("b".to_owned()))
    );
    let busy = [one.0, two.0]
        .into_iter()
        .filter(|end| matches!(end, Err(RunError::Busy(_))));
    assert!(busy.count() <= 1);
    process.prompt("c").await;
}

#[tokio::test]
async fn a_deleted_session_begins_anew() {
    let world = World::new(echo());
    let process = world.alive(Arc::new(|_, _| say("hello")));
    process.prompt("first").await;
    let scope = Scope::from(&*world.who);
    world.log.delete(&scope, &process.session.id).await.unwrap();
    process.prompt("second").await;
    assert!(!process.model.asked.lock().unwrap()[1].contains("first"));
}

/// What came of it is kept and shown, and is no answer: going on asks for the reply again, with the
/// request as it was.
#[tokio::test]
async fn a_reply_that_broke_off_is_asked_for_again_as_it_was() {
    let world = World::new(Vec::new());
    let broken: Script = Arc::new(|_, _| vec![text("half of an"), Err(ModelError::Truncated)]);
    let first = world.alive(broken);
    let (end, _) = first.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Failed);
    assert_eq!(end.output.answer, "half of an");

    let second = world.alive(Arc::new(|_, _| say("the whole answer")));
    let (end, _) = second.run(Input::Continue).await;
    assert_eq!(end.unwrap().output.answer, "the whole answer");
    let asked = |process: &Process| process.model.asked.lock().unwrap().clone();
    assert_eq!(asked(&second), asked(&first));

    // The part is in the log, and in no later request.
    let third = world.alive(Arc::new(|_, _| say("fine")));
    third.prompt("and now?").await;
    assert!(!asked(&third)[0].contains("half of an\""));
    let kept = world.entries().await;
    let parts = kept.iter().filter(|entry| {
        matches!(&entry.body, EntryBody::Event(EventBody::Message(message))
            if message.content() == "half of an")
    });
    assert_eq!(parts.count(), 1);
}

/// A person who goes on with something else keeps what was said.
#[tokio::test]
async fn a_new_prompt_after_a_reply_that_broke_off_keeps_the_part() {
    let world = World::new(Vec::new());
    let broken: Script = Arc::new(|_, _| vec![text("half of an"), Err(ModelError::Truncated)]);
    world.alive(broken).prompt("go").await;
    let process = world.alive(Arc::new(|_, _| say("fine")));
    process.prompt("never mind").await;
    assert!(process.model.asked.lock().unwrap()[0].contains("half of an"));
}
