//! A model that makes the same failing call again and again.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use outfitter_agent::Input;
use outfitter_core::*;

use crate::harness::*;

fn failing() -> Arc<dyn Tool> {
    let act: Act = Arc::new(|_, _| Box::pin(async { Err(ToolError::failed("the disk is full")) }));
    Arc::new(Counting::new(
        "write_file",
        Effects::of(&[Effect::Write]),
        act,
    ))
}

fn always(name: &'static str, arguments: &'static str) -> Script {
    Arc::new(move |replies, _| calls(&[(&format!("c{replies}"), name, arguments)]))
}

/// A01: arguments that are cut off never run, the model is told what is wrong, the text that it
/// wrote stays on record, and the third of them ends the turn.
#[tokio::test]
async fn a01_a_call_that_is_cut_off_never_runs_and_the_third_ends_the_turn() {
    const CUT: &str = r#"{"path":"a.txt","content":"abc"#;
    let tool = Arc::new(Counting::echo("write_file", Effects::of(&[Effect::Write])));
    let world = World::new(vec![tool.clone()]);
    let (end, events) = world.alive(always("write_file", CUT)).prompt("go").await;
    assert!(tool.ran.lock().unwrap().is_empty(), "nothing ran");
    assert_eq!(end.outcome, RunOutcome::Limit);
    let error = end.output.error.unwrap();
    assert_eq!(error.code, Code::Limit);
    assert!(error.message.contains("write_file 3 times"), "{error}");
    let outputs = world.outputs().await;
    assert_eq!(outputs.len(), 3);
    for output in outputs.values() {
        let error = output[0].error.as_ref().unwrap();
        assert_eq!(error.code, Code::InvalidArguments);
        assert!(error.message.contains("truncated JSON"), "{error}");
    }
    let raw: Vec<String> = bodies(&events)
        .iter()
        .filter_map(|body| match body {
            EventBody::Message(message) => message.tool_calls().next(),
            _ => None,
        })
        .map(|call| call.arguments.to_string())
        .collect();
    assert_eq!(raw, [CUT; 3], "what it wrote is on record");
}

#[tokio::test]
async fn a_turn_that_was_ended_so_goes_on_when_it_is_told_to() {
    let world = World::new(vec![failing()]);
    let process = world.alive(always("write_file", "{}"));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Limit);
    let (end, _) = process.run(Input::Continue).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Limit);
    let asked = process.model.asked.lock().unwrap().len();
    assert_eq!(asked, 6, "it counts anew");
}

#[tokio::test]
async fn another_prompt_begins_anew() {
    let world = World::new(vec![failing()]);
    let process = world.alive(Arc::new(|replies, request| {
        match request.messages.last().map(|last| last.role) {
            Some(MessageRole::User) => calls(&[(&format!("c{replies}"), "write_file", "{}")]),
            _ => say("it did not work"),
        }
    }));
    for _ in 0..5 {
        let (end, _) = process.prompt("again").await;
        assert_eq!(end.outcome, RunOutcome::Success);
    }
}

#[tokio::test]
async fn calls_with_other_arguments_go_on_and_one_reply_is_one_time() {
    let world = World::new(vec![failing()]);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0..6 => {
            let other = format!("{{\"n\":{replies}}}");
            let ids: Vec<String> = (0..4).map(|n| format!("c{replies}_{n}")).collect();
            calls(&[
                (&ids[0], "write_file", &other),
                (&ids[1], "write_file", &other),
                (&ids[2], "write_file", &other),
                (&ids[3], "write_file", &other),
            ])
        }
        _ => say("given up"),
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
}

/// Wherever the process dies, the next one counts on: the log is all there is.
#[tokio::test]
async fn the_count_survives_the_process() {
    let mut died = 0;
    for appends in 3..16 {
        let world = World::new(vec![failing()]);
        let script = always("write_file", "{}");
        let mortal = Arc::new(Mortal {
            inner: world.log.clone(),
            left: AtomicU64::new(appends),
        });
        let first = world.process(Model::new(script.clone()), mortal);
        let (end, _) = first.run(Input::Prompt("go".to_owned())).await;
        if end.is_ok() {
            continue;
        }
        died += 1;
        let second = world.alive(script);
        let (end, _) = second.run(Input::Continue).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Limit);
        let outputs = world.outputs().await;
        let failed = outputs
            .values()
            .filter(|output| output[0].error.as_ref().unwrap().code == Code::Failed);
        assert_eq!(failed.count(), 3, "after {appends} appends: {outputs:#?}");
    }
    assert!(died > 5, "{died}");
}
