//! What is printed where: data on stdout, words for people on stderr, nothing that is not asked for.

use rstest::rstest;
use serde_json::json;

use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::{Part, answer, call, calls};
use crate::world::{READ, Start};

fn with_a_call() -> Provider {
    let provider = Provider::start(OpenAi);
    let write = json!({"path": "a.txt", "content": "one\ntwo\n"}).to_string();
    provider.then(calls(
        OpenAi,
        &[
            Part::Text("I write a file."),
            call("c1", "file_write", &write),
            call("c2", "no_such_tool", "{}"),
        ],
    ));
    provider.then(answer(OpenAi, "It is written."));
    provider
}

#[test]
fn the_answer_alone_is_on_stdout_and_what_was_done_on_stderr() {
    let provider = with_a_call();
    let ran = provider.world().run(&["run", "write"]).exits(0);
    assert_eq!(ran.stdout, "It is written.\n");
    assert!(ran.stderr.contains("a.txt"), "{}", ran.stderr);
}

#[rstest]
#[case(&[])]
#[case(&[("NO_COLOR", "1")])]
#[case(&[("TERM", "dumb")])]
#[case(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")])]
fn what_is_piped_has_no_escape_codes(#[case] variables: &[(&str, &str)]) {
    for args in [
        &["run", "write"][..],
        &["run", "-v", "write"],
        &["run", "--json", "write"],
        &["doctor"],
        &["tools", "list"],
        &["tools", "show", "grep"],
        &["config", "explain"],
        &["--help"],
    ] {
        let provider = with_a_call();
        let mut world = provider.world();
        for (name, value) in variables {
            world.set(name, value);
        }
        let ran = world.run(args);
        let shown = [ran.stdout.as_str(), &ran.stderr].concat();
        assert!(!shown.contains('\u{1b}'), "{args:?}: {shown:?}");
        assert!(!shown.contains('\r'), "{args:?}: {shown:?}");
    }
}

/// What a model or a file says cannot drive the terminal of who watches.
#[test]
fn escape_codes_of_others_do_not_reach_a_person() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2Jx\u{9b}31m";
    let args = json!({"path": evil}).to_string();
    provider.then(calls(
        OpenAi,
        &[call("c1", "file_read", &args), call("c2", evil, "{}")],
    ));
    provider.then(answer(OpenAi, &format!("done {evil}")));
    let ran = world.run(&["run", "--session", "s", "hi"]).exits(0);
    for shown in [
        ran.stderr.clone(),
        world.run(&["sessions", "show", "s"]).exits(0).stdout,
        world.run(&["sessions", "replay", "s"]).exits(0).stdout,
    ] {
        assert!(
            !shown.contains('\u{1b}') && !shown.contains('\u{9b}'),
            "{shown:?}"
        );
    }
}

#[rstest]
#[case(&["run", "write"])]
#[case(&["run", "--json", "--session", "s", "write"])]
#[case(&["tools", "list"])]
#[case(&["tools", "list", "--json"])]
#[case(&["tools", "call", "calculator", "--json"])]
#[case(&["config", "explain"])]
#[case(&["config", "schema"])]
#[case(&["doctor"])]
#[case(&["--help"])]
#[case(&["sessions", "list", "--json"])]
fn a_stdout_that_is_closed_ends_it_quietly(#[case] args: &[&str]) {
    let provider = with_a_call();
    let world = provider.world();
    let mut running = world.start_as(
        args,
        Start {
            read: false,
            ..READ
        },
    );
    drop(running.unread());
    let ran = running.wait();
    assert!(
        ran.code.is_some(),
        "it was ended by a signal: {}",
        ran.shown()
    );
    assert!(!ran.stderr.contains("panic"), "{}", ran.stderr);
    assert!(
        !ran.stderr.to_lowercase().contains("broken pipe"),
        "{}",
        ran.stderr
    );
}

/// `| head -1` stops the run; what it did is recorded, and it can go on.
#[test]
fn a_reader_that_goes_away_leaves_a_session_that_goes_on() {
    let provider = with_a_call();
    let world = provider.world();
    let args = ["run", "--json", "--session", "s", "write"];
    let mut running = world.start_as(
        &args,
        Start {
            read: false,
            ..READ
        },
    );
    let mut first = [0; 1];
    let mut reader = running.unread().unwrap();
    std::io::Read::read_exact(&mut reader, &mut first).unwrap();
    drop(reader);
    running.wait();
    provider.clear();
    crate::replies::goes_on(&world, &provider, OpenAi, "s");
}

/// A reader that stands still does not stop a tool: the command writes its mark long before
/// anybody reads.
#[test]
fn a_slow_reader_does_not_slow_a_tool() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let command = "i=0; while [ $i -lt 3000 ]; do printf '%0200d\\n' $i; i=$((i+1)); done; echo done > done.txt";
    let args = json!({"command": command}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "fine"));
    let mut running = world.start_as(
        &["run", "--json", "--session", "s", "hi"],
        Start {
            read: false,
            ..READ
        },
    );
    let limit = std::time::Instant::now() + crate::world::HANGS;
    while !world.work("done.txt").exists() {
        assert!(
            std::time::Instant::now() < limit,
            "the tool waits for the reader"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    provider.until_requests(2);
    // Now somebody reads, and finds an order without gaps; what is missing is counted.
    let mut text = String::new();
    let mut reader = running.unread().unwrap();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    running.wait().exits(0);
    let lines = crate::lines::Lines::live(&text);
    assert_eq!(lines.outcome(), "success");
    let dropped: u64 = lines
        .all("tool_progress")
        .iter()
        .filter_map(|line| line["dropped_bytes"].as_u64())
        .sum();
    let shown = lines.progress("stdout").len() as u64;
    assert_eq!(shown + dropped, 3000 * 201, "what is lost is counted");
}

/// Nothing that is printed is lost silently.
#[test]
fn a_stdout_that_is_full_is_an_error() {
    let world = crate::world::World::new();
    let args = ["tools", "list"];
    let ran = world
        .start_to(&args, std::fs::File::create("/dev/full").unwrap())
        .wait();
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    assert!(ran.stderr.contains("write to stdout"), "{}", ran.stderr);
}
