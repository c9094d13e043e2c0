//! Commands, end to end: `tools call execute_shell_command` and runs that use it.

use rstest::rstest;
use serde_json::{Value, json};

use crate::direct::{called, error, result};
use crate::process_tree::{gone, mark};
use crate::world::{KEY, World};

pub(crate) fn shell(world: &World, command: &str) -> Value {
    result(world, "execute_shell_command", &json!({"command": command}))
}

#[test]
fn a_command_has_its_exit_code_and_both_its_streams() {
    let done = shell(&World::new(), "echo out; echo err >&2; exit 7");
    assert_eq!(done["status"], "completed");
    assert_eq!(done["exit_code"], 7);
    assert_eq!(
        (&done["stdout"], &done["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
}

/// C01: what holds the streams open does not hold the call.
#[rstest]
#[case::silent("sleep 300 & echo done")]
#[case::chatty("(while :; do echo x; sleep 1; done) & echo done")]
#[case::stderr_only("sleep 300 >/dev/null & echo done")]
#[case::own_session("setsid sleep 300 & echo done")]
#[case::daemon("(setsid sh -c 'sleep 300 & sleep 300' &); echo done")]
fn a_background_child_does_not_hold_the_call(#[case] command: &str) {
    let done = shell(&World::new(), command);
    assert!(
        done["stdout"].as_str().unwrap().contains("done\n"),
        "{done}"
    );
    assert_eq!(done["exit_code"], 0);
    assert!(done["killed_children"].as_u64() > Some(0), "{done}");
}

/// C02: the deadline is for the whole tree.
#[test]
fn the_deadline_kills_the_whole_tree_and_keeps_the_output() {
    let world = World::new();
    let mark = mark();
    let command = format!(
        "echo so far; trap '' TERM; (setsid bash -c 'exec -a {mark} sleep 300' &); bash -c 'sleep 1000 & wait'"
    );
    let args = json!({"command": command, "timeout_seconds": 5}).to_string();
    let (_, output) = called(&world, "execute_shell_command", &args, &[]);
    assert_eq!(output["status"], "timeout", "{output}");
    assert_eq!(output["error"]["code"], "timeout");
    assert!(output["result"].to_string().contains("so far"), "{output}");
    gone(&mark);
}

/// C04: nobody will ever answer.
#[test]
fn a_command_that_reads_gets_nothing_at_once() {
    let world = World::new();
    let done = shell(
        &world,
        "read x; echo rc=$?; cat; tty; echo $GIT_TERMINAL_PROMPT",
    );
    let stdout = done["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("rc=1\n"), "{done}");
    assert!(
        stdout.contains("not a tty") && stdout.ends_with("0\n"),
        "{done}"
    );
    let done = shell(&world, "exec < /dev/tty");
    assert_ne!(done["exit_code"], 0, "there is no terminal: {done}");
}

/// C06: keys of ours are not theirs.
#[test]
fn the_environment_has_no_secrets() {
    let mut world = World::new();
    for name in [
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "OUTFITTER_X",
        "LD_PRELOAD_X",
        "PASSED",
    ] {
        world.set(name, KEY);
    }
    world.config("[sandbox]\nenv = [\"NOT_SET\"]\n");
    // `Ran` itself looks for the key.
    let done = shell(
        &world,
        "env; tr '\\0' '\\n' < /proc/self/environ; cat /proc/$PPID/environ; cat /proc/1/environ; cat /proc/*/environ | tr '\\0' '\\n'",
    );
    let names: Vec<&str> = done["stdout"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    assert!(
        names.contains(&"PATH") && names.contains(&"HOME"),
        "{names:?}"
    );
    for name in [
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "OUTFITTER_X",
    ] {
        assert!(!names.contains(&name), "{names:?}");
    }
}

#[test]
fn a_variable_that_the_operator_passes_is_passed() {
    let world = World::new().with("BUILD_ID", "17").with("OTHER", "18");
    world.config("[sandbox]\nenv = [\"BUILD_ID\"]\n");
    let done = shell(&world, "echo $BUILD_ID-$OTHER");
    assert_eq!(done["stdout"], "17-\n");
    let args = json!({"command": "echo $A-$HOME", "env": {"A": "1"}});
    let done = result(&world, "execute_shell_command", &args);
    assert!(
        done["stdout"].as_str().unwrap().starts_with("1-/"),
        "{done}"
    );
}

/// C07: what a command is given is not in anybody's argument list but its own.
#[test]
fn no_secret_is_on_a_command_line() {
    let world = World::new().with("OPENAI_API_KEY", KEY);
    let args = json!({
        "command": "echo up > up.txt; sleep 300",
        "env": {"TOKEN_OF_THE_CALL": "sentinel-of-the-call"},
    });
    let args = args.to_string();
    world.write("call.json", &args);
    let running = world.start(&[
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--args",
        "@call.json",
    ]);
    let limit = std::time::Instant::now() + crate::world::HANGS;
    while !world.work("up.txt").exists() {
        assert!(
            std::time::Instant::now() < limit,
            "the command never starts"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let lines = crate::process_tree::command_lines_below(running.pid());
    assert!(
        lines.iter().any(|line| line.contains("sleep 300")),
        "{lines:?}"
    );
    for line in &lines {
        assert!(
            !line.contains(KEY) && !line.contains("sentinel-of-the-call"),
            "{lines:?}"
        );
    }
    running.signal(rustix::process::Signal::TERM);
    running.wait().exits(130);
}

/// C08: a directory that is gone spoils nothing after it.
#[test]
fn a_working_directory_that_is_removed_is_not_missed() {
    let world = World::new();
    shell(&world, "mkdir d; cd d; rm -rf ../d");
    let done = shell(&world, "echo hi; pwd");
    let there = world.work("").display().to_string();
    let there = there.trim_end_matches('/');
    assert_eq!(done["stdout"], format!("hi\n{there}\n"));
    // A command that was meant for it runs nowhere: what it does could be the ruin of the workspace.
    world.write("precious", "x");
    let args = json!({"command": "rm -rf ./*", "workdir": "d"});
    let refused = error(&world, "execute_shell_command", &args);
    assert_eq!(refused["code"], "invalid_arguments");
    assert_eq!(refused["path"], "/workdir", "{refused}");
    assert!(
        refused["hint"]
            .to_string()
            .contains("starts in the workspace"),
        "{refused}"
    );
    assert!(
        refused["message"].to_string().contains("nothing was run"),
        "{refused}"
    );
    assert!(world.work("precious").exists());
    // Who takes its own directory away is told what comes of that.
    world.write("e/x", "x");
    let args = json!({"command": "rm -rf ../e", "workdir": "e"});
    let told = result(&world, "execute_shell_command", &args);
    assert!(told["notices"].to_string().contains("e is gone"), "{told}");
    // HOME and TMPDIR come back as well.
    shell(&world, "rm -rf \"$HOME\" \"$TMPDIR\"");
    let done = shell(&world, "cd \"$HOME\" && mktemp > /dev/null && echo fine");
    assert_eq!(done["stdout"], "fine\n");
}

/// B01: characters stay whole, in the pieces and in the result.
#[test]
fn b01_characters_are_never_cut() {
    let world = World::new();
    let done = shell(&world, "yes 你 | head -n 500 | tr -d '\\n'");
    assert_eq!(done["stdout"].as_str().unwrap(), "你".repeat(500));
    let many = shell(&world, "yes 你 | head -n 50000 | tr -d '\\n'");
    let stdout = many["stdout"].as_str().unwrap();
    assert!(!stdout.contains('\u{fffd}'), "{stdout}");
    assert!(stdout.matches('你').count() > 1000, "{stdout}");
    assert_eq!(many["stdout_bytes"], 150_000);
    let slow = r"for b in '\360' '\237' '\221' '\213'; do printf $b; sleep 0.06; done";
    let provider = crate::provider::Provider::start(crate::wire::Wire::OpenAi);
    let args = json!({"command": slow}).to_string();
    let talker = provider.world();
    provider.then(crate::wire::calls(
        crate::wire::Wire::OpenAi,
        &[crate::wire::call("c1", "execute_shell_command", &args)],
    ));
    provider.then(crate::wire::answer(crate::wire::Wire::OpenAi, "ok"));
    let lines = talker.run(&["run", "--json", "hi"]).exits(0).lines();
    assert_eq!(lines.progress("stdout"), "👋");
    assert_eq!(lines.outputs()[0]["result"]["stdout"], "👋");
}

/// B02: bytes that are no text are said to be some, and everything stays readable.
#[rstest]
#[case(
    r"printf '\377\376\000ab'",
    "stdout is no UTF-8 and was read as utf-16le"
)]
#[case("head -c 65536 /dev/urandom", "\"stdout\":\"binary, 65536 bytes, ")]
#[case(r"printf 'a\000b\001\002\003'", "\"stdout\":\"binary, 6 bytes, ")]
#[case(
    r"printf '\304\343\272\303\n'",
    "stdout is no UTF-8 and was read as gbk"
)]
fn b02_bytes_that_are_no_text_spoil_nothing(#[case] command: &str, #[case] said: &str) {
    let world = World::new();
    let args = json!({"command": command}).to_string();
    let (_, output) = called(&world, "execute_shell_command", &args, &["--session", "s"]);
    assert_eq!(output["status"], "success");
    assert_eq!(output["result"]["exit_code"], 0);
    assert!(output["result"].to_string().contains(said), "{output}");
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = crate::lines::Lines::replayed(&replay.stdout);
    assert_eq!(lines.outputs()[0]["result"], output["result"]);
}

/// B04: escape codes are for terminals.
#[test]
fn b04_escape_codes_are_not_in_the_result() {
    let world = World::new();
    let done = shell(
        &world,
        r"printf '\033[31mred\033[0m \033]0;title\007\033]8;;http://x\033\\link\033]8;;\033\\\n 10%%\r100%%\n'",
    );
    let stdout = done["stdout"].as_str().unwrap();
    assert!(
        !stdout.contains('\u{1b}') && !stdout.contains('\u{7}'),
        "{stdout:?}"
    );
    assert!(
        stdout.contains("red") && stdout.contains("link") && stdout.ends_with("\n100%\n"),
        "{stdout:?}"
    );
}

/// B03: a flood is bounded where it is read, what is left out is counted, and all of it is kept.
#[rstest]
#[case::lines("yes | head -c 200000000", 200_000_000)]
#[case::one_line("head -c 50000000 /dev/zero | tr '\\0' x", 50_000_000)]
fn b03_a_flood_is_bounded(#[case] command: &str, #[case] bytes: u64) {
    let world = World::new();
    // It cuts, too, and so has all that cutting needs.
    let little = peak_of(&world, "yes | head -c 1000000").0;
    let (peak, output) = peak_of(&world, command);
    let done = &output["result"];
    assert_eq!(done["exit_code"], 0, "{done}");
    assert_eq!(done["stdout_bytes"], bytes);
    let stdout = done["stdout"].as_str().unwrap();
    assert!(stdout.len() <= 8000, "[shell] max_output_chars: {stdout}");
    let (head, rest) = stdout.split_once("[... ").unwrap();
    let (mark, tail) = rest.split_once(" ...]").unwrap();
    let left_out: u64 = mark.split(' ').next().unwrap().parse().unwrap();
    assert!(
        !head.trim().is_empty() && !tail.trim().is_empty(),
        "{stdout}"
    );
    let shown = (head.trim_end().len() + tail.trim_start().len()) as u64;
    // Line ends beside the mark are its own.
    assert!(
        (shown..=shown + 4).contains(&(bytes - left_out)),
        "{shown} bytes shown, {mark}"
    );
    let id = output["artifacts"][0].as_str().unwrap();
    assert!(mark.contains(id), "{mark}");
    let kept: Vec<u64> = world
        .kept()
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains(id))
        .map(|(_, kept)| kept.len() as u64)
        .collect();
    assert!(kept.contains(&bytes), "{kept:?}");
    assert_eq!(done["notices"], Value::Null, "{done}");
    assert!(
        peak < little + 50 * 1024,
        "{peak} KiB of memory, {little} KiB for a megabyte"
    );
}

/// The most memory that the program had while it made this call, in KiB, and the call's output.
fn peak_of(world: &World, command: &str) -> (u64, Value) {
    let args = json!({"command": command, "block_until_ms": 60_000}).to_string();
    let mut running = world.start(&[
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--session",
        "s",
        "--args",
        &args,
    ]);
    let mut peak = 0;
    let status = format!("/proc/{}/status", running.pid());
    while !running.is_over() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (peak, running.wait().exits(0).json())
}
