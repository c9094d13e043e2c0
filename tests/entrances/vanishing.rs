//! Clients that vanish: what they began ends with them, or goes on where it shall.

use rstest::rstest;
use serde_json::json;

use crate::at_work::{go, made, world};
use crate::http::At;
use crate::mcp::Mcp;
use crate::served::{Serving, ends, outputs, words};
use crate::soon::soon;

#[rstest]
fn a_run_ends_with_the_client_that_vanishes(#[values("ndjson", "agui")] way: &str) {
    let world = world("");
    let serving = Serving::start(&world);
    let run = start(&serving.at, way);
    let lines = serving.at.follow(&run);
    ends(&lines, "cancelled");
    let outputs = outputs(&lines);
    assert_eq!(outputs[0]["status"], "cancelled", "{}", outputs[0]);
    go(&world, "s");
    serving.stop();
    assert_eq!(made(&world, "s"), "", "it went on");
}

#[rstest]
fn a_run_outlives_its_client_where_it_shall(#[values("ndjson", "agui")] way: &str) {
    let world = world("[server]\ncancel_on_disconnect = false");
    let serving = Serving::start(&world);
    let run = start(&serving.at, way);
    go(&world, "s");
    let lines = serving.at.follow(&run);
    ends(&lines, "success");
    assert_eq!(made(&world, "s"), "made\n");
    serving.stop();
}

/// Starts a run, reads until its call is at work, and vanishes. The id of the run.
fn start(at: &At, way: &str) -> String {
    if way == "ndjson" {
        let body = json!({"session_id": "s", "input": "go"});
        let mut reply = at.open("POST", "/v1/runs", &[], Some(&body));
        let run = reply.headers["outfitter-run-id"].clone();
        reply.until("tool_progress");
        reply.vanish();
        return run;
    }
    let mut body = words("m1");
    for (key, value) in [
        ("threadId", json!("s")),
        ("runId", json!("r1")),
        ("protocolVersion", json!("1.0")),
    ] {
        body[key] = value;
    }
    for key in ["tools", "context"] {
        body[key] = json!([]);
    }
    let mut reply = at.open("POST", "/agui", &[], Some(&body));
    // Not its words, which are in the arguments as well.
    reply.until_text("outfitter.tool_progress");
    let run = reply.taken();
    let (_, run) = run.split_once("\"run_id\":\"").unwrap();
    let run_id = run.split_once('"').unwrap().0.to_owned();
    reply.vanish();
    run_id
}

/// A direct call ends with the client that vanishes, and its session is free again.
#[rstest]
fn a_call_ends_with_the_client_that_vanishes(
    #[values("http", "mcp", "mcp with progress")] way: &str,
) {
    let world = world("");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let command = "echo > begun; until [ -e go ]; do sleep 0.02; done; echo made > done.txt";
    let arguments = json!({"command": command});
    let asked = if way == "http" {
        let body = json!({"session_id": "s", "arguments": arguments});
        let path = "/v1/tools/execute_shell_command/call";
        at.begin("POST", path, &[], Some(&body))
    } else {
        let client = Mcp::modern(at);
        let token = (way != "mcp").then(|| json!("t"));
        client.begin_with("execute_shell_command", &arguments, token)
    };
    let session = soon(|| {
        let sessions = at.get("/v1/sessions").is(200).json();
        let id = sessions["sessions"][0]["id"].as_str()?.to_owned();
        let begun = world.data(&format!("files/local/local/{id}/begun"));
        begun.exists().then_some(id)
    });
    drop(asked);
    let output = soon(|| {
        let path = format!("/v1/sessions/{session}/messages");
        let told = at.get(&path).is(200).json();
        let output = &told["messages"][0]["metadata"]["tool_agent_output"];
        output.is_object().then(|| output.clone())
    });
    assert_eq!(output["status"], "cancelled", "{output}");
    // Free again, once the run has written its end.
    soon(|| {
        let next = at.call(&session, "calculator", &json!({"expression": "1"}));
        (next.status == 200).then_some(())
    });
    go(&world, &session);
    let ran = serving.stop();
    // Nothing is wrong with the server.
    assert!(!ran.stderr.contains("ERROR"), "{}", ran.shown());
    assert_eq!(made(&world, &session), "", "it went on");
    let args = ["sessions", "replay", &session, "--json"];
    let replay = world.run(&args).exits(0);
    let count = |kind: &str| replay.stdout.matches(kind).count();
    assert_eq!(count("\"run_started\""), count("\"run_finished\""));
}

/// In the older form of MCP a lost connection calls nothing off. The call goes on to its end or its
/// own time, and its output is in the log; the end of its session ends it.
#[rstest]
fn a_call_of_an_older_client_whose_connection_broke_goes_on(#[values(true, false)] ended: bool) {
    let world = world("");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let client = Mcp::legacy(at);
    let session = format!("mcp-{}", client.session());
    let command = "echo > begun; until [ -e go ]; do sleep 0.02; done; echo made > done.txt";
    let asked = client.begin("execute_shell_command", &json!({"command": command}));
    let begun = world.data(&format!("files/local/local/{session}/begun"));
    soon(|| begun.exists().then_some(()));
    drop(asked);
    if ended {
        client.end();
    } else {
        go(&world, &session);
    }
    let output = soon(|| {
        let path = format!("/v1/sessions/{session}/messages");
        let told = at.get(&path).is(200).json();
        let output = &told["messages"][0]["metadata"]["tool_agent_output"];
        output.is_object().then(|| output.clone())
    });
    let expected = if ended { "cancelled" } else { "success" };
    assert_eq!(output["status"], expected, "{output}");
    go(&world, &session);
    serving.stop();
    assert_eq!(made(&world, &session), if ended { "" } else { "made\n" });
}
