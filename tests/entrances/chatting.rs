//! A chat takes its configuration anew with SIGHUP, as a server does: at the prompt, in the middle of
//! an answer, whole or not at all. It ends when its terminal goes away.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::scripted::{configured, scripted};
use crate::world::{HANGS, READ, Running, Start, World};

/// A world whose model's second turn makes a call, and whose others say what they are told last.
fn world() -> World {
    let script = json!([
        {"text": "first"},
        {"tool_calls": [{"id": "c", "name": "calculator", "arguments": {"expression": "6*7"}}]},
        {"text": "third"},
        {"text": "fourth"},
    ]);
    scripted(&script, "")
}

fn start(world: &World) -> Running<'_> {
    let reading = Start {
        stdin: true,
        ..READ
    };
    world.start_as(&["chat", "--json"], reading)
}

/// Tells it to take its configuration anew, and gives what it says of that the n-th time.
fn reload(chat: &Running<'_>, time: usize) -> String {
    let limit = Instant::now() + HANGS;
    chat.signal(Signal::HUP);
    loop {
        let (_, stderr) = chat.taken();
        if let Some((at, _)) = stderr.match_indices("reload").nth(time - 1) {
            return stderr[at..].to_owned();
        }
        assert!(Instant::now() < limit, "it says nothing: {stderr}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn runs(stdout: &str) -> Vec<Vec<Value>> {
    let mut runs: Vec<Vec<Value>> = Vec::new();
    for line in stdout.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["type"] == "run_started" {
            runs.push(Vec::new());
        }
        runs.last_mut().unwrap().push(event);
    }
    runs
}

const WORKFLOW: &str = "[agent]\nworkflow = \"release\"\n[[workflows]]\nname = \"release\"\n\
                        steps = [\"Tag it.\"]\n[tools]\navailable = [\"grep\"]\n";

#[test]
fn what_is_changed_counts_from_the_next_words_on_and_no_words_are_lost() {
    let world = world();
    let mut chat = start(&world);
    chat.write_stdin(b"one\n");
    chat.until_stdout("run_finished");

    configured(&world, WORKFLOW);
    let said = reload(&chat, 1);
    assert!(
        said.contains("at once: agent.workflow, tools.available, workflows\n"),
        "{said}"
    );
    chat.write_stdin(b"two\n");
    chat.until_stdout("third");

    configured(&world, "[agent]\nworkflow = \"nothing\"\n");
    let said = reload(&chat, 2);
    assert!(said.contains("everything stays as it was"), "{said}");
    assert!(said.contains("`agent.workflow` must be"), "{said}");
    chat.write_stdin(b"three\n");
    chat.until_stdout("fourth");
    chat.close_stdin();

    let ran = chat.wait().exits(0);
    let runs = runs(&ran.stdout);
    assert_eq!(runs.len(), 3);
    assert_eq!(runs[0][0].get("workflow"), None);
    let has = |run: &[Value], tool: &str| {
        let tools = run[0]["tools"].as_array().unwrap();
        tools.iter().any(|name| name == tool)
    };
    assert!(has(&runs[0], "calculator"));
    for run in &runs[1..] {
        assert_eq!(run[0]["workflow"], "release");
        assert!(has(run, "grep") && !has(run, "calculator"));
    }
    // Also what the model knows of from before.
    let output = runs[1].iter().find_map(|event| {
        let output = &event["message"]["metadata"]["tool_agent_output"];
        output.is_object().then(|| output.clone())
    });
    assert_eq!(output.unwrap()["error"]["code"], "unknown_tool");
}

#[test]
fn an_answer_that_is_under_way_is_not_stopped() {
    let world = world();
    let script = json!([{"text": "slowly", "delay_ms": 1_500}, {"text": "done"}]);
    world.write("model.yaml", script.to_string());
    let mut chat = start(&world);
    chat.write_stdin(b"one\n");
    chat.until_stdout("run_started");
    configured(&world, "[agent]\nmax_turns = 7\n");
    let said = reload(&chat, 1);
    assert!(said.contains("at once: agent.max_turns\n"), "{said}");
    chat.until_stdout("run_finished");
    chat.close_stdin();
    let ran = chat.wait().exits(0);
    assert!(
        ran.stdout.contains("\"outcome\":\"success\""),
        "{}",
        ran.shown()
    );
}
