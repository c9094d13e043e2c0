//! Calls that wait, and go on.

use std::time::Duration;

use outfitter_core::{
    Answer, AnswerKind, Ask, CallEnd, Code, Effect, Effects, EntryBody, EventBody, Interrupt,
    InterruptId, InterruptKind, OnExpiry, Outcome, Reply, Role, Status, ToolOutput, UnixMs,
};
use outfitter_tools::arguments_hash;
use rstest::rstest;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{Probe, Seen, World, call};

const RAW: &str = r#"{"topic":"lunch"}"#;

fn asker() -> Probe {
    Probe::new("ask")
        .gives(|| {
            Ok(Reply::Wait(Box::new(Ask {
                kind: InterruptKind::Question {
                    question: "what do you want?".to_owned(),
                    choices: vec!["soup".to_owned(), "salad".to_owned()],
                    sensitive: false,
                    questionnaire: None,
                },
                schema: Some(json!({"type": "string"})),
                expires_in: Duration::from_secs(60),
                on_expiry: OnExpiry::Default {
                    answer: json!("soup"),
                },
                state: json!({"step": 1}),
            })))
        })
        .resume(|_, given| Box::pin(async move { Ok(Outcome::json(given).into()) }))
}

async fn asked(world: &World) -> Arc<Interrupt> {
    match world.end("ask", RAW).await.unwrap() {
        CallEnd::Waiting(interrupt) => interrupt,
        CallEnd::Output(output) => panic!("did not wait: {output:?}"),
    }
}

fn answer(interrupt: &Interrupt, by: AnswerKind, value: Value) -> Answer {
    Answer {
        interrupt: interrupt.id.clone(),
        by,
        value,
        at: UnixMs(1),
    }
}

fn person() -> AnswerKind {
    AnswerKind::Subject {
        subject: "ann".into(),
    }
}

async fn resumed(
    world: &World,
    name: &str,
    raw: &str,
    interrupt: &Interrupt,
    answer: Answer,
) -> Arc<ToolOutput> {
    let view = world.view();
    let end = world
        .pipeline
        .resume(&view, call(name, raw), interrupt, answer, &world.run)
        .await;
    match end.unwrap() {
        CallEnd::Output(output) => output,
        CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
    }
}

#[tokio::test]
async fn a_tool_that_waits_leaves_an_interrupt_that_it_did_not_make() {
    let world = World::new([asker()]);
    let interrupt = asked(&world).await;
    assert_eq!(world.journal.kinds(), ["closed", "interrupt"]);
    let Some(Seen::Recorded(EntryBody::Event(EventBody::Interrupt(recorded)))) =
        world.journal.seen().pop()
    else {
        panic!("not recorded");
    };
    assert_eq!(*recorded, *interrupt);
    assert_eq!(interrupt.args_hash, arguments_hash(&call("ask", RAW)));
    let id = interrupt.id.to_string();
    assert!(id.starts_with("int_"), "{id}");
    insta::assert_json_snapshot!(Interrupt {
        id: InterruptId::new("int_any").unwrap(),
        ..Interrupt::clone(&*interrupt)
    });
}

#[tokio::test]
async fn an_answer_reaches_the_tool_with_its_arguments_and_its_state() {
    let world = World::new([asker()]);
    let interrupt = asked(&world).await;
    let given = answer(&interrupt, person(), json!("salad"));
    let output = resumed(&world, "ask", RAW, &interrupt, given).await;
    assert_eq!(
        output.result,
        Some(json!({"args": {"topic": "lunch"}, "state": {"step": 1}, "answer": "salad"}))
    );
    assert_eq!(
        world.journal.kinds(),
        ["closed", "interrupt", "closed", "message"]
    );
}

#[tokio::test]
async fn an_answer_to_other_arguments_does_not_reach_the_tool() {
    let world = World::new([asker()]);
    let interrupt = asked(&world).await;
    let given = || answer(&interrupt, person(), json!("salad"));
    let elsewhere = Answer {
        interrupt: InterruptId::new("int_other").unwrap(),
        ..given()
    };
    for (raw, given) in [(r#"{"topic":"dinner"}"#, given()), (RAW, elsewhere)] {
        let output = resumed(&world, "ask", raw, &interrupt, given).await;
        assert_eq!(output.error.as_ref().unwrap().code, Code::Conflict);
    }
}

#[rstest]
#[case(OnExpiry::Cancel, Err(Code::Cancelled))]
#[case(OnExpiry::Deny, Err(Code::Denied))]
#[case(OnExpiry::Continue, Ok(json!(null)))]
#[case(OnExpiry::Default { answer: json!("soup") }, Ok(json!("soup")))]
#[tokio::test]
async fn silence_is_what_the_question_said_it_is(
    #[case] on_expiry: OnExpiry,
    #[case] expected: Result<Value, Code>,
) {
    let world = World::new([asker()]);
    let interrupt = Interrupt {
        on_expiry,
        ..Interrupt::clone(&*asked(&world).await)
    };
    let silence = answer(&interrupt, AnswerKind::Expired, json!("ignored"));
    let output = resumed(&world, "ask", RAW, &interrupt, silence).await;
    let seen = match &output.error {
        Some(error) => Err(error.code),
        None => Ok(output.result.as_ref().unwrap()["answer"].clone()),
    };
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn whoever_asked_says_what_it_means_that_a_question_is_called_off() {
    let world = World::new([asker()]);
    let interrupt = asked(&world).await;
    let off = answer(&interrupt, AnswerKind::Cancelled, json!("ignored"));
    let output = resumed(&world, "ask", RAW, &interrupt, off).await;
    assert_eq!(output.result.as_ref().unwrap()["answer"], Value::Null);
}

#[tokio::test]
async fn a_wait_that_is_no_question_and_is_called_off_ends_the_call() {
    let world = World::new([asker()]);
    let interrupt = Interrupt {
        kind: InterruptKind::Delay,
        ..Interrupt::clone(&*asked(&world).await)
    };
    let off = answer(&interrupt, AnswerKind::Cancelled, Value::Null);
    let output = resumed(&world, "ask", RAW, &interrupt, off).await;
    assert_eq!(output.status, Status::Cancelled);
}

#[rstest]
#[case(json!({"type": "nonsense"}), json!("soup"))]
#[case(json!({"type": "integer"}), json!("soup"))]
#[tokio::test]
async fn a_question_that_nobody_could_answer_is_refused(
    #[case] schema: Value,
    #[case] default: Value,
) {
    let world = World::new([Probe::new("ask").gives(move || {
        Ok(Reply::Wait(Box::new(Ask {
            kind: InterruptKind::Delay,
            schema: Some(schema.clone()),
            expires_in: Duration::from_secs(60),
            on_expiry: OnExpiry::Default {
                answer: default.clone(),
            },
            state: Value::Null,
        })))
    })]);
    let output = world.output("ask", RAW).await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::InvalidArguments);
}

#[rstest]
#[case(person(), json!(true), Status::Success)]
#[case(person(), json!(false), Status::Denied)]
#[case(person(), json!("true"), Status::Denied)]
#[case(AnswerKind::Expired, json!(true), Status::Denied)]
#[tokio::test]
async fn an_approval_runs_the_call_only_on_a_clear_yes(
    #[case] by: AnswerKind,
    #[case] value: Value,
    #[case] status: Status,
) {
    let world = World::new([
        Probe::new("fetch").spec(|spec| spec.effects = Effects::of(&[Effect::Network]))
    ]);
    let refused = world.output("fetch", "").await;
    assert_eq!(refused.error.as_ref().unwrap().code, Code::NeedsApproval);

    let interrupt = approval(&world);
    let given = answer(&interrupt, by, value);
    let output = resumed(&world, "fetch", RAW, &interrupt, given).await;
    assert_eq!(output.status, status, "{:?}", output.error);
    let code = output.error.as_ref().map(|error| error.code);
    assert_eq!(code, (status == Status::Denied).then_some(Code::Denied));
}

#[tokio::test]
async fn an_approval_of_other_arguments_runs_nothing() {
    let world = World::new([
        Probe::new("fetch").spec(|spec| spec.effects = Effects::of(&[Effect::Network]))
    ]);
    let interrupt = approval(&world);
    let given = answer(&interrupt, person(), json!(true));
    let output = resumed(&world, "fetch", r#"{"topic":"dinner"}"#, &interrupt, given).await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::Conflict);
}

fn approval(world: &World) -> Interrupt {
    Interrupt {
        id: InterruptId::new("int_1").unwrap(),
        call: call("fetch", RAW).id,
        kind: InterruptKind::Approval {
            reason: "it speaks to the network".to_owned(),
        },
        schema: None,
        audience: outfitter_core::Audience {
            tenant: world.run.who.tenant.clone(),
            subject: world.run.who.subject.clone(),
            min_role: Role::Guest,
        },
        expires: UnixMs(2),
        on_expiry: OnExpiry::Continue,
        args_hash: arguments_hash(&call("fetch", RAW)),
        state: Value::Null,
    }
}

#[tokio::test]
async fn what_is_forbidden_meanwhile_does_not_go_on() {
    let mut world = World::new([asker().spec(|spec| spec.min_role = Role::User)]);
    let interrupt = asked(&world).await;
    world = world.role(Role::Guest);
    let given = answer(&interrupt, person(), json!("salad"));
    let output = resumed(&world, "ask", RAW, &interrupt, given).await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::NotPermitted);
}

#[tokio::test]
async fn a_tool_cannot_ask_for_its_own_approval_in_words_of_its_choice() {
    let world = World::new([Probe::new("sly").gives(|| {
        Ok(Reply::Wait(Box::new(Ask {
            kind: InterruptKind::Approval {
                reason: "it only reads".to_owned(),
            },
            schema: None,
            expires_in: Duration::from_secs(60),
            on_expiry: OnExpiry::Continue,
            state: Value::Null,
        })))
    })]);
    let output = world.output("sly", RAW).await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::Internal);
}
