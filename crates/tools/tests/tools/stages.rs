//! The order of things, as the journal and the tool see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use outfitter_core::{Effect, Effects, EntryBody, Facts, Outcome, ToolName};
use serde_json::json;

use crate::support::{Memory, Probe, Seen, World};

fn writer() -> Probe {
    Probe::new("file_write")
        .spec(|spec| {
            spec.effects = Effects::of(&[Effect::Read, Effect::Write]);
            spec.idempotent = true;
        })
        .call(|cx, _| {
            Box::pin(async move {
                cx.progress.info("writing");
                Ok(Outcome::json(json!({"bytes": 3})).into())
            })
        })
}

#[tokio::test]
async fn an_intent_comes_before_the_work_and_the_close_before_the_result() {
    let world = World::new([writer()]);
    world.output("file_write", "").await;
    assert_eq!(
        world.journal.kinds(),
        [
            "intent",
            "progress \"writing\"",
            "progress \"\\n\"",
            "closed",
            "message"
        ]
    );
    let Seen::Recorded(EntryBody::Intent(intent)) = &world.journal.seen()[0] else {
        panic!("no intent");
    };
    assert_eq!(intent.tool.as_str(), "file_write");
    assert!(intent.idempotent);
}

#[tokio::test]
async fn a_call_that_only_reads_writes_no_intent_whatever_its_tool_can_do() {
    let world = World::new([writer().facts(|spec, _| {
        Ok(Facts {
            effects: Effects::READ,
            ..Facts::of(spec)
        })
    })]);
    world.output("file_write", "").await;
    assert!(!world.journal.kinds().contains(&"intent".to_owned()));
}

#[tokio::test]
async fn a_call_that_is_refused_leaves_its_message_and_nothing_else() {
    let world = World::new([writer()]);
    world.output("nope", "").await;
    assert_eq!(world.journal.kinds(), ["closed", "message"]);
}

#[tokio::test]
async fn without_its_intent_on_record_a_call_does_not_run() {
    let ran = Arc::new(AtomicBool::new(false));
    let mut world = World::new([writer().gives({
        let ran = ran.clone();
        move || {
            ran.store(true, Ordering::SeqCst);
            Ok(Outcome::default().into())
        }
    })]);
    let journal = Arc::new(Memory {
        refuses: Some("intent"),
        ..Memory::default()
    });
    world.run.journal = journal.clone();
    let end = world.end("file_write", "").await;
    assert!(end.is_err());
    assert!(!ran.load(Ordering::SeqCst));
    assert_eq!(journal.kinds(), Vec::<String>::new());
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_is_an_error_of_the_run() {
    let mut world = World::new([writer()]);
    world.run.journal = Arc::new(Memory {
        refuses: Some("message"),
        ..Memory::default()
    });
    assert!(world.end("file_write", "").await.is_err());
}

#[tokio::test]
async fn the_message_carries_the_projection_and_the_same_output() {
    let world = World::new([writer()]);
    let output = world.output("file_write", "").await;
    let message = &world.journal.messages()[0];
    assert_eq!(message.content(), r#"{"bytes":3}"#);
    assert!(Arc::ptr_eq(message.output.as_ref().unwrap(), &output));
}

#[tokio::test]
async fn what_a_tool_activates_is_recorded_with_its_message() {
    let later = ToolName::new("later").unwrap();
    let activate = vec![later.clone()];
    let world = World::new([Probe::new("find").gives(move || {
        Ok(Outcome {
            activate: activate.clone(),
            ..Outcome::default()
        }
        .into())
    })]);
    world.output("find", "").await;
    assert!(
        world
            .journal
            .entries()
            .contains(&EntryBody::Activated(vec![later]))
    );
}
