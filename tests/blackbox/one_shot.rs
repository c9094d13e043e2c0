//! `run_command`, end to end, and where commands run.

use rstest::rstest;
use serde_json::{Value, json};

use crate::direct::{called, error, result};
use crate::process_tree::{gone, mark};
use crate::provider::Provider;
use crate::wire::{Wire::OpenAi, answer, call, calls};
use crate::world::World;

fn run(world: &World, command: &str) -> Value {
    result(world, "run_command", &json!({"command": command}))
}

#[test]
fn a_command_is_told_in_one_piece() {
    let world = World::new();
    let done = run(&world, "echo out; echo err >&2; exit 7");
    let names: Vec<&String> = done.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "exit_code",
            "stdout",
            "stderr",
            "timed_out",
            "truncated",
            "duration_seconds"
        ]
    );
    assert_eq!(done["exit_code"], 7);
    assert_eq!(
        (&done["stdout"], &done["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    assert_eq!(
        (&done["timed_out"], &done["truncated"]),
        (&json!(false), &json!(false))
    );
    assert!(done["duration_seconds"].as_f64() > Some(0.0));
    let long = run(&world, "yes | head -c 100000");
    assert_eq!(long["truncated"], true);
    assert!(long["stdout"].as_str().unwrap().chars().count() <= 8000);
}

/// C01, C02 and C04, by this tool too.
#[test]
fn what_it_starts_neither_holds_it_nor_outlives_it() {
    let world = World::new();
    let done = run(&world, "sleep 300 & read x; echo rc=$?");
    assert_eq!(done["stdout"], "rc=1\n");
    assert!(done["notices"].to_string().contains("was killed"), "{done}");

    let mark = mark();
    let command = format!(
        "echo so far; trap '' TERM; (setsid bash -c 'exec -a {mark} sleep 300' &); sleep 1000"
    );
    let args = json!({"command": command, "timeout_seconds": 5}).to_string();
    let (_, output) = called(&world, "run_command", &args, &[]);
    assert_eq!(output["status"], "timeout", "{output}");
    assert_eq!(output["result"]["timed_out"], true);
    assert_eq!(output["result"]["stdout"], "so far\n");
    gone(&mark);
}

/// C08, by this tool too.
#[test]
fn a_directory_that_is_not_there_is_pointed_at() {
    let world = World::new();
    world.write("d/x", "x");
    let args = |command: &str| json!({"command": command, "cwd": "d"});
    assert_eq!(result(&world, "run_command", &args("ls"))["stdout"], "x\n");
    let told = result(&world, "run_command", &args("rm -rf ../d"));
    assert!(told["notices"].to_string().contains("d is gone"), "{told}");
    let refused = error(&world, "run_command", &args("ls"));
    assert_eq!(refused["path"], "/cwd", "{refused}");
    assert_eq!(run(&world, "echo hi")["stdout"], "hi\n");
}

/// C09: where one command is, no other is, also when they run at once.
#[rstest]
#[case("run_command", "cwd")]
#[case("execute_shell_command", "workdir")]
fn a_working_directory_is_of_one_call(#[case] tool: &str, #[case] parameter: &str) {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    for dir in ["a", "b"] {
        std::fs::create_dir(world.work(dir)).unwrap();
    }
    let in_dir =
        |dir: &str| json!({"command": "sleep 0.2; basename $PWD", (parameter): dir}).to_string();
    let moving = json!({"command": "cd a; basename $PWD"}).to_string();
    provider.then(calls(
        OpenAi,
        &[
            call("c1", tool, &in_dir("a")),
            call("c2", tool, &in_dir("b")),
            call("c3", tool, &moving),
        ],
    ));
    let here = json!({"command": "pwd"}).to_string();
    provider.then(calls(OpenAi, &[call("c4", tool, &here)]));
    provider.then(answer(OpenAi, "ok"));
    let lines = world.run(&["run", "--json", "hi"]).exits(0).lines();
    let of = |id: &str| {
        let outputs = lines.outputs().into_iter();
        let mut own = outputs.filter(|output| output["tool_call_id"] == id);
        own.next().unwrap()["result"]["stdout"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (of("c1"), of("c2"), of("c3")),
        ("a\n".into(), "b\n".into(), "a\n".into())
    );
    let there = world.work("").display().to_string();
    assert_eq!(of("c4"), format!("{}\n", there.trim_end_matches('/')));
}

/// A server says that it is ready while it goes on; the run goes on as well.
#[test]
fn a_wait_for_a_pattern_ends_while_the_command_goes_on() {
    let provider = Provider::answering(OpenAi, |received| {
        let request = received.json();
        let results = crate::requests::results(OpenAi, &request);
        let said = |at: usize| -> Value { serde_json::from_str(&results[at].1).unwrap() };
        match results.len() {
            0 => {
                let command = "echo starting; sleep 0.3; printf '\\033[32mlisten'; sleep 0.1; printf 'ing\\033[0m on :80'; sleep 300";
                let args = json!({"command": command, "block_until_ms": 50}).to_string();
                calls(OpenAi, &[call("c1", "execute_shell_command", &args)])
            }
            1 => {
                let args = json!({"task_id": said(0)["task_id"], "pattern": "^listening on :\\d+"});
                let args = args.to_string();
                calls(OpenAi, &[call("c2", "await_shell", &args)])
            }
            _ => {
                assert_eq!(said(1)["matched"], true, "{}", said(1));
                assert_eq!(said(1)["status"], "running");
                answer(OpenAi, "done")
            }
        }
    });
    provider.world().run(&["run", "--json", "hi"]).exits(0);
}
