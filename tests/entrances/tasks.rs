//! Commands that go on, over HTTP: whose they are, and what becomes of them with the server.

use serde_json::{Value, json};

use crate::served::Serving;
use crate::within::Within;
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.config("[permissions]\nhttp_role = \"admin\"\n");
    world
}

/// Starts a command that goes on, and gives its task id.
#[track_caller]
fn left_running(serving: &Serving<'_>, session: &str, mark: &str) -> String {
    let line = format!("echo begun; (setsid sleep {mark} &); sleep {mark}");
    let args = json!({"command": line, "block_until_ms": 300});
    let output = serving.at.call(session, "execute_shell_command", &args);
    let output = output.is(200).json();
    assert_eq!(output["status"], "running", "{output}");
    soon(|| alive(mark) == 2, "it never begins");
    output["result"]["task_id"].as_str().unwrap().to_owned()
}

/// A number of seconds that no other process sleeps for.
fn mark(test: u32) -> String {
    format!("{}.{test}", 100_000 + std::process::id())
}

fn alive(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let sleeps = |line: &Vec<u8>| {
        let words: Vec<_> = line.split(|byte| *byte == 0).collect();
        words.first() == Some(&&b"sleep"[..]) && words.get(1) == Some(&mark.as_bytes())
    };
    lines.filter(sleeps).count()
}

#[track_caller]
fn all_gone(mark: &str) {
    soon(|| alive(mark) == 0, "something lives on");
}

#[track_caller]
fn soon(is_so: impl Fn() -> bool, why: &str) {
    let limit = std::time::Instant::now() + crate::world::HANGS;
    while !is_so() {
        assert!(std::time::Instant::now() < limit, "{why}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn asked(serving: &Serving<'_>, session: &str, tool: &str, task: &str) -> (u16, Value) {
    let mut args = json!({"task_id": task});
    if tool == "await_shell" {
        args["block_until_ms"] = 0.into();
    }
    let answer = serving.at.call(session, tool, &args);
    (answer.status, answer.json())
}

#[test]
fn a_task_of_another_session_is_not_found_over_http() {
    let world = world();
    let serving = Serving::start(&world);
    let mark = mark(1);
    let task = left_running(&serving, "mine", &mark);
    for tool in ["await_shell", "kill_shell"] {
        let (status, output) = asked(&serving, "other", tool, &task);
        assert_eq!(status, 404, "{output}");
        assert_eq!(output["error"]["code"], "not_found", "{output}");
        // Its words are those of a task that never was.
        let (_, never) = asked(&serving, "other", tool, "job_never");
        let words = |output: &Value| output["error"].to_string().replace(&task, "job_never");
        assert_eq!(words(&output), words(&never));
    }
    assert_eq!(alive(&mark), 2, "it runs on");
    let (_, there) = asked(&serving, "mine", "await_shell", &task);
    assert_eq!(there["status"], "running", "{there}");
    let (_, killed) = asked(&serving, "mine", "kill_shell", &task);
    assert_eq!(
        killed["result"],
        json!({"status": "killed", "survivors": []})
    );
    all_gone(&mark);
    serving.stop();
}

#[test]
fn a_task_ends_with_its_session() {
    let world = world();
    let serving = Serving::start(&world);
    let mark = mark(2);
    left_running(&serving, "mine", &mark);
    serving.at.delete("/v1/sessions/mine").is(204);
    all_gone(&mark);
    serving.stop();
}

#[test]
fn a_task_ends_with_the_server_and_is_lost_to_the_next() {
    let world = world();
    let serving = Serving::start(&world);
    let mark = mark(3);
    let task = left_running(&serving, "mine", &mark);
    serving.stop();
    all_gone(&mark);
    lost(&Serving::start(&world), &task);
}

#[test]
fn a_task_of_a_server_that_was_killed_is_lost_and_its_output_is_read() {
    let world = world();
    let serving = Serving::start(&world);
    let mark = mark(4);
    let task = left_running(&serving, "mine", &mark);
    serving.kill();
    all_gone(&mark);
    lost(&Serving::start(&world), &task);
}

#[track_caller]
fn lost(serving: &Serving<'_>, task: &str) {
    let (status, waited) = asked(serving, "mine", "await_shell", task);
    assert_eq!(status, 499, "{waited}");
    assert_eq!(waited["status"], "interrupted");
    let result = &waited["result"];
    assert_eq!(
        (&result["status"], &result["stdout"]),
        (&json!("lost"), &json!("begun\n")),
        "{waited}"
    );
    let (status, killed) = asked(serving, "mine", "kill_shell", task);
    assert_eq!((status, &killed["result"]["status"]), (200, &json!("gone")));
    let (status, other) = asked(serving, "other", "await_shell", task);
    assert_eq!(
        (status, &other["error"]["code"]),
        (404, &json!("not_found"))
    );
}

/// Two people, and sessions of one name: each has its own tasks, and its own list of them.
#[test]
fn a_task_of_another_subject_is_not_found_in_a_session_of_the_same_name() {
    let world = World::new();
    let within = Within::start(&world, |builder| builder);
    let (ann, bob) = (within.by("birds/ann/admin"), within.by("birds/bob/admin"));
    let mark = mark(5);
    let line = format!("echo hers; sleep {mark}");
    let args = json!({"command": line, "block_until_ms": 300});
    let started = ann.call("s", "execute_shell_command", &args).is(200).json();
    assert_eq!(started["status"], "running", "{started}");
    let task = started["result"]["task_id"].as_str().unwrap();
    let args = json!({"command": "echo his", "block_until_ms": 60_000});
    bob.call("s", "execute_shell_command", &args).is(200);
    for tool in ["await_shell", "kill_shell"] {
        let output = bob
            .call("s", tool, &json!({"task_id": task}))
            .is(404)
            .json();
        assert_eq!(output["error"]["code"], "not_found", "{output}");
        let hint = output["error"]["hint"].to_string();
        assert!(
            !hint.contains(task) && !output.to_string().contains("hers"),
            "{output}"
        );
    }
    soon(|| alive(&mark) == 1, "it runs on");
    let killed = ann
        .call("s", "kill_shell", &json!({"task_id": task}))
        .is(200);
    assert_eq!(killed.json()["result"]["status"], "killed");
    all_gone(&mark);
}
