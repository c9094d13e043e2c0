//! What a provider may keep of a request: equal inputs give equal bytes, and a turn adds behind what
//! is there and never before it.

use std::sync::Arc;

use outfitter_agent::{CommonPrompt, Told, Workflow, WorkflowChoice, Workflows};
use outfitter_core::*;
use outfitter_tools::{Presentation, Suggestion, expand_tools, tool_search};
use proptest::prelude::*;
use serde_json::Value;

use crate::harness::*;

/// One turn: its words, and the calls before its answer.
type Turn = (&'static str, Vec<&'static str>);

const PROMPTS: [&str; 5] = [
    "make the release",
    "how is the weather?",
    "do the triage",
    "hello",
    "发布新版本",
];

const CALLS: [&str; 5] = ["look", "change", "rare", "tool_search", "tool_expand_tools"];

fn tools() -> Vec<Arc<dyn Tool>> {
    let rare = Counting::echo("rare", Effects::READ);
    vec![
        Arc::new(Counting::echo("look", Effects::READ)),
        Arc::new(Counting::echo("change", Effects::of(&[Effect::Write]))),
        Arc::new(rare),
        tool_search(),
        expand_tools(),
    ]
}

fn world() -> World {
    let mut world = World::new(tools());
    world.presentation = Presentation {
        suggestion: Suggestion::Lexical,
        threshold: 2,
        defer: NameSet::of(["rare"]),
    };
    world.settings.limits.identical_failures = 1_000;
    world.settings.system_prompt = CommonPrompt {
        instructions: "be brief".into(),
        environment: "here".into(),
        tools: "so".into(),
    };
    world.told = Told {
        skill_catalogue: "skills".into(),
        opening: Some("loaded".into()),
        ..Told::default()
    };
    let workflow = |name: &str, description: &str| Workflow {
        name: name.to_owned(),
        description: description.to_owned(),
        steps: vec!["first".to_owned(), "then".to_owned()],
    };
    let all = vec![
        workflow("release", "Publishes a new version 发布新版本."),
        workflow("triage", "Sorts reports of defects."),
    ];
    world.settings.workflows = Arc::new(Workflows::new(WorkflowChoice::Lexical, all));
    world
}

/// Makes the calls of the turns one after the other: which one is next follows from how many
/// replies the request has.
fn script(turns: &[Turn]) -> Script {
    let mut replies: Vec<Option<&'static str>> = Vec::new();
    for (_, calls) in turns {
        replies.extend(calls.iter().copied().map(Some));
        replies.push(None);
    }
    Arc::new(move |made, _| match replies.get(made).copied().flatten() {
        Some(name) => {
            let arguments = match name {
                "tool_search" => "{\"query\":\"rare\"}",
                "tool_expand_tools" => "{\"tool_names\":[\"rare\"]}",
                _ => "{\"n\":1}",
            };
            calls(&[(&format!("c{made}"), name, arguments)])
        }
        None => say("done"),
    })
}

/// The requests of these turns, over a process that lasts or over one for each turn.
async fn requests(turns: &[Turn], restarts: bool) -> Vec<Value> {
    let world = world();
    let script = script(turns);
    let mut asked = Vec::new();
    let mut process = world.alive(script.clone());
    for (words, _) in turns {
        let (end, _) = process.prompt(words).await;
        assert_eq!(end.outcome, RunOutcome::Success);
        if restarts {
            asked.append(&mut process.model.asked.lock().unwrap());
            process = world.alive(script.clone());
        }
    }
    asked.append(&mut process.model.asked.lock().unwrap());
    asked
        .iter()
        .map(|asked| serde_json::from_str(asked).unwrap())
        .collect()
}

/// The conversation of a request, without what stands behind it in this one.
fn conversation(request: &Value) -> Vec<Value> {
    let mut messages = request["messages"].as_array().unwrap().clone();
    let is_opening = messages.len() == 1;
    if messages.last().is_some_and(|last| last[0] == "system") && !is_opening {
        messages.pop();
    }
    messages
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let calls = proptest::collection::vec(proptest::sample::select(CALLS.to_vec()), 0..4);
    let turn = (proptest::sample::select(PROMPTS.to_vec()), calls);
    proptest::collection::vec(turn, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_turn_adds_nothing_before_what_is_there(turns in turns()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let all = requests(&turns, false).await;
            for request in &all {
                assert_eq!(request["system"], "be brief\n\nhere\n\nso\n\nskills");
            }
            for pair in all.windows(2) {
                let (before, after) = (conversation(&pair[0]), conversation(&pair[1]));
                assert!(after.len() > before.len());
                assert_eq!(before, after[..before.len()]);
            }
            // Whoever makes them, they are the same bytes.
            assert_eq!(all, requests(&turns, true).await);
        });
    }
}
