//! Servers that are told to end, and servers that are killed: every run has its one last event, and a
//! turn that broke off goes on.

use rstest::rstest;
use serde_json::{Value, json};

use crate::at_work::{at_once, go, made, world};
use crate::http::Reply;
use crate::scripted::scripted;
use crate::served::{Serving, ends, of, outputs, words};
use crate::soon::soon;
use crate::world::World;

/// An approved call that was at work when the server was killed is not made again: nobody knows how
/// far it came.
#[test]
fn an_approved_call_that_broke_off_is_not_made_twice() {
    let world = world("[sandbox]\nbackend = \"passthrough\"");
    let model = world.work("model.yaml");
    let text = std::fs::read_to_string(&model).unwrap();
    std::fs::write(
        &model,
        text.replace("echo begun;", "echo once >> done.txt;"),
    )
    .unwrap();
    let serving = Serving::start(&world);
    let lines = serving.run("s").lines();
    let approval = of(&lines, "approval")[0]["approval_id"].as_str().unwrap();
    let path = format!("/v1/approvals/{approval}");
    let told = serving
        .at
        .post(&path, &json!({"decision": "approve"}))
        .is(202);
    drop(told);
    soon(|| (made(&world, "s") == "once\n").then_some(()));
    serving.kill();
    go(&world, "s");

    let serving = Serving::start(&world);
    let told = soon(|| {
        let told = serving.at.get("/v1/sessions/s/messages").is(200).json();
        let last = told["messages"].as_array().unwrap().last().cloned();
        (last.is_some_and(|last| last["content"] == "all done")).then_some(told)
    });
    let messages = told["messages"].as_array().unwrap().iter();
    let results: Vec<&Value> = messages
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(results.len(), 1, "{told:#}");
    assert_eq!(
        results[0]["metadata"]["tool_agent_output"]["status"],
        "interrupted"
    );
    serving
        .at
        .post(&path, &json!({"decision": "approve"}))
        .is_problem(409, "conflict");
    serving.stop();
    assert_eq!(made(&world, "s"), "once\n");
}

/// The program is told to end in the middle: who listens gets a last event, and the log has it. An
/// orderly restart loses no more than a crash: the turn goes on.
#[rstest]
fn a_server_that_ends_ends_its_runs_and_the_next_goes_on(#[values("ndjson", "agui")] way: &str) {
    let world = world("");
    let serving = Serving::start(&world);
    if way == "ndjson" {
        let body = json!({"session_id": "s", "input": "go"});
        let mut reply = serving.at.open("POST", "/v1/runs", &[], Some(&body));
        let mut lines = reply.until("tool_progress");
        serving.terminate();
        while let Some(line) = reply.line() {
            lines.push(line);
        }
        ends(&lines, "failed");
        let end = lines.last().unwrap();
        assert_eq!(end["output"]["error"]["code"], "interrupted", "{end}");
        // What it had said is kept; how far it came is not known.
        let output = outputs(&lines)[0];
        assert_eq!(output["status"], "interrupted", "{output}");
        assert!(output["result"].to_string().contains("begun"), "{output}");
    } else {
        let mut body = words("m1");
        body["threadId"] = json!("s");
        body["runId"] = json!("r1");
        body["protocolVersion"] = json!("1.0");
        let mut reply = serving.at.open("POST", "/agui", &[], Some(&body));
        // The command itself has the word; only then is the call at work.
        reply.until_text("outfitter.tool_progress");
        serving.terminate();
        let told = reply.whole().sse();
        let ends = |event: &&Value| event["type"] == "RUN_FINISHED" || event["type"] == "RUN_ERROR";
        assert_eq!(told.iter().filter(ends).count(), 1, "{told:#?}");
        let last = told.last().unwrap();
        assert_eq!(
            (&last["type"], &last["code"]),
            (&json!("RUN_ERROR"), &json!("interrupted"))
        );
    }
    serving.ended();
    go(&world, "s");
    assert_eq!(made(&world, "s"), "", "its command went on");
    goes_on(&world);
}

/// However it was ended, and however often, the turn goes on, and has each result once.
#[rstest]
fn a_turn_goes_on_however_its_server_was_ended(
    #[values("twice", "then killed", "killed, then told", "told, killed, told")] how: &str,
) {
    let world = world("");
    let serving = Serving::start(&world);
    let body = json!({"session_id": "s", "input": "go"});
    let mut reply = serving.at.open("POST", "/v1/runs", &[], Some(&body));
    reply.until("tool_progress");
    match how {
        "twice" => serving.abandoned(),
        "then killed" => {
            serving.terminate();
            serving.kill_unless_ended();
        }
        "killed, then told" => {
            serving.kill();
            Serving::start(&world).stop();
        }
        _ => {
            serving.stop();
            Serving::start(&world).kill();
            Serving::start(&world).stop();
        }
    }
    drop(reply);
    go(&world, "s");
    assert_eq!(made(&world, "s"), "", "its command went on");
    goes_on(&world);
}

/// A client that hears no end of its run sends it again: to the next server too, which has gone on
/// with it by itself.
#[rstest]
fn a_run_of_ag_ui_was_made_again_by_the_next_server(
    #[values("told", "twice", "killed")] how: &str,
) {
    let world = world("");
    let serving = Serving::start(&world);
    let mut body = words("m1");
    body["threadId"] = json!("s");
    body["runId"] = json!("r1");
    body["protocolVersion"] = json!("1.0");
    let mut reply = serving.at.open("POST", "/agui", &[], Some(&body));
    reply.until_text("outfitter.tool_progress");
    match how {
        "told" => drop(serving.stop()),
        "twice" => serving.abandoned(),
        _ => serving.kill(),
    }
    drop(reply);
    go(&world, "s");
    let serving = Serving::start(&world);
    let again = |when: &str| {
        let again = serving.at.post("/agui", &body).is(409).json();
        assert_eq!(again["code"], "conflict", "{when}: {again}");
    };
    again("at once");
    soon(|| {
        let told = serving.at.get("/v1/sessions/s/messages").is(200).json();
        let last = told["messages"].as_array().unwrap().last().cloned();
        last.is_some_and(|last| last["content"] == "all done")
            .then_some(())
    });
    again("when it has gone on");
    serving.stop();
    assert_eq!(made(&world, "s"), "", "it was made again");
}

/// The next server makes an end of the turn in session `s`, whose call was interrupted.
fn goes_on(world: &World) {
    let serving = Serving::start(world);
    let told = soon(|| {
        let told = serving.at.get("/v1/sessions/s/messages").is(200).json();
        let last = told["messages"].as_array().unwrap().last().cloned();
        (last.is_some_and(|last| last["content"] == "all done")).then_some(told)
    });
    let messages = told["messages"].as_array().unwrap().iter();
    let results: Vec<&Value> = messages.filter(|one| one["role"] == "tool").collect();
    assert_eq!(results.len(), 1, "{told:#}");
    let output = &results[0]["metadata"]["tool_agent_output"];
    assert_eq!(output["status"], "interrupted", "{output}");
    serving.stop();
    assert_eq!(made(world, "s"), "", "it was made again");
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = replay
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!(lines.last().unwrap()["outcome"], "success");
    let begun = of(&lines, "run_started").len();
    assert_eq!(
        of(&lines, "run_finished").len(),
        begun,
        "every run has one end"
    );
}

/// A question that waits is no turn that was interrupted: it is answered after the restart.
#[test]
fn what_waits_when_the_server_ends_waits_on() {
    let turns = json!([
        {"tool_calls": [{"id": "asks", "name": "ask_user", "arguments": {"question": "which?"}}]},
        {"text": "thank you"},
    ]);
    let world = scripted(&turns, &at_once(""));
    let serving = Serving::start(&world);
    let lines = serving.run("s").lines();
    ends(&lines, "waiting");
    let question = of(&lines, "question")[0]["question_id"].as_str().unwrap();
    serving.stop();
    let serving = Serving::start(&world);
    let lines = serving.at.answer(question, &json!("this one"));
    ends(&lines, "success");
    serving.stop();
}

/// A direct call belongs to no turn: its caller has its output, and nothing goes on with it.
#[test]
fn a_direct_call_is_answered_by_a_server_that_ends() {
    let world = world("");
    let serving = Serving::start(&world);
    let command = "echo begun; until [ -e go ]; do sleep 0.02; done; echo made > done.txt";
    let body = json!({"session_id": "s", "arguments": {"command": command}});
    let path = "/v1/tools/execute_shell_command/call";
    let asked = serving.at.begin("POST", path, &[], Some(&body));
    soon(|| {
        let sessions = serving.at.get("/v1/sessions").is(200).json();
        (sessions["sessions"][0]["entries"].as_u64()? >= 3).then_some(())
    });
    serving.terminate();
    let told = Reply::read(asked).whole();
    assert_eq!(told.status, 499, "{}", told.text);
    let output = told.json();
    assert_eq!(output["status"], "interrupted", "{output}");
    serving.ended();
    go(&world, "s");
    let serving = Serving::start(&world);
    let told = serving.at.get("/v1/sessions/s/messages").is(200).json();
    assert_eq!(told["messages"].as_array().unwrap().len(), 1, "{told:#}");
    serving.stop();
    assert_eq!(made(&world, "s"), "");
}

/// Killed after so many lines of its first run, the server goes on by itself when it starts again.
/// What has begun is not done twice; what only reads is.
#[rstest]
fn a_turn_goes_on_after_a_kill_at_any_line(
    #[values(1, 2, 5, 12, 20, 28, 34, 40, 46, 54, 62)] lines: usize,
) {
    let append = |id: &str, text: &str| {
        let arguments = json!({"path": "log.txt", "mode": "append", "content": text});
        json!({"id": id, "name": "file_write", "arguments": arguments})
    };
    let list = |id: &str| json!({"id": id, "name": "list_dir", "arguments": {}});
    let turns = json!([
        {"tool_calls": [append("w1", "one\n"), list("r1")]},
        {"tool_calls": [append("w2", "two\n"), list("r2")]},
        {"text": "all done"},
    ]);
    let world = scripted(&turns, &at_once(""));
    let serving = Serving::start(&world);
    let body = json!({"session_id": "s", "input": "go"});
    let mut reply = serving.at.open("POST", "/v1/runs", &[], Some(&body));
    for _ in 0..lines {
        if reply.line().is_none() {
            break;
        }
    }
    serving.kill();

    let serving = Serving::start(&world);
    let at = &serving.at;
    let told = soon(|| {
        let told = at.get("/v1/sessions/s/messages").is(200).json();
        let last = told["messages"].as_array().unwrap().last().cloned();
        (last.is_some_and(|last| last["content"] == "all done")).then_some(told)
    });
    serving.stop();
    let messages = told["messages"].as_array().unwrap();
    let mut statuses = Vec::new();
    for call in ["w1", "r1", "w2", "r2"] {
        let results: Vec<&Value> = messages
            .iter()
            .filter(|message| message["tool_call_id"] == call)
            .collect();
        assert_eq!(results.len(), 1, "{call} has one result: {told:#}");
        let output = &results[0]["metadata"]["tool_agent_output"];
        statuses.push(output["status"].as_str().unwrap().to_owned());
    }
    assert_eq!([&statuses[1], &statuses[3]], ["success", "success"]);
    let written = std::fs::read_to_string(world.data("files/local/local/s/log.txt")).unwrap();
    for (at, text) in [(0, "one"), (2, "two")] {
        let times = written.lines().filter(|line| *line == text).count();
        assert!(times <= 1, "{text} was written twice");
        match statuses[at].as_str() {
            "success" => assert_eq!(times, 1, "{written}"),
            // It is uncertain, and said to be.
            status => assert_eq!(status, "interrupted", "{told:#}"),
        }
    }
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines: Vec<Value> = replay
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let begun = of(&lines, "run_started").len();
    assert_eq!(
        of(&lines, "run_finished").len(),
        begun,
        "every run has one end"
    );
}
