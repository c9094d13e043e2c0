//! Servers, programs and APIs that do not answer: who needs nothing of them does not wait.

use rstest::rstest;
use serde_json::Value;

use crate::serving::Serving;
use crate::world::World;

/// A server that says that it was started, and then nothing.
const SILENT: &str = r#"
[mcp.servers.slow]
command = "/bin/sh"
args = ["-c", "echo > ROOT/started; sleep 600"]
connect_timeout_seconds = 600
"#;

const SCRIPTED: &str = "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n";

fn world(toml: &str) -> World {
    let world = World::new();
    let root = world.path("").display().to_string();
    let toml = toml.replace("ROOT", root.trim_end_matches('/'));
    let toml = format!("{toml}\n[server]\nbind = \"127.0.0.1:0\"\n");
    world.write("here/outfitter.toml", &toml);
    world
}

#[rstest]
#[case(&["tools", "call", "calculator", "--args", r#"{"expression": "6 * 7"}"#], "42")]
#[case(&["tools", "show", "grep"], "grep")]
#[case(&["skills", "list"], "there are no skills")]
#[case(&["config", "explain", "--prompt"], "")]
#[case(&["sessions", "list"], "")]
fn a_server_that_does_not_answer_held_up_what_has_nothing_to_do_with_it(
    #[case] args: &[&str],
    #[case] said: &str,
) {
    let world = world(SILENT);
    let ran = world.run(args);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.stdout.contains(said), "{}", ran.shown());
    // It cannot have waited for what it never began.
    assert!(!world.path("started").exists(), "{args:?}");
}

#[test]
fn a_listing_waited_for_a_server_that_does_not_answer_and_said_nothing_of_it() {
    let world = world(SILENT);
    let ran = world.run(&["tools", "list", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let tools = ran.json();
    let mut tools = tools.as_array().unwrap().iter();
    assert!(tools.any(|tool| tool["name"] == "calculator"));
    let warned = "warning: the MCP server slow: still connecting after 3 s";
    assert!(ran.stderr.starts_with(warned), "{}", ran.stderr);
}

#[test]
fn a_run_waited_for_a_server_that_does_not_answer_and_said_nothing_of_it() {
    let world = world(&format!("{SCRIPTED}{SILENT}"));
    world.write("here/script.yaml", "- text: done\n");
    let ran = world.run(&["run", "--json", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let warned = events.iter().find(|event| event["code"] == "not_ready");
    let message = warned.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("the MCP server slow"), "{message}");
}

#[test]
fn doctor_says_for_how_long_a_server_has_not_answered() {
    let world = world(SILENT);
    let document = world.run(&["doctor", "--json"]).json();
    let mut checks = document["checks"].as_array().unwrap().iter();
    let row = checks.find(|row| row["what"] == "mcp").unwrap();
    assert_eq!(row["status"], "warn");
    let finding = row["finding"].as_str().unwrap();
    assert_eq!(finding, "the MCP server slow: still connecting after 3 s");
}

#[test]
fn a_server_that_does_not_answer_kept_the_program_from_serving() {
    let world = world(&format!("{SILENT}[permissions]\nhttp_role = \"user\"\n"));
    let serving = Serving::start(&world);
    assert_eq!(serving.ask("GET /healthz", "", "").status, 200);
    let servers = serving.ask("GET /v1/mcp/servers", "", "").json();
    assert_eq!(servers[0]["status"], "starting", "{servers}");
    let body = r#"{"arguments": {"expression": "6 * 7"}}"#;
    let called = serving.ask("POST /v1/tools/calculator/call", "", body);
    assert_eq!(called.json()["status"], "success", "{}", called.body);
    let tools = serving.ask("GET /v1/tools", "", "").json();
    let mut tools = tools.as_array().unwrap().iter();
    assert!(tools.any(|tool| tool["name"] == "calculator"));
}

#[test]
fn a_call_of_a_tool_waits_for_its_server_and_is_told_that_it_is_not_there() {
    let world = world(&SILENT.replace("= 600", "= 1"));
    let ran = world.run(&["tools", "call", "slow__do_it", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "unavailable", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("slow has no such tool now"), "{message}");
    // What is of no server is unknown, as ever.
    let ran = world.run(&["tools", "call", "other__do_it", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "unknown_tool");
}

/// It answers later than a listing waits, and only that call waits for it.
#[test]
fn a_call_of_a_tool_waits_for_a_server_longer_than_a_listing_does() {
    let program = env!("CARGO_BIN_EXE_outfitter");
    let world = world(&format!(
        "[mcp.servers.late]\ncommand = \"/bin/sh\"\n\
         args = [\"-c\", \"sleep 4; exec {program} __mcp-notes\"]\n{SILENT}"
    ));
    let args = ["tools", "call", "late__list", "--json"];
    let ran = world.run(&args);
    assert_eq!(ran.json()["status"], "success", "{}", ran.shown());
    assert!(!world.path("started").exists(), "the other is not begun");
}

#[test]
fn a_program_and_an_api_that_do_not_answer_held_up_everything() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let api = listener.local_addr().unwrap();
    let world = world(&format!(
        "[commands.slow]\nprogram = \"ROOT/slow\"\ntimeout_seconds = 600\n\
         [plugin_api.apis.far]\nopenapi = \"http://{api}/openapi.json\"\ntimeout_seconds = 600\n"
    ));
    world.program("slow", "#!/bin/sh\n/bin/sleep 600\n");
    let args = [
        "tools",
        "call",
        "calculator",
        "--args",
        r#"{"expression": "6 * 7"}"#,
    ];
    let ran = world.run(&args);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let ran = world.run(&["tools", "list"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    for what in ["the programs of [commands]", "the APIs of [plugin_api]"] {
        let warned = format!("warning: {what}: still connecting after 3 s");
        assert!(ran.stderr.contains(&warned), "{}", ran.stderr);
    }
    let ran = world.run(&["skills", "list"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(
        ran.stderr.contains("the programs of [commands]"),
        "{}",
        ran.stderr
    );
    let serving = Serving::start(&world);
    assert_eq!(serving.ask("GET /healthz", "", "").status, 200);
    drop(listener);
}
