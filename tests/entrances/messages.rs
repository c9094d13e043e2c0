//! Messages, from outside: sent by one session and read by another, or by whoever a channel leads to.

use rstest::rstest;
use serde_json::{Value, json};

use crate::direct::call;
use crate::scripted::scripted;
use crate::world::World;

const INBOX: &str = "[channels.team]\nkind = \"inbox\"\n\
    [permissions]\nrules = [{ tool = \"send_message\", decision = \"allow\" }]\n";

/// What the person and others said in a session, in order.
fn said(world: &World, session: &str) -> Vec<String> {
    let shown = world
        .run(&["sessions", "show", session, "--json"])
        .exits(0)
        .json();
    let messages = shown["messages"].as_array().unwrap();
    let said = messages.iter().filter(|message| message["role"] == "user");
    said.map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_message_waits_for_the_session_it_is_for_and_is_told_once() {
    let yes = json!({"text": "yes"});
    let world = scripted(&json!([yes, yes, yes]), INBOX);
    world.run(&["run", "--session", "a", "first"]).exits(0);
    let message = json!({"text": "the cake is done", "stream_id": "a", "polish": false});
    let sent = call(&world, "send_message", &message).exits(0).json();
    assert_eq!(
        sent["result"],
        json!({"stream_id": "a", "created": true, "parts": 1})
    );
    assert_eq!(said(&world, "a"), ["first"], "it waits");

    world.run(&["run", "--session", "b", "elsewhere"]).exits(0);
    assert_eq!(said(&world, "b"), ["elsewhere"], "it is for another");

    for _ in 0..2 {
        world.run(&["run", "--session", "a", "next"]).exits(0);
    }
    let told = said(&world, "a");
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(
        told[1].starts_with("[A message from another conversation"),
        "{told:#?}"
    );
    assert!(told[1].ends_with("\n\nthe cake is done"), "{told:#?}");
    assert_eq!(told[2..], ["next", "next"]);
}

#[test]
fn a_message_to_a_person_is_told_by_whichever_session_of_theirs_runs_next() {
    let world = scripted(&json!([{"text": "yes"}]), INBOX);
    let message = json!({"text": "water the plants", "user_id": "local", "polish": false});
    call(&world, "send_message", &message).exits(0);
    let ran = world
        .run(&["run", "--session", "c", "--json", "hi"])
        .exits(0);
    assert!(ran.stdout.contains("water the plants"), "{}", ran.shown());
    world.run(&["run", "--session", "d", "hi"]).exits(0);
    assert_eq!(said(&world, "d"), ["hi"]);
}

#[test]
fn a_message_to_nowhere_is_refused() {
    let world = scripted(&json!([{"text": "yes"}]), INBOX);
    let to = |to: Value| {
        let mut message = json!({"text": "hi", "polish": false});
        for (key, value) in to.as_object().unwrap() {
            message[key] = value.clone();
        }
        call(&world, "send_message", &message).json()["error"]["code"].clone()
    };
    assert_eq!(to(json!({"stream_id": "nobody"})), "not_found");
    assert_eq!(to(json!({"stream_id": "../../../etc"})), "not_found");
    assert_eq!(to(json!({"group_id": "g"})), "invalid_arguments");
    assert_eq!(to(json!({})), "invalid_arguments");
    assert_eq!(
        to(json!({"stream_id": "a", "user_id": "b"})),
        "invalid_arguments"
    );
    assert_eq!(
        to(json!({"user_id": "b", "platform": "qq"})),
        "invalid_arguments"
    );
}

#[test]
fn a_message_to_somebody_else_needs_more_than_the_tool() {
    let world = scripted(
        &json!([{"text": "yes"}]),
        "[channels.out]\nkind = \"file\"\n",
    );
    let message = |user: &str| json!({"text": "hi", "user_id": user, "polish": false});
    call(&world, "send_message", &message("local")).exits(0);
    let refused = call(&world, "send_message", &message("bob"))
        .exits(4)
        .json();
    assert_eq!(refused["error"]["code"], "needs_approval");
    let sent = std::fs::read_to_string(world.data("out.jsonl")).unwrap();
    assert_eq!(sent.lines().count(), 1, "{sent}");
}

/// A host adds where a call comes from to its arguments. `calls` is the session of the call.
#[test]
fn the_conversation_of_the_call_itself_is_not_taken_for_whom_a_message_is_for() {
    let world = scripted(
        &json!([{"text": "yes"}]),
        "[channels.out]\nkind = \"file\"\n",
    );
    let message = |to: Value| {
        let mut message = json!({"text": "hi", "stream_id": "calls", "polish": false});
        message
            .as_object_mut()
            .unwrap()
            .extend(to.as_object().unwrap().clone());
        message
    };
    call(&world, "send_message", &message(json!({}))).exits(0);
    let other = call(&world, "send_message", &message(json!({"user_id": "bob"}))).exits(4);
    let error = &other.json()["error"];
    assert_eq!(error["code"], "needs_approval");
    let sent = std::fs::read_to_string(world.data("out.jsonl")).unwrap();
    assert_eq!(sent.lines().count(), 1, "{sent}");
}

#[test]
fn a_message_is_polished_by_the_model_that_is_named() {
    let world = scripted(
        &json!([{"expect": "their is cake", "text": "There is cake."}]),
        "[channels.out]\nkind = \"file\"\n[send]\npolish_model = \"scripted/any\"\n",
    );
    let message = json!({"text": "their is cake", "user_id": "local"});
    let sent = call(&world, "send_message", &message).exits(0).json();
    assert_eq!(sent["result"].get("note"), None, "{sent}");
    let other = json!({"text": "it fails at this", "user_id": "local"});
    let sent = call(&world, "send_message", &other).exits(0).json();
    let note = sent["result"]["note"].as_str().unwrap();
    assert!(note.starts_with("sent as it was written: "), "{note}");
    let lines = std::fs::read_to_string(world.data("out.jsonl")).unwrap();
    let texts: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].clone())
        .collect();
    assert_eq!(texts, ["There is cake.", "it fails at this"]);
}

#[rstest]
#[case("[channels.bot]\nkind = \"webhook\"\n", "`channels.bot` needs `url`")]
#[case("[channels.bot]\nplatform = \"qq\"\n", "`channels.bot` needs `url`")]
#[case(
    "[channels.bot]\nkind = \"inbox\"\nurl = \"http://a\"\n",
    "`channels.bot` is an inbox, which has no `url`"
)]
#[case(
    "[contacts]\nsource = \"crm\"\n",
    "`contacts.source` names no program of `commands`: \"crm\""
)]
#[case(
    "[send]\npolish_model = \"nobody/x\"\n",
    "`send.polish_model` names no provider: \"nobody\""
)]
#[case("[send]\npolish_model = \"x\"\n", "`send.polish_model`")]
#[case("[channels.bot]\nkind = \"pigeon\"\nurl = \"x\"\n", "kind")]
#[case("[channels.bot]\nurl = \"http://a\"\nretrys = 1\n", "retries")]
fn what_cannot_work_is_named_before_anything_starts(#[case] toml: &str, #[case] named: &str) {
    let world = World::new();
    world.config(toml);
    let checked = world.run(&["config", "check"]).exits(2);
    assert!(checked.stdout.contains(named), "{}", checked.shown());
    assert!(
        checked.stdout.contains("outfitter.toml"),
        "{}",
        checked.shown()
    );
    let args = ["tools", "call", "current_time"];
    let refused = world.run(&args).exits(2);
    assert!(
        refused
            .stderr
            .contains("error: failed to accept the configuration"),
        "{}",
        refused.shown()
    );
}
