//! Commands of a run: what they print while they run, and those that outlive their call.

use rstest::rstest;
use serde_json::{Value, json};

use crate::direct::called;
use crate::process_tree::{gone, mark};
use crate::world::World;

#[test]
fn what_is_printed_is_shown_in_order_and_closed_before_the_result() {
    use crate::wire::{Wire::OpenAi, answer, call, calls};
    let provider = crate::provider::Provider::start(OpenAi);
    let world = provider.world();
    let command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done";
    let args = json!({"command": command}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "ok"));
    // That `closed` precedes the result is in the rules that the lines are held to.
    let lines = world.run(&["run", "--json", "hi"]).exits(0).lines();
    assert_eq!(
        lines.progress("stdout"),
        "out 1\nout 2\nout 3\nout 4\nout 5\n"
    );
    assert_eq!(
        lines.progress("stderr"),
        "err 1\nerr 2\nerr 3\nerr 4\nerr 5\n"
    );
    let closed = lines
        .all("tool_progress")
        .iter()
        .filter(|line| line["closed"] == true)
        .count();
    assert_eq!(closed, 1);
    let off = world.with("SAGE_TOOL_PROGRESS_ENABLED", "false");
    provider.then(calls(OpenAi, &[call("c2", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "ok"));
    let lines = off.run(&["run", "--json", "hi"]).exits(0).lines();
    assert!(lines.all("tool_progress").is_empty());
    assert_eq!(lines.outputs()[0]["result"]["exit_code"], 0);
}

/// A job left running is waited for, and another is ended, in the same run.
#[test]
fn a_job_goes_on_between_calls_and_can_be_waited_for_and_killed() {
    use crate::wire::{Wire::OpenAi, answer, call, calls};
    let mark = mark();
    let long = format!("bash -c 'exec -a {mark} sleep 300'");
    let provider = crate::provider::Provider::answering(OpenAi, move |received| {
        let request = received.json();
        let results = crate::requests::results(OpenAi, &request);
        let id = |at: usize| {
            let said: Value = serde_json::from_str(&results[at].1).unwrap();
            assert_eq!(said["status"], "running", "{said}");
            said["task_id"].as_str().unwrap().to_owned()
        };
        match results.len() {
            0 => {
                let short = json!({"command": "echo begun; until [ -e go ]; do sleep 0.02; done; echo over", "block_until_ms": 50});
                let long = json!({"command": &long, "block_until_ms": 50});
                calls(
                    OpenAi,
                    &[
                        call("c1", "execute_shell_command", &short.to_string()),
                        call("c2", "execute_shell_command", &long.to_string()),
                    ],
                )
            }
            2 => {
                let wait = json!({"task_id": id(0)}).to_string();
                let kill = json!({"task_id": id(1)}).to_string();
                calls(
                    OpenAi,
                    &[
                        call("c3", "await_shell", &wait),
                        call("c4", "kill_shell", &kill),
                        call("c0", "file_write", r#"{"path": "go", "content": ""}"#),
                    ],
                )
            }
            5 => {
                let kill = json!({"task_id": id(1)}).to_string();
                calls(OpenAi, &[call("c5", "kill_shell", &kill)])
            }
            _ => answer(OpenAi, "done"),
        }
    });
    let world = provider.world();
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    let of = |name: &str| -> Vec<Value> {
        let outputs = lines.outputs().into_iter();
        outputs
            .filter(|output| output["tool_name"] == name)
            .map(|output| output["result"].clone())
            .collect()
    };
    let waited = &of("await_shell")[0];
    assert_eq!(
        (&waited["status"], &waited["exit_code"]),
        (&json!("completed"), &json!(0))
    );
    assert!(
        waited["stdout"].as_str().unwrap().contains("over"),
        "{waited}"
    );
    let killed = of("kill_shell");
    assert_eq!(
        (&killed[0]["status"], &killed[0]["survivors"]),
        (&json!("killed"), &json!([]))
    );
    assert_eq!(killed[1]["status"], "gone", "{killed:?}");
}

#[test]
fn a_job_left_running_dies_with_the_program() {
    let world = World::new();
    let mark = mark();
    let command = format!("(setsid bash -c 'exec -a {mark} sleep 300' &); sleep 300");
    let args = json!({"command": command, "block_until_ms": 300});
    let (_, left) = called(&world, "execute_shell_command", &args.to_string(), &[]);
    assert_eq!(left["status"], "running", "{left}");
    gone(&mark);
}

/// Every character of a long output is shown once, whatever the pieces it came in.
#[rstest]
fn a_long_output_is_shown_whole(#[values("0", "50")] interval: &str) {
    use crate::wire::{Wire::OpenAi, answer, call, calls};
    let provider = crate::provider::Provider::start(OpenAi);
    let world = provider
        .world()
        .with("SAGE_TOOL_PROGRESS_FLUSH_INTERVAL_MS", interval)
        .with("SAGE_TOOL_PROGRESS_FLUSH_BYTES", "1024");
    let command = "yes 你 | head -n 50000 | tr -d '\\n'";
    let args = json!({"command": command}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "ok"));
    let lines = world.run(&["run", "--json", "hi"]).exits(0).lines();
    let shown = lines.progress("stdout");
    let dropped: u64 = lines
        .all("tool_progress")
        .iter()
        .filter_map(|line| line["dropped_bytes"].as_u64())
        .sum();
    assert!(!shown.contains('\u{fffd}'));
    assert_eq!(shown.len() as u64 + dropped, 150_000);
    assert!(shown.chars().all(|character| character == '你'));
    let output = lines.outputs()[0];
    assert!(!output["result"].to_string().contains('\u{fffd}'));
    assert_eq!(output["result"]["stdout_bytes"], 150_000);
}

#[test]
fn the_bound_of_a_result_has_its_old_name_too() {
    let world = World::new().with("SAGE_MAX_TOOL_RESULT_TOKENS", "100");
    let args = json!({"command": "seq 1000"}).to_string();
    let (_, output) = called(&world, "execute_shell_command", &args, &["--session", "s"]);
    assert!(output["truncated"]["artifact"].is_string(), "{output}");
}
