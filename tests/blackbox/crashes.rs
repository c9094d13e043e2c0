//! `kill -9` at any moment: what was recorded stands, nothing is done twice that must not be, and
//! the session goes on.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fake::{Received, Step};
use crate::lines::Lines;
use crate::process_tree::{gone, mark, until_there};
use crate::provider::Provider;
use crate::replies::goes_on;
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::{answer, call, calls};
use crate::world::World;

/// Answers as a model with a plan: three appends one after the other, then an answer. What it says
/// depends on the conversation alone, so that a request that is made again gets the same answer.
fn planner(wire: Wire) -> impl FnMut(&Received) -> Vec<Step> + Send {
    move |received| {
        let request = received.json();
        let done = crate::requests::calls(wire, &request).len();
        if done == 6 {
            return answer(wire, "all written");
        }
        let text = format!("line {}\n", done / 2);
        let append = json!({"path": "log.txt", "content": text, "mode": "append"}).to_string();
        let (write, read) = (format!("w{done}"), format!("r{done}"));
        calls(
            wire,
            &[
                call(&write, "file_write", &append),
                call(&read, "list_dir", "{}"),
            ],
        )
    }
}

/// Goes on until the turn is over, and looks at what it left.
#[track_caller]
fn finish(world: &World, provider: &Provider, wire: Wire, session: &str) {
    let replay = world.run(&["sessions", "replay", session, "--json"]);
    if replay.code == Some(5) {
        // Killed before anything was recorded.
        world
            .run(&["run", "--json", "--session", session, "go"])
            .exits(0);
    } else if !replay
        .stdout
        .contains("\"success\",\"answer\":\"all written\"")
    {
        let ran = world.run(&["run", "--json", "--session", session]);
        ran.exits(0).lines();
    }
    let replay = world
        .run(&["sessions", "replay", session, "--json"])
        .exits(0);
    let lines = Lines::replayed(&replay.stdout);
    provider.requests();

    let written = std::fs::read_to_string(world.work("log.txt")).unwrap_or_default();
    let mut seen: Vec<&str> = written.lines().collect();
    seen.sort_unstable();
    let once = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), once, "an append was made twice: {written}");
    // What is missing was said to be uncertain, and what is uncertain has an output that says so.
    let outputs = lines.outputs();
    let of = |tool: &str, status: &str| {
        let all = outputs.iter();
        all.filter(|output| output["tool_name"] == tool && output["status"] == status)
            .count()
    };
    assert_eq!(of("list_dir", "success"), 3, "a reading call may run again");
    let (success, interrupted) = (of("file_write", "success"), of("file_write", "interrupted"));
    assert_eq!(success + interrupted, 3, "{}", replay.stdout);
    assert!(
        (success..=success + interrupted).contains(&once),
        "{written}"
    );
    assert!(interrupted <= 1);
    goes_on_from_here(world, provider, wire, session);
}

fn goes_on_from_here(world: &World, provider: &Provider, wire: Wire, session: &str) {
    goes_on(world, provider, wire, session);
}

/// Kills a run at this moment, or after it when it was faster.
fn killed_after(world: &World, session: &str, moment: Duration) {
    let mut running = world.start(&["run", "--json", "--session", session, "go"]);
    let begin = Instant::now();
    while begin.elapsed() < moment && !running.is_over() {
        std::thread::sleep(Duration::from_millis(1));
    }
    if !running.is_over() {
        running.signal(Signal::KILL);
    }
    running.wait();
}

#[test]
fn a_run_killed_at_any_moment_goes_on_and_does_nothing_twice() {
    let wire = OpenAi;
    // How long a whole one takes here, so that the moments are spread over it.
    let provider = Provider::answering(wire, planner(wire));
    let world = provider.world();
    let begin = Instant::now();
    world
        .run(&["run", "--json", "--session", "whole", "go"])
        .exits(0);
    let whole = begin.elapsed();
    for moment in 1..=12 {
        let provider = Provider::answering(wire, planner(wire));
        let world = provider.world();
        killed_after(&world, "s", whole * moment / 12);
        finish(&world, &provider, wire, "s");
    }
}

/// The same, but killed as soon as a line of a kind is seen: between what is recorded and what
/// comes after it.
#[test]
fn a_run_killed_after_any_line_goes_on_and_does_nothing_twice() {
    let wire = Anthropic;
    for seq in [1, 2, 3, 5, 8, 9, 10, 11, 13, 17, 21, 25] {
        let provider = Provider::answering(wire, planner(wire));
        let world = provider.world();
        let mut running = world.start(&["run", "--json", "--session", "s", "go"]);
        running.until_stdout(&format!("\"seq\":{seq},"));
        if !running.is_over() {
            running.signal(Signal::KILL);
        }
        running.wait();
        finish(&world, &provider, wire, "s");
    }
}

#[test]
fn a_command_dies_with_the_program_and_is_not_run_again() {
    let wire = OpenAi;
    let provider = Provider::start(wire);
    let world = provider.world();
    let mark = mark();
    let command = format!(
        "echo ran >> count.txt; (setsid bash -c 'exec -a {mark} sleep 300' &); echo up; sleep 300"
    );
    let arguments = json!({"command": command}).to_string();
    provider.then(calls(
        wire,
        &[call("c1", "execute_shell_command", &arguments)],
    ));
    let running = world.start(&["run", "--json", "--session", "s", "go"]);
    until_there(&mark);
    running.until_stdout("\"up\\n\"");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    gone(&mark);

    provider.then(answer(wire, "I see that it was interrupted"));
    let ran = world.run(&["run", "--json", "--session", "s"]).exits(0);
    let lines = ran.lines();
    assert_eq!(lines.outputs()[0]["status"], "interrupted");
    assert_eq!(lines.outputs()[0]["error"]["code"], "interrupted");
    assert!(lines.all("run_started")[0]["resumes"].is_string());
    assert!(lines.warnings().contains(&"recovered"), "{lines:?}");
    let told = crate::requests::results(wire, &provider.last_request());
    assert!(told[0].1.contains("interrupted"), "{told:?}");
    let count = std::fs::read_to_string(world.work("count.txt")).unwrap();
    assert_eq!(count, "ran\n");
    goes_on(&world, &provider, wire, "s");
}

/// A new prompt after a crash closes what is open.
#[test]
fn a_new_prompt_after_a_crash_closes_the_open_calls() {
    let wire = Anthropic;
    let provider = Provider::start(wire);
    let world = provider.world();
    let arguments = json!({"command": "echo up; sleep 300"}).to_string();
    provider.then(calls(
        wire,
        &[
            call("c1", "execute_shell_command", &arguments),
            call("c2", "calculator", r#"{"expression":"1"}"#),
        ],
    ));
    let running = world.start(&["run", "--json", "--session", "s", "go"]);
    running.until_stdout("\"up\\n\"");
    running.signal(Signal::KILL);
    running.wait();
    goes_on(&world, &provider, wire, "s");
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = Lines::replayed(&replay.stdout);
    let statuses: Vec<&Value> = lines.outputs().iter().map(|out| &out["status"]).collect();
    assert_eq!(lines.outputs().len(), 2, "{statuses:?}");
}

#[test]
fn a_direct_call_that_is_killed_leaves_a_session_that_can_be_used() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let arguments = json!({"command": "echo up > up.txt; sleep 300"}).to_string();
    let running = world.start(&[
        "tools",
        "call",
        "execute_shell_command",
        "--session",
        "s",
        "--args",
        &arguments,
    ]);
    let limit = Instant::now() + crate::world::HANGS;
    while !world.work("up.txt").exists() {
        assert!(Instant::now() < limit, "the command never starts");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::KILL);
    running.wait();
    goes_on(&world, &provider, OpenAi, "s");
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = Lines::replayed(&replay.stdout);
    assert_eq!(lines.outputs()[0]["status"], "interrupted");
}
