//! The tour that needs nothing: no key, no network, no configuration.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lines::Lines;
use crate::provider::Provider;
use crate::wire::Wire::{Anthropic, OpenAi};
use crate::wire::{Wire, answer, call, calls};
use crate::world::World;
use rstest::rstest;

fn tour(world: &World) -> Lines {
    let ran = world.run(&["demo", "--json"]).exits(0);
    assert_eq!(ran.stderr, "");
    Lines::live_turn(&ran.stdout)
}

#[test]
fn the_demo_uses_seven_tools_and_the_four_sources() {
    let lines = tour(&World::new());
    assert_eq!(lines.outcome(), "success");
    let outputs = lines.outputs();
    let used: BTreeSet<&str> = outputs
        .iter()
        .map(|output| output["tool_name"].as_str().unwrap())
        .collect();
    let own = [
        "list_dir",
        "glob",
        "grep",
        "file_read",
        "file_write",
        "file_update",
        "execute_shell_command",
        "ask_user",
    ];
    let of_sources = ["load_skill", "notes__add", "project_cli"];
    for tool in own.iter().chain(&of_sources) {
        assert!(used.contains(tool), "{tool} is not among {used:?}");
    }
    for output in outputs {
        assert_eq!(output["status"], "success", "{output}");
    }
    assert!(!lines.progress("stdout").is_empty(), "nothing is seen live");
    assert!(!lines.answer().is_empty());
}

/// Whether they are is the sandbox's doing; the demo has to say what became of them either way.
#[test]
fn the_demo_says_of_what_it_tries_what_became_of_it() {
    let lines = tour(&World::new());
    let printed = lines.progress("stdout");
    let tried = |refused: bool| {
        let word = if refused {
            "refused: "
        } else {
            "NOT refused: "
        };
        printed
            .lines()
            .filter(|line| line.starts_with(word))
            .count()
    };
    assert!(tried(true) + tried(false) >= 2, "{printed}");
    let said = lines.deltas("text");
    assert_eq!(tried(false) > 0, said.contains("Not all of it was refused"));
    let started = lines.all("run_started")[0];
    if started["sandbox"]["level"] == "full" {
        assert_eq!(tried(false), 0, "{printed}");
    }
}

/// Where nobody is there the default is taken at once, in a second run of the same turn.
#[test]
fn the_question_of_the_demo_is_answered_by_its_default() {
    let lines = tour(&World::new());
    let asked = lines.all("question");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["choices"].as_array().unwrap().len(), 2);
    let runs = lines.all("run_started");
    assert_eq!(runs[1]["resumes"], runs[0]["run_id"]);
    let answers: Vec<&Value> = lines
        .outputs()
        .into_iter()
        .filter(|output| output["tool_name"] == "ask_user")
        .map(|output| &output["result"])
        .collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["answered_by"], "default");
    assert_eq!(answers[0]["answer"], asked[0]["choices"][0]);
    let day = answers[0]["answer"].as_str().unwrap();
    assert!(lines.answer().contains(day), "{}", lines.answer());
}

#[test]
fn what_is_drawn_is_in_the_events_of_the_demo() {
    let lines = tour(&World::new());
    let drawn: Vec<&Value> = lines
        .messages("tool")
        .into_iter()
        .filter(|message| message["metadata"].get("ui_schema").is_some())
        .collect();
    let kinds: BTreeSet<&str> = drawn
        .iter()
        .map(|message| {
            message["metadata"]["ui_schema"]["root"]["kind"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert_eq!(kinds, BTreeSet::from(["key_values", "table"]));
    for message in drawn {
        let read = message["content"].as_str().unwrap();
        assert!(
            !read.contains("ui_") && !read.contains("template"),
            "{read}"
        );
    }
}

/// The same calls by any provider: what clients draw is not among what a model is sent.
#[rstest]
fn what_is_drawn_is_never_sent_to_a_model(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    world.config(&format!(
        "[commands.planner]\nprogram = \"planner\"\nenv = {{ PLANNER_DIR = {:?} }}\n",
        world.work("calendar")
    ));
    let write = r#"{"command":"calendar","subcommand":"write","args":{"title":"Tea","start":"2030-01-01T16:00:00Z"}}"#;
    let read = r#"{"command":"calendar","subcommand":"read","args":{}}"#;
    provider.then(calls(wire, &[call("c1", "project_cli", write)]));
    provider.then(calls(wire, &[call("c2", "project_cli", read)]));
    provider.then(answer(wire, "There is tea."));
    let ran = world
        .run(&["run", "--json", "what", "is", "to", "do?"])
        .exits(0);
    assert_eq!(ran.stdout.matches("\"ui_schema\"").count(), 2);
    let requests = provider.requests();
    assert_eq!(requests.len(), 3);
    let told = requests[2].to_string();
    assert!(told.contains("Tea"), "{told}");
    for request in requests {
        let request = request.to_string();
        for word in [
            "ui_hints",
            "ui_schema",
            "template",
            "tool_call_args",
            "Begins",
        ] {
            assert!(!request.contains(word), "{word} is in {request}");
        }
    }
}

#[test]
fn the_demo_draws_its_table_and_leaves_the_current_directory_alone() {
    let world = World::new();
    let ran = world.run(&["demo"]).exits(0);
    assert!(!ran.stdout.is_empty());
    assert!(!ran.shown().contains('\u{1b}'));
    let shown = ran.shown();
    let head = "  │ Begins                Ends                  What                Where\n";
    assert!(shown.contains(head), "{shown}");
    assert!(
        shown.contains(" UTC  Look at the gauges  Kiel\n"),
        "{shown}"
    );
    assert_eq!(std::fs::read_dir(world.work("")).unwrap().count(), 0);
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(listed["sessions"], serde_json::json!([]));
}

/// No interpreter but the shell, and no program of the machine but what comes with it.
#[test]
fn the_demo_needs_no_other_language() {
    for file in ["report.sh", "try.sh"] {
        let path = format!("src/demo/workspace/scripts/{file}");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let script = std::fs::read_to_string(path).unwrap();
        assert!(script.starts_with("#!/bin/sh\n"));
        let words: BTreeSet<&str> = script
            .split(|one: char| !one.is_ascii_alphanumeric())
            .collect();
        for program in ["python3", "node", "perl", "awk", "grep", "sed", "cat"] {
            assert!(!words.contains(program), "{file} needs {program}");
        }
    }
    let world = World::new().with("PATH", "/nowhere");
    let lines = tour(&world);
    assert_eq!(lines.outcome(), "success");
}

/// A key in the environment changes nothing: the demo never calls anybody.
#[test]
fn the_demo_does_not_look_for_a_model() {
    let world = World::new()
        .with("OPENAI_API_KEY", crate::world::KEY)
        .with("OUTFITTER_MODEL__BASE_URL", "http://127.0.0.1:1/v1")
        .with("OUTFITTER_MODEL__PROVIDER", "openai");
    world.run(&["demo"]).exits(0);
}
