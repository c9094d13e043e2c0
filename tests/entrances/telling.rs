//! Forms, messages and contacts, from outside: asked here and answered there, sent by one session
//! and read by another, found in a program of the project.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};

use crate::served::{Serving, ends, of, outputs, words};
use crate::world::{HANGS, Ran, World};

/// A world with this model, and this in its configuration.
fn world(turns: &Value, more: &str) -> World {
    let world = World::new();
    world.write("model.yaml", turns.to_string());
    world.config(&format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n{more}",
        world.work("model.yaml")
    ));
    world
}

fn form(wait_seconds: u64, kind: &str) -> Value {
    let arguments = json!({
        "title": "A trip", "kind": kind, "wait_seconds": wait_seconds,
        "questions": [
            {"id": "where", "type": "text", "label": "Where to?", "required": true},
            {"id": "how", "type": "single", "label": "How?", "options": ["rail", "road"], "default": "rail"},
            {"id": "days", "type": "number", "label": "How long?"},
        ],
    });
    json!([
        {"tool_calls": [{"id": "form", "name": "questionnaire", "arguments": arguments}]},
        {"text": "all done"},
    ])
}

fn submitted() -> Value {
    json!({
        "status": "submitted", "auto_submit": false,
        "answers": {"where": "the sea", "how": "road", "days": 2.5},
    })
}

fn filled() -> Value {
    json!({"where": "the sea", "how": "road", "days": 2.5})
}

#[rstest]
fn a_form_is_one_question_and_its_answer_is_held_to_it(
    #[values("general", "plan_information", "plan_confirmation")] kind: &str,
) {
    let world = world(&form(300, kind), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    ends(&lines, "waiting");
    let asked = of(&lines, "question");
    assert_eq!(asked.len(), 1, "{lines:#?}");
    let asked = asked[0];
    assert_eq!(asked["question"], "A trip");
    assert_eq!(asked["questionnaire"]["kind"], kind);
    let ids: Vec<&Value> = asked["questionnaire"]["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| &question["id"])
        .collect();
    assert_eq!(ids, ["where", "how", "days"]);
    assert_eq!(asked["schema"]["required"], json!(["where"]));
    let id = asked["question_id"].as_str().unwrap();

    let path = format!("/v1/questions/{id}/answer");
    for wrong in [
        json!({}),
        json!({"where": ""}),
        json!({"where": "x", "how": "air"}),
        json!({"where": "x", "days": "2"}),
        json!({"where": "x", "who": "me"}),
        json!("the sea"),
        Value::Null,
    ] {
        at.post(&path, &json!({ "answer": wrong }))
            .is_problem(422, "invalid_arguments");
    }
    let open = at.get("/v1/sessions/s").json();
    assert_eq!(open["waiting"], json!([id]), "a refused answer is none");

    let lines = at.answer(id, &filled());
    ends(&lines, "success");
    let output = outputs(&lines)[0];
    assert_eq!(output["status"], "success");
    assert_eq!(output["result"], submitted());
    serving.stop();
}

#[test]
fn a_form_is_an_interrupt_of_agui_and_goes_on_with_its_answers() {
    let world = world(&form(300, "general"), "");
    let serving = Serving::start(&world);
    let mut input = words("m1");
    input["protocolVersion"] = json!("1.0");
    let told = serving.at.agui("t", "r1", &input).sse();
    let interrupts = told.last().unwrap()["outcome"]["interrupts"].clone();
    assert_eq!(interrupts.as_array().map(Vec::len), Some(1), "{told:#?}");
    assert_eq!(interrupts[0]["toolCallId"], "form");
    assert_eq!(
        interrupts[0]["responseSchema"]["required"],
        json!(["where"])
    );
    let resume = |run: &str, payload: Value| {
        let entry =
            json!({"interruptId": interrupts[0]["id"], "status": "resolved", "payload": payload});
        let input = json!({"protocolVersion": "1.0", "resume": [entry]});
        serving.at.agui("t", run, &input).sse()
    };
    let wrong = resume("r2", json!({"where": 7}));
    assert_eq!(
        wrong.last().unwrap()["code"],
        "invalid_arguments",
        "{wrong:#?}"
    );
    let told = resume("r3", filled());
    let last = told.last().unwrap();
    assert_eq!(last["outcome"]["type"], "success", "{told:#?}");
    let result = told
        .iter()
        .find(|event| event["type"] == "TOOL_CALL_RESULT");
    let content = result.unwrap()["content"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(content).unwrap(), submitted());
    serving.stop();
}

#[test]
fn a_form_is_answered_with_json_at_the_terminal() {
    let world = world(&form(300, "general"), "");
    let ran = world
        .run(&["run", "--session", "s", "--json", "go"])
        .exits(1);
    let asked = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked: Vec<Value> = asked.filter(|line| line["type"] == "question").collect();
    let id = asked[0]["question_id"].as_str().unwrap().to_owned();
    for wrong in ["the sea", r#"{"how":"road"}"#, r#"["the sea"]"#] {
        let refused = world.run(&["sessions", "answer", &id, wrong]).exits(2);
        assert!(
            refused.stderr.contains("error: failed to answer"),
            "{}",
            refused.shown()
        );
    }
    let answer = filled().to_string();
    let ran = world
        .run(&["sessions", "answer", &id, &answer, "--json"])
        .exits(0);
    assert_eq!(ran.lines().outputs()[0]["result"], submitted());
}

/// Nobody answers: the defaults are told, and are no answer.
#[rstest]
#[case::at_once(0)]
#[case::after_a_while(1)]
fn a_form_that_nobody_answers_in_time_is_no_success(#[case] wait_seconds: u64) {
    let world = world(&form(wait_seconds, "plan_confirmation"), "");
    let mut ran = world.run(&["run", "--session", "s", "--json", "go"]);
    let limit = Instant::now() + HANGS;
    while ran.lines().outcome() == "waiting" {
        assert!(Instant::now() < limit, "it never expires: {}", ran.shown());
        std::thread::sleep(Duration::from_millis(100));
        ran = world.run(&["run", "--session", "s", "--json"]);
    }
    let lines = ran.lines();
    assert_eq!(
        lines.outcome(),
        "success",
        "the run goes on: {}",
        ran.shown()
    );
    let output = lines.outputs()[0].clone();
    assert_eq!(output["status"], "timeout", "{output}");
    assert_eq!(output["error"]["code"], "timeout");
    assert_eq!(
        output["result"],
        json!({"status": "timeout", "answers": {"how": "rail"}, "auto_submit": true})
    );
}

const INBOX: &str = "[channels.team]\nkind = \"inbox\"\n\
    [permissions]\nrules = [{ tool = \"send_message\", decision = \"allow\" }]\n";

fn call(world: &World, tool: &str, args: &Value) -> Ran {
    let args = args.to_string();
    // A call without a session is made in memory, where no other session is.
    world.run(&[
        "tools",
        "call",
        tool,
        "--args",
        &args,
        "--json",
        "--session",
        "calls",
    ])
}

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
    let world = world(&json!([yes, yes, yes]), INBOX);
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
    let world = world(&json!([{"text": "yes"}]), INBOX);
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
    let world = world(&json!([{"text": "yes"}]), INBOX);
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
    let world = world(
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
    let world = world(
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
    let world = world(
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

fn with_contacts(more: &str) -> World {
    let world = World::new();
    world.config(&format!(
        "[commands.planner]\nprogram = \"planner\"\nenv = {{ PLANNER_DIR = {:?} }}\n{more}",
        world.work("planner")
    ));
    for (id, name) in [("u1", "Bob Reed"), ("u2", "Bobby"), ("u3", "小明")] {
        let mut contact = json!({"id": id, "name": name, "platform": "mail"});
        if id == "u1" {
            contact["conversation"] = json!("s1");
            contact["about"] = json!("likes tea");
            contact["frequency"] = json!(0.5);
        }
        let add = json!({"command": "contacts", "subcommand": "add", "args": contact});
        call(&world, "project_cli", &add).exits(0);
    }
    world
}

#[test]
fn contacts_come_from_the_program_that_is_named() {
    let world = with_contacts("[contacts]\nsource = \"planner\"\n[search]\nmax_results = 1\n");
    let result =
        |tool: &str, args: Value| call(&world, tool, &args).exits(0).json()["result"].clone();
    let bob = json!({"user_id": "u1", "name": "Bob Reed", "platform": "mail", "stream_id": "s1"});
    let ming = json!({"user_id": "u3", "name": "小明", "platform": "mail"});
    assert_eq!(
        result("search_users", json!({"keyword": "bob", "limit": 20})),
        json!({"users": [bob], "count": 1}),
        "the installation's limit holds"
    );
    assert_eq!(
        result("search_users", json!({"keywords": ["nobody", "的小明"]})),
        json!({"users": [ming], "count": 1})
    );
    assert_eq!(
        result("search_users", json!({"keyword": "nobody"})),
        json!({"users": [], "count": 0})
    );
    assert_eq!(
        result("query_person", json!({"person_name": "Bob Reed"})),
        json!({
            "person_id": "u1",
            "profile": {"name": "Bob Reed", "platform": "mail", "groups": [], "about": "likes tea"},
        })
    );
    assert_eq!(
        result("get_frequency", json!({"chat": "s1"})),
        json!({"value": 0.5})
    );
    let unknown = call(&world, "query_person", &json!({"person_name": "Zoe"}))
        .exits(5)
        .json();
    assert_eq!(unknown["error"]["code"], "not_found");
}

#[test]
fn contacts_of_a_program_that_is_not_named_are_not_asked_for() {
    let world =
        with_contacts("[commands.other]\nprogram = \"./other\"\n[contacts]\nsource = \"other\"\n");
    let output = call(&world, "search_users", &json!({"keyword": "bob"}));
    let output = output.exits(1).json();
    assert_eq!(output["error"]["code"], "unavailable", "{output}");
}

#[test]
fn what_a_source_of_contacts_cannot_do_is_no_fault_of_the_arguments() {
    let world = World::new();
    let search = json!({
        "command": "contacts", "subcommand": "search", "skill": "contacts",
        "summary": "People.", "effects": ["read"],
        "args": {"type": "object", "properties": {
            "keyword": {"type": "string"}, "limit": {"type": "integer"},
        }},
        "result": {"type": "object"},
    });
    let described = json!({"v": 1, "name": "crm", "commands": [search]});
    world.write(
        "crm",
        format!(
            "#!/bin/sh\nif [ \"$1\" = describe ]; then echo '{described}'\n\
             else echo '{{\"v\":1,\"status\":\"success\",\"result\":{{\"users\":[]}}}}'; fi\n"
        ),
    );
    let crm = world.work("crm");
    std::fs::set_permissions(&crm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.config(&format!(
        "[commands.crm]\nprogram = {crm:?}\n[contacts]\nsource = \"crm\"\n"
    ));
    call(&world, "search_users", &json!({"keyword": "bob"})).exits(0);
    let output = call(&world, "query_person", &json!({"person_name": "Bob"}));
    let error = &output.exits(1).json()["error"];
    assert_eq!(error["code"], "unavailable", "{error}");
    assert_eq!(error["retryable"], false, "{error}");
    assert_eq!(
        error["message"], "the program crm knows no contacts person",
        "{error}"
    );
}

#[test]
fn without_a_source_there_are_no_contacts() {
    let world = with_contacts("");
    for (tool, args) in [
        ("search_users", json!({"keyword": "bob"})),
        ("query_person", json!({"person_name": "Bob Reed"})),
        ("get_frequency", json!({"chat": "s1"})),
    ] {
        let output = call(&world, tool, &args).exits(1).json();
        assert_eq!(output["error"]["code"], "unavailable", "{tool}");
        let hint = output["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("[contacts] source"), "{hint}");
    }
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
