//! Where a prompt comes from, and what is no prompt.

use rstest::rstest;

use crate::provider::Provider;
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::answer;
use crate::world::World;

fn asked(provider: &Provider) -> String {
    let request = provider.last_request();
    let last = request["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    match &last["content"] {
        serde_json::Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap().to_owned(),
    }
}

#[rstest]
fn a_prompt_from_stdin_is_taken_as_it_is(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let text = "  two\r\nlines \u{feff}and 北京 \u{1b}[31m\u{0}";
    provider.then(answer(wire, "fine"));
    let ran = world.run_with_stdin(&["run", "-"], format!("{text}\n").as_bytes());
    ran.exits(0);
    assert_eq!(asked(&provider), text);
}

#[test]
fn words_are_one_prompt_and_a_dash_among_them_is_a_word() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    provider.then(answer(OpenAi, "fine"));
    world.run(&["run", "what", "is", "-", "this"]).exits(0);
    assert_eq!(asked(&provider), "what is - this");
    provider.then(answer(OpenAi, "fine"));
    world
        .run(&["run", "--", "--json", "is", "a", "flag"])
        .exits(0);
    assert_eq!(asked(&provider), "--json is a flag");
}

#[rstest]
#[case::none(&["run"])]
#[case::empty(&["run", ""])]
#[case::blank(&["run", " ", "\t"])]
#[case::empty_of_a_session(&["run", "--session", "s", ""])]
#[case::nothing_to_continue(&["run", "--session", "s"])]
#[case::nothing_on_stdin(&["run", "-"])]
fn what_is_no_prompt_is_a_mistake(#[case] args: &[&str], #[values(false, true)] json: bool) {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let mut args = args.to_vec();
    if json {
        args.insert(1, "--json");
    }
    let ran = world.run(&args).exits(2);
    if json {
        assert_eq!(ran.json()["error"]["code"], "usage", "{}", ran.shown());
    } else {
        assert_eq!(ran.stdout, "");
    }
    assert!(
        ran.stderr.starts_with("error: failed to "),
        "{}",
        ran.stderr
    );
    assert!(provider.requests().is_empty());
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(
        listed["sessions"],
        serde_json::json!([]),
        "nothing was begun"
    );
}

#[test]
fn a_finished_turn_has_nothing_to_continue() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    provider.then(answer(OpenAi, "fine"));
    world.run(&["run", "--session", "s", "hi"]).exits(0);
    let ran = world.run(&["run", "--session", "s"]).exits(2);
    assert!(ran.stderr.contains("hint: give a prompt"), "{}", ran.stderr);
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn a_prompt_that_is_no_text_is_a_mistake() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let ran = world.run_with_stdin(&["run", "-"], b"\xff\xfe");
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
}

#[test]
fn no_model_is_an_error_that_says_how_to_have_one() {
    let ran = World::new().run(&["run", "hi"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("OPENAI_API_KEY"), "{}", ran.stderr);
    assert!(ran.stderr.contains("demo"), "{}", ran.stderr);
}

#[test]
fn a_session_from_the_environment_is_the_session() {
    let provider = Provider::start(OpenAi);
    let world = provider.world().with("AGENT_SESSION_ID", "from-outside");
    provider.then(answer(OpenAi, "one"));
    world.run(&["run", "hi"]).exits(0);
    provider.then(answer(OpenAi, "two"));
    world.run(&["run", "and", "now?"]).exits(0);
    assert_eq!(
        provider.last_request()["messages"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    provider.then(answer(OpenAi, "three"));
    let ran = world
        .run(&["run", "--json", "--session", "flag", "hi"])
        .exits(0);
    assert_eq!(ran.lines().finished()["session_id"], "flag");
}
