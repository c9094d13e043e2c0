//! What keys of the configuration change in the requests to a provider.

use serde_json::Value;

use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::answer;

fn asked(toml: &str) -> (Provider, Value) {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(toml);
    world.write(
        "skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Makes tea.\n---\nBoil water, then wait.\n",
    );
    provider.then(answer(OpenAi, "done"));
    world.run(&["run", "how is tea made?"]).exits(0);
    let request = provider.last_request();
    (provider, request)
}

#[test]
fn a_system_prompt_of_ones_own_comes_first() {
    let (_, request) = asked("[agent]\nsystem_prompt = \"You are a teapot.\"\n");
    let first = &request["messages"][0];
    assert_eq!(first["role"], "system");
    assert!(
        first["content"]
            .as_str()
            .unwrap()
            .starts_with("You are a teapot."),
        "{first}"
    );
}

#[test]
fn only_the_tools_that_are_available_are_shown() {
    let (_, request) = asked("[tools]\navailable = [\"calc*\", \"grep\"]\n");
    let names: Vec<&str> = request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["calculator", "grep"]);
}

#[test]
fn a_key_is_taken_from_the_variable_that_is_named() {
    let provider = Provider::start(OpenAi);
    let world = provider.world().with("MY_KEY", "sk-of-my-own");
    world.config("[model]\nprovider = \"openai\"\napi_key_env = \"MY_KEY\"\n");
    provider.then(answer(OpenAi, "done"));
    world.run(&["run", "hi"]).exits(0);
    assert_eq!(
        provider.last_header("authorization").as_deref(),
        Some("Bearer sk-of-my-own")
    );
    assert_eq!(provider.last_request()["model"], "m");
}

#[test]
fn a_skill_that_is_loaded_is_there_from_the_first_request() {
    let instructions = "Boil water, then wait.";
    let (_, request) = asked("");
    assert!(!request.to_string().contains(instructions), "{request}");
    for load in ["[\"tea\"]", "\"auto\""] {
        let (_, request) = asked(&format!("[skills]\nload = {load}\n"));
        assert!(
            request.to_string().contains(instructions),
            "{load}: {request}"
        );
    }
}
