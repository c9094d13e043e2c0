//! A call that waits ends its run and holds nothing.

use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::Input;
use outfitter_core::*;
use serde_json::json;

use crate::harness::*;

fn asks() -> Counting {
    Counting::new(
        "ask",
        Effects::of(&[Effect::Message]),
        Arc::new(|_, args| {
            Box::pin(async move {
                Ok(Reply::Wait(Box::new(Ask {
                    kind: InterruptKind::Question {
                        question: "really?".to_owned(),
                        choices: Vec::new(),
                    },
                    schema: None,
                    expires_in: Duration::from_secs(60),
                    on_expiry: OnExpiry::Cancel,
                    state: args,
                })))
            })
        }),
    )
}

#[tokio::test]
async fn siblings_finish_the_run_waits_and_an_answer_in_the_log_continues_the_turn() {
    let world = World::new(vec![
        Arc::new(asks()),
        Arc::new(Counting::echo("echo", Effects::READ)),
    ]);
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[("q", "ask", "{\"n\":1}"), ("e", "echo", "{}")]),
        _ => say("thanks"),
    });
    let process = world.alive(script.clone());
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    assert_eq!(world.outputs().await["e"][0].status, Status::Success);
    let interrupt = bodies(&events)
        .into_iter()
        .find_map(|body| match body {
            EventBody::Interrupt(interrupt) => Some((**interrupt).clone()),
            _ => None,
        })
        .unwrap();
    assert_eq!(interrupt.audience.subject, world.who.subject);

    let (still, _) = process.run(Input::Continue).await;
    assert_eq!(
        still.unwrap().outcome,
        RunOutcome::Waiting,
        "nobody has answered"
    );

    let scope = Scope::from(&*world.who);
    let page = world
        .log
        .read(&scope, &process.session.id, Seq(1), 1)
        .await
        .unwrap();
    let answer = Answer {
        interrupt: interrupt.id.clone(),
        by: AnswerKind::Subject {
            subject: world.who.subject.clone(),
        },
        value: json!("yes"),
        at: UnixMs(1),
    };
    let entry = NewEntry {
        run: RunId::new("answering").unwrap(),
        at: UnixMs(1),
        event: None,
        body: EntryBody::Answer(answer),
    };
    let append = Append {
        session: &process.session.id,
        expected: page.head,
        fence: page.fence,
        entries: vec![entry],
    };
    world.log.append(&scope, append).await.unwrap();

    let restarted = world.alive(script);
    let (end, _) = restarted.run(Input::Continue).await;
    assert_eq!(end.unwrap().output.answer, "thanks");
    let outputs = world.outputs().await;
    assert_eq!(
        outputs["q"][0].result,
        Some(json!({"state": {"n": 1}, "answer": "yes"}))
    );
    assert_eq!(outputs["e"].len(), 1);
}
