//! Calls over `/mcp` that take long, on the wire of a real server.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};

use crate::http::{At, Reply};
use crate::mcp::Mcp;
use crate::scripted::{ADMIN, scripted};
use crate::served::Serving;
use crate::world::{HANGS, World};

fn world() -> World {
    scripted(&json!([{"text": "hello"}]), ADMIN)
}

/// A client, and the session of its calls.
fn client<'a>(at: &'a At, era: &str) -> Mcp<'a> {
    match era {
        "modern" => Mcp::modern(at),
        _ => {
            let client = Mcp::legacy(at);
            // The first call of a session is the library's in any case.
            client.call("current_time", &json!({}));
            client
        }
    }
}

/// Says nothing until the file `go` is there.
fn quiet() -> Value {
    json!({"command": "touch begun; until [ -e go ]; do sleep 0.02; done; echo made"})
}

/// The file of the session of the only client.
fn file(world: &World, at: &At, name: &str) -> std::path::PathBuf {
    let sessions = at.get("/v1/sessions").is(200).json();
    let id = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    world.data(&format!("files/local/local/{id}/{name}"))
}

fn until(mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + HANGS;
    while !is_so() {
        assert!(Instant::now() < limit, "it never comes to be so");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn begun(world: &World, at: &At) {
    until(|| {
        let sessions = at.get("/v1/sessions").is(200).json();
        sessions["sessions"][0]["id"].is_string() && file(world, at, "begun").exists()
    });
}

/// A waiting call got no header and no heartbeat where it had asked for progress and there was none.
#[rstest]
fn a_quiet_call_has_a_head_and_signs_of_life_and_then_its_answer(
    #[values("modern", "legacy")] era: &str,
    #[values(false, true)] wants_progress: bool,
) {
    let world = world();
    let serving = Serving::start(&world);
    let at = &serving.at;
    let client = client(at, era);
    let token = wants_progress.then(|| json!("t"));
    let asked = client.begin_with("execute_shell_command", &quiet(), token);
    let mut reply = Reply::read(asked);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    reply.until_text(":");
    begun(&world, at);
    std::fs::write(file(&world, at, "go"), "").unwrap();
    let told = reply.whole().sse();
    let answers = told.iter().filter(|message| message["id"] == 7);
    let answers: Vec<&Value> = answers.collect();
    assert_eq!(answers.len(), 1, "{told:#?}");
    let result = &answers[0]["result"];
    assert_ne!(result["isError"], true, "{result}");
    assert!(result.to_string().contains("made"), "{result}");
    serving.stop();
}

/// A call that was called off was answered with an error.
#[rstest]
fn a_call_that_was_called_off_is_not_answered(#[values(false, true)] wants_progress: bool) {
    let world = world();
    let serving = Serving::start(&world);
    let at = &serving.at;
    let client = client(at, "legacy");
    let token = wants_progress.then(|| json!("t"));
    let asked = client.begin_with("execute_shell_command", &quiet(), token);
    begun(&world, at);
    client.cancel();
    let told = Reply::read(asked).whole();
    assert_eq!(told.status, 200, "{}", told.text);
    assert!(
        told.sse().iter().all(|message| message["id"] != 7),
        "{}",
        told.text
    );
    // The session is free again.
    let result = client.call("calculator", &json!({"expression": "6*7"}));
    assert_ne!(result["isError"], true, "{result}");
    serving.stop();
}

/// Who called is answered when the server is told to stop, and the connection ends after that.
#[rstest]
fn a_call_is_answered_by_a_server_that_ends(
    #[values("modern", "legacy")] era: &str,
    #[values(false, true)] wants_progress: bool,
) {
    let world = world();
    let serving = Serving::start(&world);
    let client = client(&serving.at, era);
    let token = wants_progress.then(|| json!("t"));
    let asked = client.begin_with("execute_shell_command", &quiet(), token);
    begun(&world, &serving.at);
    serving.terminate();
    let told = Reply::read(asked).whole();
    let messages = match told.text.starts_with('{') {
        true => vec![told.json()],
        false => told.sse(),
    };
    let answer = messages.iter().find(|message| message["id"] == 7);
    let answer = answer.unwrap_or_else(|| panic!("no answer: {}", told.text));
    assert_eq!(
        crate::mcp::code(&answer["result"]).as_deref(),
        Some("interrupted")
    );
    serving.ended();
}

/// What the protocol demands of a client is said where it is missing.
#[rstest]
fn a_client_that_takes_only_one_form_is_told_what_to_take(
    #[values("application/json", "text/event-stream", "*/*")] takes: &str,
) {
    let world = world();
    let serving = Serving::start(&world);
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let told = serving
        .at
        .open("POST", "/mcp", &[("accept", takes)], Some(&body))
        .whole();
    told.is_problem(406, "usage");
    let hint = told.json()["hint"].as_str().unwrap().to_owned();
    assert!(
        hint.contains("application/json, text/event-stream"),
        "{hint}"
    );
    serving.stop();
}
