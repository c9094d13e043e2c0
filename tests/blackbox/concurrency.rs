//! Several processes at once.

use serde_json::json;

use crate::fake::Step;
use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::{answer, call, calls};

#[test]
fn a_session_that_another_process_works_on_is_busy() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    provider.then(vec![Step::WaitForClose]);
    let running = world.start(&["run", "--json", "--session", "s", "hi"]);
    provider.until_requests(1);
    for args in [
        &["run", "--json", "--session", "s", "me too"][..],
        &["run", "--json", "--session", "s"],
        &[
            "tools",
            "call",
            "calculator",
            "--args",
            r#"{"expression":"6*7"}"#,
            "--json",
            "--session",
            "s",
        ],
        &["sessions", "delete", "s", "--json"],
    ] {
        let ran = world.run(args).exits(1);
        assert_eq!(ran.json()["error"]["code"], "busy", "{args:?}");
        if args[0] == "tools" {
            // It did not say with which arguments it was not made.
            assert_eq!(ran.json()["tool_call_args"], json!({"expression": "6*7"}));
        }
        assert!(ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    }
    // Reading is no work.
    world.run(&["sessions", "list"]).exits(0);
    world.run(&["sessions", "show", "s"]).exits(0);
    running.signal(rustix::process::Signal::INT);
    running.wait().exits(130);
    crate::replies::goes_on(&world, &provider, OpenAi, "s");
}

#[test]
fn eight_processes_on_one_store_lose_nothing() {
    let provider = Provider::answering(OpenAi, |received| {
        let request = received.json();
        match crate::requests::calls(OpenAi, &request).len() {
            done @ 0..=3 => calls(
                OpenAi,
                &[call(
                    &format!("c{done}"),
                    "calculator",
                    r#"{"expression":"1+1"}"#,
                )],
            ),
            _ => answer(OpenAi, "done"),
        }
    });
    let world = provider.world();
    let sessions: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let running: Vec<_> = sessions
        .iter()
        .map(|session| world.start(&["run", "--json", "--session", session, "go"]))
        .collect();
    for running in running {
        let lines = running.wait().exits(0).lines();
        assert_eq!((lines.answer(), lines.outputs().len()), ("done", 4));
    }
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 8);
    for session in &sessions {
        let replay = world
            .run(&["sessions", "replay", session, "--json"])
            .exits(0);
        let lines = crate::lines::Lines::replayed(&replay.stdout);
        assert_eq!(lines.outputs().len(), 4);
    }
}

/// Two that write the same file, each from what it read: the later one learns of the other.
#[test]
fn a_stale_write_is_refused_and_the_other_text_survives() {
    let world = crate::world::World::new();
    world.write("a.txt", "one\n");
    let read = |session: &str| {
        let args = json!({"path": "a.txt"}).to_string();
        let ran = world.run(&[
            "tools",
            "call",
            "file_read",
            "--json",
            "--session",
            session,
            "--args",
            &args,
        ]);
        ran.exits(0).json()["result"]["hash"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (first, second) = (read("a"), read("b"));
    assert_eq!(first, second);
    let write = |session: &str, hash: &str, content: &str| {
        let args = json!({"path": "a.txt", "content": content, "if_hash": hash}).to_string();
        world.run(&[
            "tools",
            "call",
            "file_write",
            "--json",
            "--session",
            session,
            "--args",
            &args,
        ])
    };
    write("a", &first, "two\n").exits(0);
    let refused = write("b", &second, "six\n").exits(1).json();
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    assert_eq!(
        std::fs::read_to_string(world.work("a.txt")).unwrap(),
        "two\n"
    );
}
