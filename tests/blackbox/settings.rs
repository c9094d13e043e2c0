//! What keys of the configuration change in the requests to a provider.

use serde_json::Value;

use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::{answer, call, calls};

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

/// A10: what a provider does not take of a schema is not shown, and holds all the same.
#[test]
fn a10_what_a_provider_is_not_shown_of_a_schema_still_holds() {
    let provider = Provider::start(OpenAi);
    let world = provider
        .world()
        .with("OUTFITTER_MODEL__PROVIDER", "gemini")
        .with("GEMINI_API_KEY", "sk-of-gemini");
    let more = r#"{"expression":"6*7","precision":2,"not_there":true}"#;
    provider.then(calls(OpenAi, &[call("a", "calculator", more)]));
    provider.then(answer(OpenAi, "done"));
    world.run(&["run", "hi"]).exits(0);
    let requests = provider.requests();
    let shown = requests[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["function"]["name"] == "calculator")
        .unwrap();
    assert!(
        !shown.to_string().contains("additionalProperties"),
        "{shown}"
    );
    let result = requests[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(result["role"], "tool");
    let said = result["content"].as_str().unwrap();
    assert!(
        said.contains("invalid_arguments") && said.contains("not_there"),
        "{said}"
    );
}

#[test]
fn a_model_without_calls_makes_them_by_a_reply_that_is_held_to_a_schema() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config("[model]\ntool_mode = \"json_schema\"\n[tools]\navailable = [\"calculator\"]\n");
    let call = r#"{"name": "calculator", "arguments": {"expression": "6*7"}}"#;
    provider.then(answer(OpenAi, call));
    provider.then(answer(OpenAi, r#"{"answer": "it is 42"}"#));
    let ran = world.run(&["run", "what is six times seven?"]).exits(0);
    assert!(ran.shown().contains("it is 42"), "{}", ran.shown());
    assert!(!ran.shown().contains("{\"answer\""), "{}", ran.shown());
    let requests = provider.requests();
    assert!(requests[0].get("tools").is_none());
    assert_eq!(requests[0]["response_format"]["type"], "json_schema");
    let messages = requests[1]["messages"].as_array().unwrap();
    let [.., written, result] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!(written["role"], "assistant");
    let said = result["content"].as_str().unwrap();
    assert!(
        said.starts_with("The result of calculator:\n") && said.contains("42"),
        "{said}"
    );
}
