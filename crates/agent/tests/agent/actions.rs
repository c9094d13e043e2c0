//! What might be done next, once a turn has its answer.

use std::sync::Arc;

use outfitter_agent::MAX_SUGGESTED_ACTIONS;
use outfitter_core::*;
use rstest::rstest;

use crate::harness::*;

fn world() -> World {
    let mut world = World::new(vec![Arc::new(Counting::echo("look", Effects::READ))]);
    world.settings.suggested_actions = true;
    world
}

fn is_suggesting(request: &ModelRequest) -> bool {
    request.system.contains("You suggest what a person")
}

fn usages(events: &[Arc<Event>]) -> usize {
    let bodies = bodies(events).into_iter();
    bodies
        .filter(|body| matches!(body, EventBody::Usage(_)))
        .count()
}

#[tokio::test]
async fn a_turn_with_an_answer_ends_with_what_may_follow() {
    let process = world().alive(Arc::new(|replies, request| {
        if is_suggesting(request) {
            return say(
                r#"Perhaps: [{"label": "Run the tests", "command": "cargo test"},
                {"label": "Explain", "prompt": "Explain the change."}, {"label": "nothing"}]"#,
            );
        }
        match replies {
            0 => calls(&[("l", "look", "{}")]),
            _ => say("It is mended."),
        }
    }));
    let (end, events) = process.prompt("mend it").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(end.output.answer, "It is mended.");
    let actions = &end.output.suggested_actions;
    assert_eq!(actions.len(), 2, "{actions:?}");
    assert_eq!(actions[0].command.as_deref(), Some("cargo test"));
    assert_eq!(actions[1].prompt.as_deref(), Some("Explain the change."));
    let asked = process.model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    assert!(asked[2].contains("mend it") && asked[2].contains("It is mended."));
    assert_eq!(
        usages(&events),
        3,
        "what it took is counted, before the end"
    );
    assert!(matches!(
        &events.last().unwrap().body,
        EventBody::RunFinished { output, .. } if output.suggested_actions.len() == 2
    ));
    // It is no part of the conversation.
    process.prompt("go on").await;
    let asked = process.model.asked.lock().unwrap().clone();
    assert!(!asked[3].contains("Run the tests"), "{}", asked[3]);
}

#[rstest]
#[case::words(say("you could run the tests"), 1)]
#[case::cut_off(vec![text("[{\"label\": \"x")], 1)]
#[case::nothing(say("[]"), 0)]
#[case::an_error(vec![Err(ModelError::Protocol { message: "no stream".to_owned() })], 1)]
#[case::a_broken_stream(vec![text("[]"), Err(ModelError::Truncated)], 1)]
#[tokio::test]
async fn whatever_the_model_says_the_run_is_the_success_that_it_was(
    #[case] reply: Vec<Result<ModelDelta, ModelError>>,
    #[case] warned: usize,
) {
    let reply = std::sync::Mutex::new(Some(reply));
    let process = world().alive(Arc::new(move |_, request| {
        if is_suggesting(request) {
            return reply.lock().unwrap().take().unwrap();
        }
        say("done")
    }));
    let (end, events) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(end.output.answer, "done");
    assert_eq!(end.output.suggested_actions, []);
    assert_eq!(end.output.error, None);
    let warnings = bodies(&events).into_iter().filter(|body| {
        let code = WarningCode::Fallback;
        matches!(body, EventBody::Warning { code: said, .. } if *said == code)
    });
    assert_eq!(warnings.count(), warned);
}

#[tokio::test]
async fn only_a_success_with_an_answer_is_asked_about() {
    let failing: Script = Arc::new(|_, _| vec![text("half"), Err(ModelError::Truncated)]);
    let silent: Script = Arc::new(|_, _| say(""));
    let limited: Script = Arc::new(|_, _| calls(&[("l", "look", "{}")]));
    for script in [failing, silent, limited] {
        let mut world = world();
        world.settings.limits.max_turns = 1;
        let process = world.alive(script);
        let (end, _) = process.prompt("go").await;
        assert_eq!(end.output.suggested_actions, []);
        assert_eq!(process.model.asked.lock().unwrap().len(), 1, "{end:?}");
    }
    // Nor is anything asked where nobody wants it.
    let mut world = world();
    world.settings.suggested_actions = false;
    let process = world.alive(Arc::new(|_, _| say("done")));
    process.prompt("go").await;
    assert_eq!(process.model.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_turn_whose_tokens_are_used_up_is_not_asked_about() {
    let mut world = world();
    world.settings.limits.max_total_tokens = Some(1);
    let process = world.alive(Arc::new(|_, _| say("a long enough answer")));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(process.model.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn who_stops_the_run_meanwhile_has_the_answer_and_no_actions() {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let process = world().alive(Arc::new(move |_, request| {
        if is_suggesting(request) {
            stop.cancel();
        }
        say("[{\"label\": \"l\", \"prompt\": \"p\"}]")
    }));
    let input = outfitter_agent::Input::Prompt("go".to_owned());
    let (end, _) = process.run_until(input, cancel).await;
    let end = end.unwrap();
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(end.output.suggested_actions, []);
}

#[tokio::test]
async fn there_are_never_more_than_five() {
    let process = world().alive(Arc::new(|_, request| {
        if !is_suggesting(request) {
            return say("done");
        }
        let all = (0..50).map(|n| serde_json::json!({"label": "l", "prompt": n.to_string()}));
        say(&all.collect::<serde_json::Value>().to_string())
    }));
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.output.suggested_actions.len(), MAX_SUGGESTED_ACTIONS);
}
