//! Jobs of a program that was killed: whoever comes after it is told that they are lost, reads what
//! they had printed, and finds nothing of them alive.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::direct::called;
use crate::process_tree::{gone, mark, until_there};
use crate::provider::Provider;
use crate::wire::{Wire::OpenAi, answer, call, calls};
use crate::world::{HANGS, World};

/// A command that leaves nothing easy to end: one of it is deaf for TERM, one has a session of its
/// own, and one was forked twice.
fn stubborn(mark: &str) -> String {
    format!(
        "echo begun; trap '' TERM; (setsid bash -c 'trap \"\" TERM; exec -a {mark} sleep 300' &); \
         (bash -c '(exec -a {mark} sleep 300 &)' &); bash -c 'exec -a {mark} sleep 300'"
    )
}

#[track_caller]
fn is_lost(world: &World, task: &str, mark: &str) {
    let wait = json!({"task_id": task}).to_string();
    let session = ["--session", "s"];
    let (_, waited) = called(world, "await_shell", &wait, &session);
    assert_eq!(waited["status"], "interrupted", "{waited}");
    assert_eq!(waited["error"]["code"], "interrupted");
    let said = waited["error"]["message"].as_str().unwrap();
    assert!(said.contains("lost"), "{said}");
    let result = &waited["result"];
    assert_eq!(
        (&result["status"], &result["stdout"], &result["task_id"]),
        (&json!("lost"), &json!("begun\n"), &json!(task)),
        "{waited}"
    );
    assert!(result.get("exit_code").is_none(), "{result}");
    // A pattern is looked for in what it had printed.
    let look = json!({"task_id": task, "pattern": "beg.n"}).to_string();
    let (_, waited) = called(world, "await_shell", &look, &session);
    assert_eq!(waited["result"]["matched"], true, "{waited}");

    let (_, killed) = called(world, "kill_shell", &wait, &session);
    assert_eq!(killed["result"]["status"], "gone", "{killed}");
    assert_eq!(killed["result"]["survivors"], json!([]));
    let notices = killed["result"]["notices"].to_string();
    assert!(notices.contains("was still running when"), "{killed}");
    gone(mark);

    // It is in the list of the session's tasks, and no task of another session.
    let nobody = json!({"task_id": "job_nobody"}).to_string();
    let (_, none) = called(world, "await_shell", &nobody, &session);
    let hint = none["error"]["hint"].to_string();
    assert!(hint.contains(&format!("{task} (lost)")), "{none}");
    for tool in ["await_shell", "kill_shell"] {
        let (_, other) = called(world, tool, &wait, &["--session", "other"]);
        assert_eq!(other["error"]["code"], "not_found", "{other}");
        assert!(!other.to_string().contains("begun"), "{other}");
    }
}

#[test]
fn a_job_of_a_run_that_was_killed_is_lost_and_its_output_is_read() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let mark = mark();
    let args = json!({"command": stubborn(&mark), "block_until_ms": 300}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    // The model thinks on while the job runs.
    provider.then(vec![crate::fake::Step::WaitForClose]);
    let running = world.start(&["run", "--json", "--session", "s", "go"]);
    provider.until_requests(2);
    until_there(&mark);
    // What is recorded is shown a moment later.
    let shown = || {
        let (stdout, _) = running.taken();
        let lines = stdout.lines();
        let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find_map(|line| {
            let output = &line["message"]["metadata"]["tool_agent_output"];
            let task = output["result"]["task_id"].as_str()?;
            (output["status"] == "running").then(|| task.to_owned())
        })
    };
    let limit = Instant::now() + HANGS;
    let task = loop {
        match shown() {
            Some(task) => break task,
            None => assert!(Instant::now() < limit, "its start is not shown"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    gone(&mark);
    is_lost(&world, &task, &mark);
    provider.then(answer(OpenAi, "I see"));
    world.run(&["run", "--json", "--session", "s"]).exits(0);
}

/// The call that waits for it is killed with the program, so its id is found in the program's data.
#[test]
fn a_job_of_a_direct_call_that_was_killed_is_lost_and_its_output_is_read() {
    let world = World::new();
    let mark = mark();
    let args = json!({"command": stubborn(&mark)}).to_string();
    let running = world.start(&[
        "tools",
        "call",
        "execute_shell_command",
        "--json",
        "--session",
        "s",
        "--args",
        &args,
    ]);
    until_there(&mark);
    let limit = Instant::now() + HANGS;
    let task = loop {
        let spool = world
            .kept()
            .into_iter()
            .find(|(path, bytes)| {
                path.extension().is_some_and(|end| end == "out") && bytes == b"begun\n"
            })
            .map(|(path, _)| path.file_stem().unwrap().to_str().unwrap().to_owned());
        if let Some(task) = spool {
            break task;
        }
        assert!(Instant::now() < limit, "nothing is kept");
        std::thread::sleep(Duration::from_millis(10));
    };
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    gone(&mark);
    is_lost(&world, &task, &mark);
}

/// One that ended before the program was killed is as it was, with all it printed.
#[test]
fn a_job_that_had_ended_is_whole_after_the_program_was_killed() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let command = "seq 1 5000; echo done >&2; exit 3";
    let args = json!({"command": command, "block_until_ms": 60_000}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(vec![crate::fake::Step::WaitForClose]);
    let running = world.start(&["run", "--json", "--session", "s", "go"]);
    provider.until_requests(2);
    running.signal(Signal::KILL);
    let ran = running.wait();
    let told: Value = ran
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| line["message"]["metadata"]["tool_agent_output"]["result"].clone())
        .find(|result| result["exit_code"] == 3)
        .unwrap();
    let args = json!({"task_id": told["task_id"]}).to_string();
    let (_, again) = called(&world, "await_shell", &args, &["--session", "s"]);
    assert_eq!(again["status"], "success", "{again}");
    for field in [
        "status",
        "exit_code",
        "stdout_bytes",
        "stderr",
        "duration_ms",
    ] {
        assert_eq!(again["result"][field], told[field], "{field}: {again}");
    }
}
