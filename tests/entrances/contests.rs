//! Several at once: one answer, one run, one process at a session; and rights that were taken away
//! while something waited.

use serde_json::{Value, json};

use crate::scripted::{configured, scripted};
use crate::served::{Serving, ends, of, outputs};
use crate::world::World;

fn world(calls: &Value, role: &str) -> World {
    let turns = json!([{"tool_calls": calls}, {"text": "all done"}]);
    scripted(&turns, &unconfined(role))
}

fn unconfined(role: &str) -> String {
    format!(
        "[permissions]\nhttp_role = \"{role}\"\nlocal_role = \"{role}\"\n\
         [sandbox]\nbackend = \"passthrough\"\n"
    )
}

fn question() -> Value {
    json!([{"id": "one", "name": "ask_user", "arguments": {"question": "which?"}}])
}

fn touch() -> Value {
    let arguments = json!({"command": "echo done >> done.txt"});
    json!([{"id": "late", "name": "execute_shell_command", "arguments": arguments}])
}

#[test]
fn of_many_answers_one_is_taken() {
    let world = world(&question(), "guest");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    let id = of(&lines, "question")[0]["question_id"].as_str().unwrap();
    let path = format!("/v1/questions/{id}/answer");
    let told: Vec<(String, u16, Value)> = std::thread::scope(|scope| {
        let answering: Vec<_> = (0..8)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let answer = format!("answer {number}");
                    let whole = at.post(path, &json!({"answer": answer}));
                    (answer, whole.status, whole.json())
                })
            })
            .collect();
        answering
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    let (taken, refused): (Vec<_>, Vec<_>) = told.iter().partition(|(_, status, _)| *status == 202);
    assert_eq!(taken.len(), 1, "{told:#?}");
    for (_, status, problem) in refused {
        assert_eq!(*status, 409, "{problem}");
    }
    let (answer, _, told) = taken[0];
    let lines = at.follow(told["run_id"].as_str().unwrap());
    ends(&lines, "success");
    assert_eq!(outputs(&lines)[0]["result"]["answer"], answer.as_str());
    serving.stop();
}

/// What a session is worked on by one run at a time, wherever the other comes from.
#[test]
fn a_session_is_of_one_run_at_a_time() {
    let wait = json!({"command": "echo begun; until [ -e go ]; do sleep 0.02; done"});
    let calls = json!([{"id": "waits", "name": "execute_shell_command", "arguments": wait}]);
    let world = world(&calls, "admin");
    // The commands of this test need no approval.
    let toml = std::fs::read_to_string(world.work("outfitter.toml")).unwrap();
    world.config(&toml.replace("passthrough", "local"));
    let serving = Serving::start(&world);
    let at = &serving.at;
    let body = json!({"session_id": "s", "input": "go"});
    let mut reply = at.open("POST", "/v1/runs", &[], Some(&body));
    let mut lines = reply.until("tool_progress");

    at.post("/v1/runs", &body).is_problem(409, "busy");
    let called = at.call("s", "calculator", &json!({"expression": "1"}));
    let output = called.is(409).json();
    assert_eq!(output["error"]["code"], "busy", "{output}");
    assert_eq!(output["tool_name"], "calculator", "{output}");
    at.delete("/v1/sessions/s").is_problem(409, "busy");
    for args in [
        &["run", "--session", "s", "go"][..],
        &["run", "--session", "s"],
        &["tools", "call", "current_time", "--session", "s"],
        &["sessions", "delete", "s"],
    ] {
        let ran = world.run(args).exits(1);
        assert!(
            ran.stderr.starts_with("error: failed to "),
            "{}",
            ran.shown()
        );
    }
    // Another session is another matter.
    at.call("other", "calculator", &json!({"expression": "1"}))
        .is(200);

    std::fs::write(world.data("files/local/local/s/go"), "").unwrap();
    while let Some(line) = reply.line() {
        lines.push(line);
    }
    ends(&lines, "success");
    serving.stop();
    world.run(&["sessions", "delete", "s"]).exits(0);
}

/// A yes is for a call that the caller may make, then and now.
#[test]
fn an_approval_does_not_outlive_the_role() {
    let world = world(&touch(), "admin");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    ends(&lines, "waiting");
    let id = of(&lines, "approval")[0]["approval_id"]
        .as_str()
        .unwrap()
        .to_owned();
    serving.kill();

    configured(&world, &unconfined("guest"));
    let serving = Serving::start(&world);
    let told = serving.at.post(
        &format!("/v1/approvals/{id}"),
        &json!({"decision": "approve"}),
    );
    match told.status {
        202 => {
            let lines = serving.at.follow(told.json()["run_id"].as_str().unwrap());
            let outputs = outputs(&lines);
            assert_eq!(
                outputs[0]["error"]["code"], "not_permitted",
                "{}",
                outputs[0]
            );
        }
        _ => told.is_problem(404, "not_found"),
    }
    serving.stop();
    world.run(&["sessions", "answer", &id, "true", "--json"]);
    assert!(
        !world.data("files/local/local/s/done.txt").exists(),
        "it ran"
    );
    assert!(!world.work("done.txt").exists(), "it ran");
}

/// The tool was taken off the list while the call waited: a yes does not bring it back.
#[test]
fn a_call_that_waited_is_judged_again_when_it_is_resumed() {
    let world = world(&touch(), "admin");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    let id = of(&lines, "approval")[0]["approval_id"]
        .as_str()
        .unwrap()
        .to_owned();
    serving.kill();
    let toml = std::fs::read_to_string(world.work("outfitter.toml")).unwrap();
    world.config(&format!("{toml}[tools]\navailable = [\"ask_user\"]\n"));
    let serving = Serving::start(&world);
    let lines = serving.at.decide(&id, "approve");
    let outputs = outputs(&lines);
    assert_eq!(
        outputs[0]["error"]["code"], "unknown_tool",
        "{}",
        outputs[0]
    );
    assert!(
        !world.data("files/local/local/s/done.txt").exists(),
        "it ran"
    );
    serving.stop();
}

/// What waits is in the log, and not in a process: one asks, the other answers.
#[test]
fn what_one_process_asks_another_answers() {
    let world = world(&question(), "guest");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let answered = |id: &str, session: &str| {
        let path = format!("/v1/questions/{id}/answer");
        at.post(&path, &json!({"answer": "late"}))
            .is_problem(409, "conflict");
        let ran = world.run(&["sessions", "answer", id, "late", "--json"]);
        assert_eq!(ran.exits(1).json()["error"]["code"], "conflict");
        let open = at.get(&format!("/v1/sessions/{session}")).json();
        assert_eq!(open["waiting"], json!([]), "{open}");
    };

    let lines = at.run("served").lines();
    let id = of(&lines, "question")[0]["question_id"].as_str().unwrap();
    let ran = world
        .run(&["sessions", "answer", id, "red", "--json"])
        .exits(0);
    assert_eq!(ran.lines().outputs()[0]["result"]["answer"], "red");
    answered(id, "served");

    let ran = world
        .run(&["run", "go", "--json", "--session", "typed"])
        .exits(1);
    let lines = ran.lines();
    assert_eq!(lines.outcome(), "waiting");
    let id = lines.all("question")[0]["question_id"].as_str().unwrap();
    assert!(
        ran.stderr.contains(&format!("sessions answer {id} ")),
        "{}",
        ran.shown()
    );
    let lines = at.answer(id, &json!("blue"));
    ends(&lines, "success");
    assert_eq!(outputs(&lines)[0]["result"]["answer"], "blue");
    answered(id, "typed");
    serving.stop();
}
