//! The tools that fit a turn, where there are too many to show: chosen once, and kept.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use async_trait::async_trait;
use outfitter_agent::{Input, TurnLog};
use outfitter_core::*;
use outfitter_tools::{Presentation, Suggestion, tool_search};
use serde_json::{Value, json};

use crate::harness::*;

struct Named(ToolSpec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::text("done").into())
    }
}

fn named(name: &str, description: &str) -> Arc<dyn Tool> {
    let name = ToolName::new(name).unwrap();
    Arc::new(Named(ToolSpec::new(
        name,
        description,
        json!({"type": "object"}),
    )))
}

fn world(suggestion: Suggestion) -> World {
    let mut world = World::new(vec![
        tool_search(),
        named("letters", "Writes letters."),
        named("trains", "Books trains."),
        named("weather", "Tells the weather.\nNot for yesterday."),
        named("glob", "Finds files."),
        named("paint", "Mixes colours."),
    ]);
    world.presentation = Presentation {
        suggestion,
        threshold: 2,
        ..Presentation::default()
    };
    world
}

fn tools(asked: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(asked).unwrap();
    let names = request["tools"].as_array().unwrap();
    names
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

fn asked(process: &Process) -> Vec<String> {
    process.model.asked.lock().unwrap().clone()
}

fn is_choosing(request: &ModelRequest) -> bool {
    request.system.contains("You choose tools")
}

async fn warnings(world: &World) -> Vec<String> {
    let entries = world.entries().await;
    let said = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Event(EventBody::Warning {
            code: WarningCode::Fallback,
            message,
        }) => Some(message.clone()),
        _ => None,
    });
    said.collect()
}

async fn audit(world: &World) -> Vec<String> {
    let session = SessionId::new("s").unwrap();
    let log = TurnLog::read(&*world.log, &Scope::from(&*world.who), &session)
        .await
        .unwrap();
    log.suggested_tools()
        .into_iter()
        .map(ToString::to_string)
        .collect()
}

#[tokio::test]
async fn each_turn_is_shown_what_its_words_fit_and_the_rest_is_found_and_stays() {
    let world = world(Suggestion::Lexical);
    let process = world.alive(Arc::new(|replies, _| match replies {
        0 => calls(&[("s", "tool_search", "{\"query\":\"book a train\"}")]),
        1 => calls(&[("t", "trains", "{}")]),
        _ => say("done"),
    }));
    process.prompt("how is the weather?").await;
    let requests = asked(&process);
    assert_eq!(tools(&requests[0]), ["glob", "tool_search", "weather"]);
    assert!(
        requests[0].contains("3 more tools can be used"),
        "{}",
        requests[0]
    );
    assert_eq!(
        tools(&requests[1]),
        ["glob", "tool_search", "trains", "weather"]
    );
    assert_eq!(world.outputs().await["t"][0].status, Status::Success);
    assert_eq!(
        audit(&world).await,
        ["glob", "tool_search", "trains", "weather"]
    );

    // After a restart, and for other words.
    let restarted = world.alive(Arc::new(|_, _| say("done")));
    restarted.prompt("write a letter").await;
    let last = tools(asked(&restarted).last().unwrap());
    assert_eq!(
        last,
        ["glob", "letters", "tool_search", "trains", "weather"]
    );
    assert_eq!(warnings(&world).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_model_is_asked_once_a_turn_with_whole_lines_and_its_choice_is_counted() {
    let world = world(Suggestion::Model);
    let process = world.alive(Arc::new(|replies, request| {
        if is_choosing(request) {
            return say("Here they are:\n```json\n[\"trains\", \"no_such\", \"glob\"]\n```");
        }
        match replies {
            0 => calls(&[("t", "trains", "{}")]),
            _ => say("done"),
        }
    }));
    process.prompt("go to the sea").await;
    let requests = asked(&process);
    assert_eq!(requests.len(), 3, "one to choose, two of the turn");
    assert!(
        requests[0].contains("- weather: Tells the weather.\\n"),
        "{}",
        requests[0]
    );
    assert!(requests[0].contains("go to the sea"), "{}", requests[0]);
    assert!(
        !requests[0].contains("- glob:"),
        "what is always shown is not asked about"
    );
    assert_eq!(tools(&requests[1]), ["glob", "tool_search", "trains"]);
    assert_eq!(tools(&requests[2]), ["glob", "tool_search", "trains"]);
    assert!(
        !requests[1].contains("Here they are"),
        "the choice is no part of the conversation"
    );
    let usages = world.entries().await;
    let usages = usages
        .iter()
        .filter(|entry| matches!(entry.body, EntryBody::Event(EventBody::Usage(_))));
    assert_eq!(usages.count(), 3);
}

#[rstest::rstest]
#[case::words(say("weather, I think"))]
#[case::unknown_names(say("[\"nothing\"]"))]
#[case::broken_off(vec![text("[\"wea")])]
#[case::an_error(vec![Err(ModelError::Protocol { message: "no stream".to_owned() })])]
#[tokio::test]
async fn where_the_model_does_not_choose_the_words_do_and_it_is_said(
    #[case] reply: Vec<Result<ModelDelta, ModelError>>,
) {
    let world = world(Suggestion::Model);
    let reply = std::sync::Mutex::new(Some(reply));
    let process = world.alive(Arc::new(move |_, request| {
        if is_choosing(request) {
            return reply.lock().unwrap().take().unwrap();
        }
        say("done")
    }));
    let (end, _) = process.prompt("how is the weather?").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    assert_eq!(
        tools(&asked(&process)[1]),
        ["glob", "tool_search", "weather"]
    );
    assert_eq!(warnings(&world).await.len(), 1);
}

#[rstest::rstest]
#[case(Suggestion::Off, "how is the weather?")]
#[case(Suggestion::Lexical, "how is the weather?")]
#[case(Suggestion::Model, "go to the sea")]
#[tokio::test]
async fn a_run_says_first_what_its_first_request_shows(
    #[case] suggestion: Suggestion,
    #[case] prompt: &str,
) {
    let world = world(suggestion);
    let script: Script = Arc::new(|_, request| match is_choosing(request) {
        true => say("[\"trains\"]"),
        false => say("done"),
    });
    for words in [prompt, "write a letter", "no such thing"] {
        // Also after a restart, where the session was shown something else before.
        let process = world.alive(script.clone());
        let (_, events) = process.prompt(words).await;
        let EventBody::RunStarted(started) = &events[0].body else {
            unreachable!("{events:?}");
        };
        let first = asked(&process);
        let first = first
            .iter()
            .find(|asked| !asked.contains("You choose tools"));
        assert_eq!(started.tools.to_vec(), tools(first.unwrap()), "{words}");
    }
}

#[tokio::test]
async fn what_a_useless_choice_took_is_counted_too() {
    let world = world(Suggestion::Model);
    let process = world.alive(Arc::new(|_, request| match is_choosing(request) {
        true => say("I would rather not"),
        false => say("done"),
    }));
    let (_, events) = process.prompt("go").await;
    let usages = bodies(&events)
        .into_iter()
        .filter(|body| matches!(body, EventBody::Usage(_)));
    assert_eq!(usages.count(), 2);
}

#[tokio::test]
async fn a_recovered_turn_makes_the_request_that_was_made() {
    // Whatever append the process dies at, the requests of the turn show the same tools and are
    // the same bytes.
    let script: Script = Arc::new(|replies, request| {
        if is_choosing(request) {
            return say("[\"trains\"]");
        }
        match replies {
            0 => calls(&[("t", "trains", "{}")]),
            _ => say("done"),
        }
    });
    let whole = world(Suggestion::Model);
    let process = whole.alive(script.clone());
    process.prompt("go to the sea").await;
    let of_turn = |requests: Vec<String>| -> Vec<String> {
        requests
            .into_iter()
            .filter(|asked| !asked.contains("You choose tools"))
            .collect()
    };
    let expected = of_turn(asked(&process));
    for left in 1..9 {
        let world = world(Suggestion::Model);
        let mortal = Arc::new(Mortal {
            inner: world.log.clone(),
            left: AtomicU64::new(left),
        });
        let dying = world.process(Model::new(script.clone()), mortal);
        let _ = dying.run(Input::Prompt("go to the sea".to_owned())).await;
        let recovered = world.alive(script.clone());
        if recovered.run(Input::Continue).await.0.is_err() {
            continue;
        }
        let made = of_turn([asked(&dying), asked(&recovered)].concat());
        for request in &made {
            assert!(
                expected.contains(request),
                "died at append {left}: {request}"
            );
        }
        assert_eq!(made.last(), expected.last(), "died at append {left}");
    }
}
