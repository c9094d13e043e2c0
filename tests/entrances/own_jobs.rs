//! The commands of a session that go on: waited for, ended and listed by who was allowed to start
//! them.

use serde_json::{Value, json};

use crate::served::Serving;
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.config(
        "[sandbox]\nbackend = \"passthrough\"\n[permissions]\nhttp_role = \"admin\"\n\
         rules = [{ tool = \"execute_shell_command\", decision = \"allow\" }]\n",
    );
    world
}

fn started(serving: &Serving<'_>, command: &str) -> Value {
    let line = json!({"command": command, "block_until_ms": 0});
    let told = serving.at.call("s", "execute_shell_command", &line);
    let told = told.is(200).json()["result"].clone();
    assert_eq!(told["status"], "running", "{told}");
    told["task_id"].clone()
}

#[test]
fn a_command_that_was_allowed_could_neither_be_waited_for_nor_ended() {
    let world = world();
    let serving = Serving::start(&world);
    let task = started(&serving, "echo begun; sleep 600");
    let call = |session: &str, tool: &str, args: Value| serving.at.call(session, tool, &args);
    let look = json!({"task_id": task, "block_until_ms": 60_000, "pattern": "begun"});
    let waited = call("s", "await_shell", look).is(200).json();
    assert_eq!(waited["result"]["matched"], true, "{waited}");
    // Another session's is none, whatever is allowed.
    call("other", "kill_shell", json!({"task_id": task})).is(404);
    let killed = call("s", "kill_shell", json!({"task_id": task}))
        .is(200)
        .json();
    assert_eq!(killed["result"]["status"], "killed", "{killed}");
    // A new one needs what it needed.
    call("s", "run_command", json!({"command": "touch x"})).is(403);
    serving.stop();
}

#[test]
fn the_commands_of_a_session_stood_in_no_list() {
    let world = world();
    let serving = Serving::start(&world);
    let states = |jobs: &Value| -> Vec<(String, String)> {
        let jobs = jobs.as_array().unwrap().iter();
        let word = |job: &Value, key: &str| job[key].as_str().unwrap().to_owned();
        jobs.map(|job| (word(job, "command"), word(job, "status")))
            .collect()
    };
    let expected = |last: &str| {
        vec![
            ("sleep 600; :".to_owned(), last.to_owned()),
            ("sleep 601".to_owned(), "ended".to_owned()),
        ]
    };
    let first = started(&serving, "sleep 601");
    let second = started(&serving, "sleep 600; :");
    let killed = serving
        .at
        .call("s", "kill_shell", &json!({"task_id": first}));
    killed.is(200);
    let told = serving.at.get("/v1/sessions/s").is(200).json();
    assert_eq!(states(&told["jobs"]), expected("running"), "{told}");
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    assert_eq!(states(&shown["jobs"]), expected("running"), "{shown}");
    serving.kill();
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    assert_eq!(states(&shown["jobs"]), expected("lost"), "{shown}");
    assert_eq!(shown["jobs"][0]["task_id"], second);
    // The next server has the session open, and runs none of them: it was `running` again then.
    let serving = Serving::start(&world);
    let look = json!({"task_id": second, "block_until_ms": 0});
    let waited = serving.at.call("s", "await_shell", &look).json();
    assert!(waited.to_string().contains("lost"), "{waited}");
    let third = started(&serving, "sleep 602");
    let expected = [
        vec![("sleep 602".to_owned(), "running".to_owned())],
        expected("lost"),
    ]
    .concat();
    let told = serving.at.get("/v1/sessions/s").is(200).json();
    assert_eq!(states(&told["jobs"]), expected, "{told}");
    let show = ["sessions", "show", "s", "--json"];
    let shown = world.run(&show).exits(0).json();
    assert_eq!(states(&shown["jobs"]), expected, "{shown}");
    let kill = json!({"task_id": third});
    serving.at.call("s", "kill_shell", &kill).is(200);
    serving.stop();
    let text = world.run(&["sessions", "show", "s"]).exits(0).stdout;
    for word in [
        "lost",
        "ended, signal",
        "sleep 600",
        second.as_str().unwrap(),
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
