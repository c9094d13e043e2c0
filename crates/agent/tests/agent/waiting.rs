//! A call that waits ends its run and holds nothing; an answer continues the turn.

use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::{AnswerError, Answered, Input, Note, RunEnd, RunError, RunRequest, TurnLog};
use outfitter_core::*;
use serde_json::{Value, json};

use crate::harness::*;

fn asks(expires_in: Duration, on_expiry: OnExpiry) -> Counting {
    Counting::new(
        "ask",
        Effects::of(&[Effect::Message]),
        Arc::new(move |_, args| {
            let on_expiry = on_expiry.clone();
            Box::pin(async move {
                Ok(Reply::Wait(Box::new(Ask {
                    kind: InterruptKind::Question {
                        question: "really?".to_owned(),
                        choices: Vec::new(),
                        sensitive: false,
                        questionnaire: None,
                    },
                    schema: Some(json!({"enum": ["yes", "no"]})),
                    expires_in,
                    on_expiry,
                    state: args,
                })))
            })
        }),
    )
}

const HOUR: Duration = Duration::from_secs(3600);

fn world(asks: Counting) -> World {
    World::new(vec![
        Arc::new(asks),
        Arc::new(Counting::echo("echo", Effects::READ)),
    ])
}

fn two_questions() -> Script {
    Arc::new(|replies, _| match replies {
        0 => calls(&[
            ("q1", "ask", "{\"n\":1}"),
            ("e", "echo", "{}"),
            ("q2", "ask", "{\"n\":2}"),
        ]),
        _ => say("thanks"),
    })
}

fn answer(id: &InterruptId, value: Value, subject: &str) -> Input {
    let by = AnswerKind::Subject {
        subject: subject.into(),
    };
    Input::Answer(Answered {
        interrupt: id.clone(),
        value,
        by,
    })
}

async fn answered(process: &Process, id: &InterruptId, value: Value) -> Result<RunEnd, RunError> {
    process.run(answer(id, value, "s")).await.0
}

#[tokio::test]
async fn siblings_finish_and_two_questions_are_answered_after_a_restart_without_mixing() {
    let world = world(asks(HOUR, OnExpiry::Cancel));
    let (end, _) = world.alive(two_questions()).prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    let [first, second] = &*end.waiting else {
        panic!("{:?}", end.waiting)
    };
    assert_eq!(first.audience.subject, world.who.subject);
    assert_eq!(world.outputs().await["e"][0].status, Status::Success);

    let restarted = world.alive(two_questions());
    let still = answered(&restarted, &second.id, json!("no")).await.unwrap();
    assert_eq!(still.outcome, RunOutcome::Waiting);
    assert_eq!(still.waiting[0].id, first.id);
    let end = answered(&restarted, &first.id, json!("yes")).await.unwrap();
    assert_eq!(end.output.answer, "thanks");
    let outputs = world.outputs().await;
    for (call, n, said) in [("q1", 1, "yes"), ("q2", 2, "no")] {
        let expected = json!({"state": {"n": n}, "answer": said});
        assert_eq!(outputs[call][0].result, Some(expected));
        assert_eq!(outputs[call].len(), 1);
    }
    assert_eq!(outputs["e"].len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_not_taken_leaves_the_question_as_it_was() {
    let mut world = world(asks(HOUR, OnExpiry::Cancel));
    let process = world.alive(two_questions());
    let (end, _) = process.prompt("go").await;
    let id = end.waiting[0].id.clone();
    let before = world.entries().await.len();

    let unfit = answered(&process, &id, json!("maybe")).await;
    assert!(
        matches!(unfit, Err(RunError::Answer(AnswerError::Unfit { .. }))),
        "{unfit:?}"
    );
    let unknown = InterruptId::new("int_unknown").unwrap();
    let unknown = answered(&process, &unknown, json!("yes")).await;
    assert!(
        matches!(unknown, Err(RunError::Answer(AnswerError::NotFound(_)))),
        "{unknown:?}"
    );
    assert_eq!(world.entries().await.len(), before);

    answered(&process, &id, json!("yes")).await.unwrap();
    let again = answered(&process, &id, json!("no")).await;
    assert!(
        matches!(again, Err(RunError::Answer(AnswerError::Settled(_)))),
        "{again:?}"
    );

    // Somebody else has no such session, and so no such question.
    world.who = Arc::new(Principal {
        subject: "other".into(),
        ..(*world.who).clone()
    });
    let other = world.alive(two_questions());
    let other = other
        .run(answer(&end.waiting[1].id, json!("yes"), "other"))
        .await
        .0;
    assert!(
        matches!(other, Err(RunError::Answer(AnswerError::NotFound(_)))),
        "{other:?}"
    );
}

#[tokio::test]
async fn a_question_nobody_answers_in_time_does_what_it_said_it_would() {
    let by_default = OnExpiry::Default {
        answer: json!("no"),
    };
    for (on_expiry, status, result) in [
        (OnExpiry::Cancel, Status::Cancelled, None),
        (OnExpiry::Deny, Status::Denied, None),
        (OnExpiry::Continue, Status::Success, Some(Value::Null)),
        (by_default, Status::Success, Some(json!("no"))),
    ] {
        let world = world(asks(Duration::ZERO, on_expiry));
        let process = world.alive(Arc::new(|replies, _| match replies {
            0 => calls(&[("q", "ask", "{}")]),
            _ => say("on we go"),
        }));
        let (end, _) = process.prompt("go").await;
        assert_eq!(end.outcome, RunOutcome::Waiting);
        let late = answered(&process, &end.waiting[0].id, json!("yes")).await;
        assert!(
            matches!(late, Err(RunError::Answer(AnswerError::Expired(_)))),
            "{late:?}"
        );
        let (end, _) = process.run(Input::Continue).await;
        assert_eq!(end.unwrap().output.answer, "on we go");
        let output = world.outputs().await["q"][0].clone();
        assert_eq!(output.status, status);
        assert_eq!(
            output
                .result
                .as_ref()
                .map(|result| result["answer"].clone()),
            result
        );
    }
}

#[tokio::test]
async fn an_approved_call_runs_once_and_a_refused_one_never() {
    for (said, ran, status) in [(true, 1, Status::Success), (false, 0, Status::Denied)] {
        let tool = Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network])));
        let mut world = World::new(vec![tool.clone()]);
        world.attended = Attended::Yes;
        let script: Script = Arc::new(|replies, _| match replies {
            0 => calls(&[("f", "fetch", "{}")]),
            _ => say("done"),
        });
        let (end, _) = world.alive(script.clone()).prompt("go").await;
        assert_eq!(end.outcome, RunOutcome::Waiting);
        assert!(matches!(
            end.waiting[0].kind,
            InterruptKind::Approval { .. }
        ));
        let end = answered(&world.alive(script), &end.waiting[0].id, json!(said)).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Success);
        assert_eq!(tool.ran.lock().unwrap().values().sum::<u32>(), ran);
        assert_eq!(world.outputs().await["f"][0].status, status);
    }
}

/// E03: a yes for the session is in its log, so that the next process knows it too; a yes for one
/// call is none for the next, and nothing of it reaches another session.
#[tokio::test]
async fn a_yes_for_the_session_holds_in_the_next_process_and_in_no_other_session() {
    for (said, again) in [
        (
            json!({"approved": true, "scope": "session"}),
            RunOutcome::Success,
        ),
        (json!(true), RunOutcome::Waiting),
    ] {
        let tool = Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network])));
        let mut world = World::new(vec![tool.clone()]);
        world.attended = Attended::Yes;
        let script: Script = Arc::new(|replies, _| match replies {
            0 => calls(&[("f", "fetch", "{}")]),
            1 => say("done"),
            2 => calls(&[("g", "fetch", "{}")]),
            _ => say("done again"),
        });
        let (end, _) = world.alive(script.clone()).prompt("go").await;
        let asked = &end.waiting[0].id;
        let never = json!({"approved": false, "scope": "session"});
        let unfit = answered(&world.alive(script.clone()), asked, never).await;
        assert!(
            matches!(unfit, Err(RunError::Answer(AnswerError::Unfit { .. }))),
            "{unfit:?}"
        );
        let end = answered(&world.alive(script.clone()), asked, said).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Success);
        let (end, _) = world.alive(script.clone()).prompt("again").await;
        assert_eq!(end.outcome, again);

        let mut process = world.alive(script);
        process.session.id = SessionId::new("elsewhere").unwrap();
        let (end, _) = process.prompt("go").await;
        assert_eq!(end.outcome, RunOutcome::Waiting);
    }
}

/// E04: several calls of one reply are decided in the other order, one of them refused: each has
/// one result, what was allowed ran once, and so did the one that needed nobody. The turn goes on
/// when the last of them is decided, and not before.
#[tokio::test]
async fn e04_approvals_of_one_reply_are_given_in_any_order() {
    let tool = Arc::new(Counting::echo("fetch", Effects::of(&[Effect::Network])));
    let free = Arc::new(Counting::echo("free", Effects::of(&[Effect::Write])));
    let mut world = World::new(vec![tool.clone(), free.clone()]);
    world.attended = Attended::Yes;
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[
            ("a", "fetch", "{\"n\":1}"),
            ("f", "free", "{\"n\":0}"),
            ("b", "fetch", "{\"n\":2}"),
            ("c", "fetch", "{\"n\":3}"),
        ]),
        _ => say("done"),
    });
    let first = world.alive(script.clone());
    let (end, _) = first.prompt("go").await;
    let mut asked = end.waiting.clone();
    assert_eq!(asked.len(), 3);
    let ran = |tool: &Counting| tool.ran.lock().unwrap().values().sum::<u32>();
    assert_eq!((ran(&free), ran(&tool)), (1, 0));
    asked.sort_by(|one, other| other.call.as_str().cmp(one.call.as_str()));
    let mut last = None;
    for (asked, said) in asked.iter().zip([true, false, true]) {
        let process = world.alive(script.clone());
        let end = answered(&process, &asked.id, json!(said)).await.unwrap();
        let open = asked.call.as_str() != "a";
        let outcome = match open {
            true => RunOutcome::Waiting,
            false => RunOutcome::Success,
        };
        assert_eq!(end.outcome, outcome, "{}", asked.call);
        let requests = process.model.asked.lock().unwrap().clone();
        assert_eq!(requests.len(), usize::from(!open), "{}", asked.call);
        last = requests.into_iter().next();
        let twice = answered(&process, &asked.id, json!(true)).await;
        assert!(
            matches!(twice, Err(RunError::Answer(AnswerError::Settled(_)))),
            "{twice:?}"
        );
    }
    let outputs = world.outputs().await;
    let of = |call: &str| {
        assert_eq!(outputs[call].len(), 1);
        outputs[call][0].status
    };
    assert_eq!(
        (of("a"), of("f"), of("b"), of("c")),
        (
            Status::Success,
            Status::Success,
            Status::Denied,
            Status::Success
        )
    );
    assert_eq!((ran(&free), ran(&tool)), (1, 2));
    // What the model reads stands in the order of its calls, each with its own.
    let request: Value = serde_json::from_str(&last.unwrap()).unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let read: Vec<(&str, String)> = messages
        .filter(|message| message[0] == "tool")
        .map(|message| (message[2].as_str().unwrap(), message[1].to_string()))
        .collect();
    let ids: Vec<&str> = read.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, ["a", "f", "b", "c"]);
    for (at, own) in [(0, "1"), (1, "0"), (3, "3")] {
        assert!(read[at].1.contains(own), "{read:?}");
    }
    assert!(read[2].1.contains("denied"), "{read:?}");
}

#[tokio::test]
async fn a_direct_call_cannot_wait_and_says_so() {
    let world = world(asks(HOUR, OnExpiry::Cancel));
    let process = world.alive(two_questions());
    let call = RawCall {
        id: CallId::new("d").unwrap(),
        name: "ask".to_owned(),
        arguments: Arguments::parse("{}"),
    };
    let events = Arc::new(outfitter_agent::NoSubscriber);
    let end = process
        .agent
        .call(&process.session, call, Cancel::new(), events)
        .await
        .unwrap();
    let CallEnd::Output(output) = end else {
        panic!("it waits")
    };
    assert_eq!(output.error.as_ref().unwrap().code, Code::Unavailable);
}

#[tokio::test]
async fn a_hundred_waiting_turns_hold_nothing() {
    let world = world(asks(HOUR, OnExpiry::Cancel));
    let process = world.alive(two_questions());
    let mut waiting = Vec::new();
    for n in 0..100 {
        let mut session = process.session.clone();
        session.id = SessionId::new(format!("s{n}")).unwrap();
        let events = Arc::new(outfitter_agent::NoSubscriber);
        let input = Input::Prompt("go".to_owned());
        let end = process
            .agent
            .run(&session, input, Cancel::new(), events)
            .await
            .unwrap();
        waiting.push((session, end.waiting));
    }
    let alive = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert_eq!(alive, 0, "no task waits for an answer");
    for (session, asked) in waiting {
        for asked in asked {
            let events = Arc::new(outfitter_agent::NoSubscriber);
            let input = answer(&asked.id, json!("yes"), "s");
            process
                .agent
                .run(&session, input, Cancel::new(), events)
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn several_answers_are_taken_together_or_not_at_all() {
    let world = world(asks(HOUR, OnExpiry::Cancel));
    let process = world.alive(two_questions());
    let (end, _) = process.prompt("go").await;
    let by = || AnswerKind::Subject {
        subject: "s".into(),
    };
    let answers = |first: &str, second: &str| {
        let pairs = end.waiting.iter().zip([first, second]);
        Input::Answers(
            pairs
                .map(|(asked, value)| Answered {
                    interrupt: asked.id.clone(),
                    value: json!(value),
                    by: by(),
                })
                .collect(),
        )
    };
    let before = world.entries().await.len();
    let unfit = process.run(answers("yes", "maybe")).await.0;
    assert!(
        matches!(unfit, Err(RunError::Answer(AnswerError::Unfit { .. }))),
        "{unfit:?}"
    );
    let Input::Answers(mut twice) = answers("yes", "no") else {
        unreachable!()
    };
    twice[1].interrupt = twice[0].interrupt.clone();
    for refused in [Input::Answers(twice), Input::Answers(Vec::new())] {
        process.run(refused).await.0.unwrap_err();
    }
    assert_eq!(world.entries().await.len(), before);

    let (ended, events) = process.run(answers("yes", "no")).await;
    assert_eq!(ended.unwrap().output.answer, "thanks");
    let results: Vec<_> = bodies(&events)
        .into_iter()
        .filter(|body| matches!(body, EventBody::Message(message) if message.output.is_some()))
        .collect();
    assert_eq!(results.len(), 2);
}

#[tokio::test]
async fn what_a_run_was_asked_for_with_is_noted_at_its_beginning_and_who_looks_sees_the_session() {
    let world = world(asks(HOUR, OnExpiry::Cancel));
    let process = world.alive(two_questions());
    let queue = outfitter_agent::EventQueue::new();
    let request = RunRequest {
        notes: vec![Note {
            code: WarningCode::UnknownName,
            message: "no such name".to_owned(),
        }],
        ..Input::Prompt("go".to_owned()).into()
    };
    let end = process
        .agent
        .run(&process.session, request, Cancel::new(), queue.clone())
        .await
        .unwrap();
    let mut warned = false;
    while let Some(event) = queue.next().await {
        warned |=
            matches!(&event.body, EventBody::Warning { message, .. } if message == "no such name");
    }
    assert!(warned);

    let (scope, id) = (Scope::from(&*world.who), process.session.id.clone());
    let log = TurnLog::read(&*world.log, &scope, &id).await.unwrap();
    assert_eq!(log.waiting().len(), end.waiting.len());
    assert!(!log.is_broken_off() && log.is_unfinished());
    let shown: Vec<&str> = log.presented().iter().map(AsRef::as_ref).collect();
    assert_eq!(shown, ["ask", "echo"]);
    let other = SessionId::new("other").unwrap();
    let nothing = TurnLog::read(&*world.log, &scope, &other).await.unwrap();
    assert!(nothing.presented().is_empty() && !nothing.is_broken_off());
}
