//! Sessions from outside: listed, shown, replayed, deleted.

use rstest::rstest;
use serde_json::json;

use crate::lines::Lines;
use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::{answer, call, calls};
use crate::world::World;

/// A machine with the session `s`: a prompt, a call with a large result, an answer.
fn with_a_session() -> (Provider, World) {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let lines: String = (0..20_000)
        .map(|at| format!("line {at} of many\n"))
        .collect();
    world.write("big.txt", lines);
    let read = json!({"pattern": "line", "limit": 1000}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "grep", &read)]));
    provider.then(answer(OpenAi, "There are many."));
    let args = ["run", "--json", "--session", "s", "how", "many?"];
    let world = world.with("OUTFITTER_TOOLS__MAX_RESULT_TOKENS", "500");
    world.run(&args).exits(0).lines();
    (provider, world)
}

#[test]
fn a_session_is_listed_shown_and_replayed() {
    let (_provider, world) = with_a_session();
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(listed["v"], 1);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let people = world.run(&["sessions", "list"]).exits(0);
    assert!(people.stdout.contains('s'), "{}", people.stdout);

    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    let roles: Vec<&str> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    let people = world.run(&["sessions", "show", "s"]).exits(0);
    for said in ["how many?", "There are many.", "grep"] {
        assert!(people.stdout.contains(said), "{}", people.stdout);
    }
    assert!(!people.stdout.contains('\u{1b}'));

    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = Lines::replayed(&replay.stdout);
    assert_eq!(
        (lines.outcome(), lines.answer()),
        ("success", "There are many.")
    );
    assert!(lines.all("delta").is_empty());
    let people = world.run(&["sessions", "replay", "s"]).exits(0);
    assert!(
        people.stdout.contains("There are many."),
        "{}",
        people.stdout
    );
}

#[test]
fn a_large_result_is_an_artifact_that_its_session_reads_and_no_other() {
    let (_provider, world) = with_a_session();
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    let result = &shown["messages"][2];
    let output = &result["metadata"]["tool_agent_output"];
    assert!(result["content"].as_str().unwrap().len() < 20_000);
    let id = output["artifacts"][0].as_str().unwrap();
    assert!(result["content"].to_string().contains(id));
    let world = world.with("OUTFITTER_TOOLS__MAX_RESULT_TOKENS", "1000000");

    let mut whole = String::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let args = json!({"id": id, "offset": offset, "limit": 65536}).to_string();
        let more = ["--session", "s", "--tools", "read_artifact"];
        let (_, part) = crate::direct::called(&world, "read_artifact", &args, &more);
        whole.push_str(part["result"]["text"].as_str().unwrap());
        offset = part["result"]["next_offset"].clone();
    }
    let parsed: serde_json::Value = serde_json::from_str(&whole).expect("the whole result is JSON");
    assert_eq!(parsed["matches"].as_array().unwrap().len(), 1000);

    let args = json!({"id": id}).to_string();
    for more in [&["--session", "other"][..], &[]] {
        let (_, refused) = crate::direct::called(&world, "read_artifact", &args, more);
        assert_eq!(refused["error"]["code"], "not_found");
    }
}

#[test]
fn deleting_a_session_removes_all_that_belongs_to_it() {
    let (provider, world) = with_a_session();
    provider.then(answer(OpenAi, "the other one"));
    world
        .run(&["run", "--session", "other", "sentinel-of-the-other"])
        .exits(0);
    let before = world.kept();
    let has = |all: &[(std::path::PathBuf, Vec<u8>)], text: &str| {
        all.iter()
            .any(|(_, bytes)| bytes.windows(text.len()).any(|at| at == text.as_bytes()))
    };
    assert!(has(&before, "line 17 of many"), "there is an artifact");
    let deleted = world.run(&["sessions", "delete", "s", "--json"]).exits(0);
    assert_eq!(deleted.json()["deleted"], "s");
    let after = world.kept();
    assert!(!has(&after, "line 17 of many"), "something stays");
    assert!(
        has(&after, "sentinel-of-the-other"),
        "the other one is gone"
    );
    for command in ["show", "replay", "delete"] {
        let ran = world.run(&["sessions", command, "s", "--json"]).exits(5);
        assert_eq!(ran.json()["error"]["code"], "not_found", "{command}");
        let ran = world.run(&["sessions", command, "s"]).exits(5);
        assert!(ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    }
    // The id is free again, and knows nothing of what was.
    crate::replies::goes_on(&world, &provider, OpenAi, "s");
    assert_eq!(
        provider.last_request()["messages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[rstest]
#[case("a/b")]
#[case("../x")]
#[case("..")]
#[case(".")]
#[case("")]
#[case("a b")]
#[case("ü")]
fn an_id_that_is_none_is_refused(#[case] id: &str) {
    let world = World::new();
    for args in [
        &["sessions", "show", id][..],
        &["sessions", "delete", id],
        &["run", "--session", id, "hi"],
        &["tools", "call", "calculator", "--session", id],
    ] {
        let ran = world.run(args).exits(2);
        assert_eq!(ran.stdout, "");
    }
    assert!(!world.data("").exists());
}

#[test]
fn ids_of_the_longest_kind_and_with_dots_are_ids() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let long = "x".repeat(128);
    for id in [long.as_str(), "...", "a:b.c-d_e", ".hidden", "-dash"] {
        provider.then(answer(OpenAi, "hi"));
        let session = format!("--session={id}");
        world.run(&["run", &session, "hi"]).exits(0);
        let ran = world
            .run(&["sessions", "delete", "--json", "--", id])
            .exits(0);
        assert_eq!(ran.json()["deleted"], id);
    }
    world.run(&["sessions", "list"]).exits(0);
}

/// What is ours alone is ours alone, whatever the umask.
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_provider, world) = with_a_session();
    for (path, _) in world.kept() {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{mode:o} {}", path.display());
        if path.starts_with(world.data("")) {
            let dir = path.parent().unwrap();
            let mode = dir.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{mode:o} {}", dir.display());
        }
    }
    let outside = std::fs::read_dir(world.work("")).unwrap().count();
    assert_eq!(outside, 1, "only the test's own file is in the workspace");
}

#[test]
fn a_damaged_store_is_an_error_that_says_so() {
    let (_provider, world) = with_a_session();
    let database = world.data("outfitter.db");
    for part in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(world.data(&format!("outfitter.db{part}")));
    }
    std::fs::write(
        &database,
        b"this is no database, but it is long enough to be one".repeat(100),
    )
    .unwrap();
    for args in [&["sessions", "list"][..], &["run", "--session", "s", "hi"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(1), "{}", ran.shown());
        assert!(ran.stderr.contains("outfitter.db"), "{}", ran.stderr);
    }
}
