//! Help, and what is not there yet.

use rstest::rstest;
use serde_json::Value;

use crate::world::World;

/// The help of every command there is, found from one help to the next.
fn every_help(world: &World) -> Vec<(Vec<String>, String)> {
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    let mut waiting: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.push("--help");
        let ran = world.run(&args).exits(0);
        assert_eq!(ran.stderr, "");
        let (_, commands) = ran.stdout.split_once("Commands:\n").unwrap_or_default();
        let lines = commands.lines().take_while(|line| !line.is_empty());
        for name in lines.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()) {
            waiting.push([command.clone(), vec![name.to_owned()]].concat());
        }
        found.push((command, ran.stdout));
    }
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    let world = World::new();
    let all = every_help(&world);
    for (command, help) in &all {
        assert!(help.contains("Usage: outfitter"), "{help}");
        if command.len() == 1 {
            assert!(help.contains("Example"), "no example: {help}");
        }
    }
    for expected in [
        "demo",
        "run",
        "chat",
        "doctor",
        "tools list",
        "tools show",
        "tools call",
        "sessions list",
        "sessions show",
        "sessions replay",
        "sessions delete",
        "config check",
        "config explain",
        "config schema",
    ] {
        let there = all.iter().any(|(command, _)| command.join(" ") == expected);
        assert!(there, "{expected} is in no help");
    }
    assert!(!world.data("").exists(), "help makes files");
}

#[rstest]
#[case(&["mcp", "list"])]
#[case(&["memory", "list"])]
#[case(&["tasks", "list"])]
#[case(&["worker"])]
#[case(&["token", "issue"])]
#[case(&["trust", "."])]
#[case(&["sessions", "export", "s"])]
#[case(&["run", "--mode", "plan", "hi"])]
#[case(&["run", "--role", "root", "hi"])]
#[case(&["run", "--model", "nonsense", "hi"])]
#[case(&[])]
#[case(&["tools"])]
fn what_is_not_there_is_unknown(#[case] args: &[&str]) {
    let world = World::new();
    let ran = world.run(args).exits(2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.starts_with("error: failed to "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.lines().count() <= 2, "{}", ran.stderr);
    if !args.is_empty() {
        let json = world.run(&[args, &["--json"][..]].concat()).exits(2).json();
        assert_eq!(json["error"]["code"], "usage");
    }
}

#[test]
fn what_is_not_there_yet_is_in_no_help() {
    let world = World::new();
    let not_yet = [
        "memory",
        "tasks",
        "worker",
        "token",
        "trust",
        "export",
        "postgres",
        "json_schema",
    ];
    for (command, help) in every_help(&world) {
        let words: Vec<&str> = help
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
            .collect();
        for word in not_yet {
            assert!(!words.contains(&word), "{command:?} says {word}: {help}");
        }
    }
}

#[rstest]
#[case("[agent]\nworkflwo = \"off\"", "workflow")]
#[case("[plugin_api]\nalowlist = []", "allowlist")]
#[case("[memory]\nrecall_limit = 3", "memory")]
#[case("[sandbox]\nbackend = \"ssh\"", "ssh")]
#[case("[files]\nmax_raed_bytes = 1", "max_read_bytes")]
#[case("[tols]\navailable = []", "tools")]
#[case("[store]\nurl = \"postgres://x\"", "sqlite:PATH")]
fn a_key_that_is_not_there_is_an_error_that_names_the_nearest(
    #[case] toml: &str,
    #[case] names: &str,
) {
    let world = World::new();
    world.config(toml);
    for args in [
        &["tools", "list"][..],
        &["run", "hi"],
        &["sessions", "list"],
        &["config", "check"],
        &["tools", "call", "calculator"],
    ] {
        let ran = world.run(args).exits(2);
        let said = [ran.stdout.as_str(), &ran.stderr].concat();
        assert!(said.contains(names), "{said}");
        assert!(said.contains("outfitter.toml"), "{said}");
    }
    let json = world.run(&["config", "check", "--json"]).exits(2).json();
    assert_ne!(json, Value::Null);
    assert!(!world.data("").exists(), "a mistake makes files");
}

#[test]
fn the_configuration_is_described_for_programs() {
    let world = World::new();
    for args in [
        &["config", "check", "--json"][..],
        &["config", "explain", "--json"],
        &["config", "schema", "--json"],
        &["config", "schema"],
        &["doctor", "--json"],
        &["tools", "show", "grep", "--json"],
    ] {
        let ran = world.run(args).exits(0);
        assert!(ran.json().is_object(), "{args:?}");
        assert_eq!(ran.stderr, "", "{args:?}");
    }
    let schema = world.run(&["config", "schema"]).exits(0).json();
    jsonschema::meta::validate(&schema).unwrap();
}

/// `doctor` says what is wrong instead of failing at it.
#[test]
fn doctor_goes_through_everything() {
    let world = World::new();
    let ran = world.run(&["doctor", "--json"]).exits(0);
    let text = ran.stdout;
    for part in ["model", "store", "sandbox", "tools", "configuration"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    world.config("[agent]\nmax_turns = \"x\"\n");
    let ran = world.run(&["doctor"]);
    assert!(ran.shown().contains("max_turns"), "{}", ran.shown());
}
