//! The workflow of a turn: who chooses it, where the model is told of it, and that a turn keeps it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use outfitter_agent::{
    Input, RunError, RunRequest, TurnWorkflow, Workflow, WorkflowChoice, Workflows,
};
use outfitter_core::*;
use rstest::rstest;
use serde_json::Value;

use crate::harness::*;

fn workflow(name: &str, description: &str, step: &str) -> Workflow {
    Workflow {
        name: name.to_owned(),
        description: description.to_owned(),
        steps: vec![step.to_owned()],
    }
}

fn all() -> Vec<Workflow> {
    vec![
        workflow("release", "Publishes a new version.", "Tag it."),
        workflow("triage", "Sorts reports of defects.", "Read each."),
    ]
}

fn world(choice: WorkflowChoice) -> World {
    let mut world = World::new(vec![Arc::new(Counting::echo("look", Effects::READ))]);
    world.settings.workflows = Arc::new(Workflows::new(choice, all()));
    world
}

fn is_choosing(request: &ModelRequest) -> bool {
    request.system.contains("You choose a workflow")
}

fn answering(reply: &'static str) -> Script {
    Arc::new(move |_, request| match is_choosing(request) {
        true => say(reply),
        false => say("done"),
    })
}

/// The requests of turns, without the questions beside them.
fn requests(process: &Process) -> Vec<Value> {
    let asked = process.model.asked.lock().unwrap().clone();
    asked
        .iter()
        .map(|asked| serde_json::from_str::<Value>(asked).unwrap())
        .filter(|asked| !asked["system"].as_str().unwrap().starts_with("You choose"))
        .collect()
}

/// The last message of a request, where it is one of ours.
fn tail(request: &Value) -> Option<String> {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    (last[0] == "system").then(|| last[1][0]["text"].as_str().unwrap().to_owned())
}

fn said(events: &[Arc<Event>]) -> Option<String> {
    match &events[0].body {
        EventBody::RunStarted(started) => started.workflow.clone(),
        other => unreachable!("{other:?}"),
    }
}

fn fallbacks(events: &[Arc<Event>]) -> usize {
    let warnings = bodies(events).into_iter().filter(|body| {
        matches!(
            body,
            EventBody::Warning {
                code: WarningCode::Fallback,
                ..
            }
        )
    });
    warnings.count()
}

#[rstest]
#[case::nobody(WorkflowChoice::Off, "make the release", None)]
#[case::its_name(WorkflowChoice::Named("triage".to_owned()), "hello", Some("triage"))]
#[case::the_words(WorkflowChoice::Lexical, "make the release", Some("release"))]
#[case::no_words(WorkflowChoice::Lexical, "how are you?", None)]
#[tokio::test]
async fn a_turn_follows_what_is_chosen_and_says_so_first(
    #[case] choice: WorkflowChoice,
    #[case] prompt: &str,
    #[case] name: Option<&str>,
) {
    let process = world(choice).alive(answering("never asked"));
    let (end, events) = process.prompt(prompt).await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(said(&events).as_deref(), name);
    let asked = requests(&process);
    let told = name.map(|name| {
        let workflow = all().into_iter().find(|one| one.name == name).unwrap();
        workflow.in_use().text
    });
    assert_eq!(tail(&asked[0]), told);
    assert_eq!(asked[0]["system"], "be brief", "never in the prompt");
    assert_eq!(fallbacks(&events), 0);
}

#[rstest]
#[case::a_name("[\"triage\"]", Some("triage"), 0)]
#[case::none("[]", None, 0)]
#[case::no_name("release, I think", Some("release"), 1)]
#[case::another_name("[\"deploy\"]", Some("release"), 1)]
#[case::no_text("[1]", Some("release"), 1)]
#[tokio::test]
async fn the_model_is_asked_once_and_the_words_choose_where_it_does_not(
    #[case] reply: &'static str,
    #[case] name: Option<&str>,
    #[case] warned: usize,
) {
    let process = world(WorkflowChoice::Model).alive(answering(reply));
    let (_, events) = process.prompt("make the release").await;
    assert_eq!(said(&events).as_deref(), name);
    assert_eq!(fallbacks(&events), warned);
    let asked = process.model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "once to choose, once to answer");
    assert!(asked[0].contains("- release: Publishes a new version."));
    let usages = bodies(&events)
        .into_iter()
        .filter(|body| matches!(body, EventBody::Usage(_)));
    assert_eq!(usages.count(), 2, "what it took is counted");
    // The words of the person are told before what they took.
    let first = |is: fn(&EventBody) -> bool| bodies(&events).into_iter().position(is);
    let words = first(|body| matches!(body, EventBody::Message(_)));
    assert!(words < first(|body| matches!(body, EventBody::Usage(_))));
}

#[tokio::test]
async fn the_next_turn_has_its_own_and_no_trace_of_the_one_before() {
    let process = world(WorkflowChoice::Lexical).alive(answering(""));
    process.prompt("make the release").await;
    process.prompt("thanks").await;
    let (_, events) = process.prompt("do the triage").await;
    assert_eq!(said(&events).as_deref(), Some("triage"));
    let asked = requests(&process);
    assert!(tail(&asked[0]).unwrap().contains("Tag it."));
    assert!(!asked[1].to_string().contains("Tag it."), "{}", asked[1]);
    assert!(!asked[2].to_string().contains("Tag it."), "{}", asked[2]);
    assert!(tail(&asked[2]).unwrap().contains("Read each."));
}

fn asking(prompt: &str, choice: WorkflowChoice) -> RunRequest {
    RunRequest {
        workflow: TurnWorkflow::Asked(choice),
        ..Input::Prompt(prompt.to_owned()).into()
    }
}

#[rstest]
#[case(WorkflowChoice::Named("triage".to_owned()), Some("triage"))]
#[case(WorkflowChoice::Off, None)]
#[case(WorkflowChoice::Lexical, Some("release"))]
#[tokio::test]
async fn who_asks_for_a_run_may_choose(#[case] choice: WorkflowChoice, #[case] name: Option<&str>) {
    for configured in [
        WorkflowChoice::Off,
        WorkflowChoice::Lexical,
        WorkflowChoice::Named("release".to_owned()),
    ] {
        let process = world(configured).alive(answering(""));
        let request = asking("make the release", choice.clone());
        let (end, events) = process.run_request(request, Cancel::new()).await;
        assert_eq!(end.unwrap().outcome, RunOutcome::Success);
        assert_eq!(said(&events).as_deref(), name);
        assert_eq!(tail(&requests(&process)[0]).is_some(), name.is_some());
    }
}

#[tokio::test]
async fn a_workflow_that_is_not_there_is_refused_before_anything_is_recorded() {
    let world = world(WorkflowChoice::Off);
    let process = world.alive(answering(""));
    let request = asking("go", WorkflowChoice::Named("relaese".to_owned()));
    let (end, events) = process.run_request(request, Cancel::new()).await;
    let error = end.unwrap_err();
    let info = error.to_info();
    assert_eq!(info.code, Code::InvalidArguments);
    assert!(info.message.contains("relaese"), "{info:?}");
    assert!(info.hint.unwrap().contains("release, triage"));
    assert!(matches!(error, RunError::UnknownWorkflow { .. }));
    assert_eq!(events.len(), 0);
    assert!(process.model.asked.lock().unwrap().is_empty());
    // The session is as it was, and free.
    assert_eq!(process.prompt("go").await.0.outcome, RunOutcome::Success);
}

/// Whatever append the process dies at, and whatever the workflows are meanwhile: the turn goes on
/// with what it was told, byte for byte.
#[rstest]
#[case(WorkflowChoice::Lexical)]
#[case(WorkflowChoice::Model)]
#[case(WorkflowChoice::Named("release".to_owned()))]
#[tokio::test]
async fn a_recovered_turn_is_told_what_it_was_told(#[case] choice: WorkflowChoice) {
    let script: Script = Arc::new(|replies, request| match replies {
        _ if is_choosing(request) => say("[\"release\"]"),
        0 => calls(&[("a", "look", "{}")]),
        1 => calls(&[("b", "look", "{}")]),
        _ => say("done"),
    });
    let process = world(choice.clone()).alive(script.clone());
    process.prompt("make the release").await;
    let expected = requests(&process);
    assert_eq!(expected.len(), 3);
    let mut recoveries = 0;
    for left in 1..12 {
        let before = world(choice.clone());
        let mortal = Arc::new(Mortal {
            inner: before.log.clone(),
            left: AtomicU64::new(left),
        });
        let dying = before.process(Model::new(script.clone()), mortal);
        let input = Input::Prompt("make the release".to_owned());
        let survived = dying.run(input).await.0.is_ok();
        let after = World {
            settings: outfitter_agent::AgentSettings {
                workflows: Arc::new(Workflows::new(
                    WorkflowChoice::Off,
                    vec![workflow("release", "Another one.", "Do nothing.")],
                )),
                ..before.settings.clone()
            },
            ..before
        };
        let recovered = after.alive(script.clone());
        let (end, events) = recovered.run(Input::Continue).await;
        if survived || end.is_err() {
            continue;
        }
        recoveries += 1;
        assert_eq!(said(&events).as_deref(), Some("release"), "after {left}");
        let made = [requests(&dying), requests(&recovered)].concat();
        for request in &made {
            assert!(expected.contains(request), "after {left}: {request}");
        }
        assert_eq!(made.last(), expected.last(), "after {left}");
    }
    assert!(recoveries > 4, "{recoveries}");
}

#[tokio::test]
async fn a_turn_that_waited_goes_on_with_its_workflow() {
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
                    state: serde_json::json!(null),
                })))
            })
        }),
    );
    let mut world = world(WorkflowChoice::Lexical);
    world.tools = vec![Arc::new(asks)];
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[("q", "ask", "{}")]),
        _ => say("done"),
    });
    let process = world.alive(script.clone());
    let (end, _) = process.prompt("make the release").await;
    assert_eq!(end.outcome, RunOutcome::Waiting);
    let restarted = world.alive(script);
    let answered = outfitter_agent::Answered {
        interrupt: end.waiting[0].id.clone(),
        value: "this".into(),
        by: AnswerKind::Subject {
            subject: "s".into(),
        },
    };
    let (end, events) = restarted.run(Input::Answer(answered)).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    assert_eq!(said(&events).as_deref(), Some("release"));
    let before = tail(&requests(&process)[0]);
    assert_eq!(tail(&requests(&restarted)[0]), before);
}

#[tokio::test]
async fn workflows_that_are_changed_count_from_the_next_turn_on() {
    let process = world(WorkflowChoice::Off).alive(answering(""));
    process.prompt("make the release").await;
    process.agent.switch().set(|parts| {
        let mut parts = parts.clone();
        parts.settings.workflows = Arc::new(Workflows::new(WorkflowChoice::Lexical, all()));
        parts
    });
    let (_, events) = process.prompt("make the release").await;
    assert_eq!(said(&events).as_deref(), Some("release"));
}

#[tokio::test]
async fn a_run_that_is_stopped_while_it_is_chosen_ends_cancelled_and_may_choose_again() {
    let world = world(WorkflowChoice::Model);
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let process = world.alive(Arc::new(move |_, request| {
        if is_choosing(request) {
            stop.cancel();
        }
        say("[\"release\"]")
    }));
    let request: RunRequest = Input::Prompt("make the release".to_owned()).into();
    let (end, events) = process.run_request(request, cancel).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Cancelled);
    assert_eq!(said(&events), None);
    assert_eq!(fallbacks(&events), 0);
    let restarted = world.alive(answering("[\"triage\"]"));
    let (end, events) = restarted.run(Input::Continue).await;
    assert_eq!(end.unwrap().outcome, RunOutcome::Success);
    assert_eq!(said(&events).as_deref(), Some("triage"));
}

#[rstest]
#[case::the_words(WorkflowChoice::Lexical)]
#[case::the_model(WorkflowChoice::Model)]
#[tokio::test]
async fn a_yes_lost_the_workflow_of_the_conversation(#[case] choice: WorkflowChoice) {
    // The model would choose another one each time it is asked.
    let process = world(choice.clone()).alive(answering("[\"triage\"]"));
    let asks = choice == WorkflowChoice::Model;
    let first = if asks { "triage" } else { "release" };
    for (prompt, name, asked) in [
        ("make the release", Some(first), 1),
        ("yes", Some(first), 1),
        ("Go on, please.", Some(first), 1),
        ("继续", Some(first), 1),
        ("write a poem about the sea", asks.then_some("triage"), 2),
        ("yes", asks.then_some("triage"), 2),
        ("sort the reports of defects", Some("triage"), 3),
        ("continue", Some("triage"), 3),
    ] {
        let (end, events) = process.prompt(prompt).await;
        assert_eq!(end.outcome, RunOutcome::Success);
        assert_eq!(said(&events).as_deref(), name, "{prompt}");
        let choosing = process.model.asked.lock().unwrap();
        let choosing = choosing
            .iter()
            .filter(|asked| asked.contains("You choose a workflow"));
        assert_eq!(choosing.count(), if asks { asked } else { 0 }, "{prompt}");
    }
}

#[tokio::test]
async fn the_first_prompt_goes_on_with_nothing() {
    let process = world(WorkflowChoice::Lexical).alive(answering("never asked"));
    let (_, events) = process.prompt("continue").await;
    assert_eq!(said(&events), None);
}

#[tokio::test]
async fn a_workflow_that_is_gone_is_not_gone_on_with() {
    let mut world = world(WorkflowChoice::Lexical);
    let before = world.alive(answering("never asked"));
    let (_, events) = before.prompt("make the release").await;
    assert_eq!(said(&events).as_deref(), Some("release"));
    let left = all()
        .into_iter()
        .filter(|one| one.name != "release")
        .collect();
    world.settings.workflows = Arc::new(Workflows::new(WorkflowChoice::Lexical, left));
    let after = world.alive(answering("never asked"));
    let (_, events) = after.prompt("yes").await;
    assert_eq!(said(&events), None);
}
