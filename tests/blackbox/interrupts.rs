//! Signals: a run that is stopped ends in order, kills what it started and can go on.

use rstest::rstest;
use rustix::process::Signal;
use serde_json::json;

use crate::fake::{Step, chunk, stream_head};
use crate::process_tree::{gone, mark, until_there};
use crate::provider::Provider;
use crate::replies::goes_on;
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::{Part, Reply, Stop, answer, call, calls};
use crate::world::{HANGS, READ, Start};

/// A reply that begins and then says nothing more.
fn begun(wire: Wire, parts: &[Part<'_>]) -> Vec<Step> {
    let reply = Reply::new(wire, parts, Stop::Done).without_last(3);
    vec![stream_head(), chunk(reply.body()), Step::WaitForClose]
}

#[rstest]
fn a_signal_during_the_stream_ends_it_with_what_came(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values(Signal::INT, Signal::TERM, Signal::HUP)] signal: Signal,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(begun(wire, &[Part::Text("half of an answer")]));
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    running.until_stdout("half of");
    running.signal(signal);
    let ran = running.wait().exits(130);
    assert_eq!(ran.lines().outcome(), "cancelled");
    let hint = "hint: `outfitter run --session s` without a prompt goes on with it";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    provider.then(answer(wire, "the whole answer"));
    let ran = world.run(&["run", "--json", "--session", "s"]).exits(0);
    assert_eq!(ran.lines().answer(), "the whole answer");
    provider.last_request();
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn a_signal_before_anything_came_ends_the_run(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(vec![Step::WaitForClose]);
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    provider.until_requests(1);
    running.signal(Signal::INT);
    assert_eq!(running.wait().exits(130).lines().outcome(), "cancelled");
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn a_signal_while_it_waits_to_ask_again_ends_the_run(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(crate::fake::whole(
        "429 Too Many Requests",
        "retry-after: 50\r\n",
        "",
    ));
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    provider.until_requests(1);
    running.until_stdout("\"message\"");
    running.signal(Signal::INT);
    assert_eq!(running.wait().exits(130).lines().outcome(), "cancelled");
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn a_signal_during_a_command_kills_its_whole_tree(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values(Signal::INT, Signal::TERM)] signal: Signal,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let mark = mark();
    let command = format!(
        "trap '' TERM INT; (setsid sh -c 'exec -a {mark} sleep 300' &) ; echo up; sh -c 'exec -a {mark} sleep 300'"
    );
    let command = command.replace("sh -c 'exec -a", "bash -c 'exec -a");
    let arguments = json!({"command": command}).to_string();
    provider.then(calls(
        wire,
        &[
            call("c1", "execute_shell_command", &arguments),
            call("c2", "calculator", r#"{"expression":"1"}"#),
        ],
    ));
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    running.until_stdout("\"up\\n\"");
    until_there(&mark);
    running.signal(signal);
    let ran = running.wait().exits(130);
    let lines = ran.lines();
    assert_eq!(lines.outcome(), "cancelled");
    let outputs = lines.outputs();
    assert_eq!(outputs.len(), 2, "every call has its result");
    assert!(outputs.iter().any(|output| output["status"] == "cancelled"));
    assert!(outputs.iter().any(|output| output["status"] == "success"));
    gone(&mark);
    provider.then(answer(wire, "so be it"));
    world.run(&["run", "--json", "--session", "s"]).exits(0);
    provider.last_request();
    goes_on(&world, &provider, wire, "s");
}

/// A terminal signals everything in the foreground at once, also what supervises the command.
#[test]
fn a_signal_from_the_terminal_ends_a_command_in_order() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let mark = mark();
    let command = format!("trap '' INT; echo up; bash -c 'exec -a {mark} sleep 300'");
    let arguments = json!({"command": command}).to_string();
    provider.then(calls(
        OpenAi,
        &[call("c1", "execute_shell_command", &arguments)],
    ));
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    running.until_stdout("\"up\\n\"");
    until_there(&mark);
    running.signal_group(Signal::INT);
    let ran = running.wait().exits(130);
    let lines = ran.lines();
    assert_eq!(lines.outcome(), "cancelled");
    let output = lines.outputs()[0];
    assert_eq!(output["status"], "cancelled");
    assert!(output["result"].to_string().contains("up"), "{output}");
    gone(&mark);
    goes_on(&world, &provider, OpenAi, "s");
}

#[test]
fn a_signal_during_a_direct_call_kills_it_and_still_prints_its_output() {
    let world = crate::world::World::new();
    let mark = mark();
    let command = format!("bash -c 'exec -a {mark} sleep 300'");
    let arguments = json!({"command": command}).to_string();
    let running = world.start(&[
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--args",
        &arguments,
    ]);
    until_there(&mark);
    running.signal(Signal::INT);
    let output = running.wait().exits(130).json();
    assert_eq!(output["status"], "cancelled");
    gone(&mark);
}

/// Nobody reads stdout and the pipe is full: the program must still be one that can be stopped.
#[test]
fn a_reader_that_reads_nothing_does_not_make_it_unstoppable() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let long = "x".repeat(300_000);
    provider.then(answer(OpenAi, &long));
    let mut running = world.start_as(
        &["run", "--json", "--session", "s", "hi"],
        Start {
            read: false,
            ..READ
        },
    );
    let unread = running.unread();
    // The run itself is not stopped by its reader.
    let log = std::time::Instant::now();
    loop {
        let shown = world.run(&["sessions", "replay", "s", "--json"]);
        if shown.stdout.contains("run_finished") {
            break;
        }
        assert!(log.elapsed() < HANGS, "the run is stopped by its reader");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Two that come before it has looked are one.
    let begin = std::time::Instant::now();
    while !running.is_over() && begin.elapsed() < HANGS {
        running.signal(Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    running.wait().exits(130);
    drop(unread);
    goes_on(&world, &provider, OpenAi, "s");
}

#[test]
fn a_signal_at_the_prompt_of_a_chat_ends_it() {
    for signal in [Signal::INT, Signal::TERM] {
        let provider = Provider::start(OpenAi);
        let world = provider.world();
        let mut running = world.start_as(
            &["chat"],
            Start {
                stdin: true,
                ..READ
            },
        );
        provider.then(answer(OpenAi, "hello"));
        running.write_stdin(b"hi\n");
        running.until_stdout("hello");
        // The first may still find the run at its end.
        let begin = std::time::Instant::now();
        while !running.is_over() && begin.elapsed() < HANGS {
            running.signal(signal);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let ran = running.wait();
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
}

#[test]
fn a_chat_is_one_conversation_and_ends_with_its_input() {
    let provider = Provider::start(Anthropic);
    let world = provider.world();
    provider.then(answer(Anthropic, "hello"));
    provider.then(answer(Anthropic, "bye"));
    let ran = world
        .run_with_stdin(&["chat", "--json"], b"hi\nfarewell\n")
        .exits(0);
    outfitter_codec::check_lines(outfitter_codec::Watched::Live, &ran.stdout).unwrap();
    assert_eq!(ran.stdout.matches("run_finished").count(), 2);
    let asked = provider.last_request();
    assert_eq!(asked["messages"].as_array().unwrap().len(), 3);
    goes_on(&world, &provider, Anthropic, "cli");
}
