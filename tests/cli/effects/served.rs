//! Keys about what is served.

use serde_json::json;

use super::SCRIPTED;
use crate::serving::Serving;
use crate::world::World;

/// Any free port.
const ANYWHERE: &str = "[server]\nbind = \"127.0.0.1:0\"\n";

#[test]
fn a_server_listens_where_the_configuration_says() {
    // Held, so that nobody is given it but who asks for it.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.set_reuseaddr(true).unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = held.local_addr().unwrap().to_string();
    let world = World::with(&format!("[server]\nbind = \"{address}\"\n"));
    let serving = Serving::start(&world);
    assert_eq!(serving.address(), address);
    assert_eq!(serving.ask("GET /healthz", "", "").status, 200);
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let ran = World::with("[server]\nbind = \"0.0.0.0:0\"\n").run(&["serve"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(
        ran.stderr.contains("without authentication"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_caller_has_the_role_of_the_configuration() {
    let has = |role: &str, tool: &str| {
        let toml = format!("{ANYWHERE}[permissions]\nhttp_role = \"{role}\"\n");
        let listing = Serving::start(&World::with(&toml)).ask("GET /v1/tools", "", "");
        assert_eq!(listing.status, 200, "{}", listing.body);
        listing.body.contains(&format!("\"{tool}\""))
    };
    assert!(has("guest", "calculator") && !has("guest", "file_write"));
    assert!(has("admin", "file_write"));
}

#[test]
fn a_page_of_an_allowed_origin_may_call_and_no_other() {
    let toml =
        "[server]\nbind = \"127.0.0.1:0\"\nallowed_origins = [\"https://app.example.org\"]\n";
    let world = World::with(toml);
    let serving = Serving::start(&world);
    let from = |origin: &str| {
        let header = format!("origin: {origin}\r\n");
        serving.ask("GET /v1/tools", &header, "").status
    };
    assert_eq!(from("https://app.example.org"), 200);
    assert_eq!(from("https://other.example.org"), 403);
}

#[test]
fn a_silent_stream_says_that_it_lives_as_often_as_configured() {
    let world = World::with(&format!(
        "{SCRIPTED}[server]\nbind = \"127.0.0.1:0\"\nheartbeat_seconds = 1\n"
    ));
    world.write("here/script.yaml", "- text: done\n  delay_ms: 2500\n");
    let serving = Serving::start(&world);
    let input = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": "m", "role": "user", "content": "go"}],
    });
    let told = serving.ask(
        "POST /agui",
        "accept: text/event-stream\r\n",
        &input.to_string(),
    );
    assert_eq!(told.status, 200, "{}", told.body);
    let comments = told
        .body
        .lines()
        .filter(|line| line.starts_with(':'))
        .count();
    assert!(comments >= 1, "{}", told.body);
    assert!(told.body.contains("RUN_FINISHED"), "{}", told.body);
}

/// What nothing isolates asks a caller, who is there, and is denied where nobody shall be asked.
#[test]
fn what_would_be_asked_is_denied_where_nobody_shall_be() {
    let outcome = |approval: &str| {
        let world = World::with(&format!(
            "{SCRIPTED}{ANYWHERE}[sandbox]\nbackend = \"passthrough\"\nrequire = \"none\"\n\
             [permissions]\nhttp_role = \"admin\"\napproval = \"{approval}\"\n"
        ));
        world.write(
            "here/script.yaml",
            "- tool_calls: [{ name: execute_shell_command, arguments: { command: touch made } }]\n\
             - text: done\n",
        );
        let serving = Serving::start(&world);
        let told = serving.ask("POST /v1/runs", "", &json!({"input": "go"}).to_string());
        assert_eq!(told.status, 200, "{}", told.body);
        let last = told.body.lines().last().unwrap();
        let last: serde_json::Value = serde_json::from_str(last).unwrap();
        (last["outcome"].as_str().unwrap().to_owned(), told.body)
    };
    let (asked, _) = outcome("ask");
    assert_eq!(asked, "waiting");
    let (denied, body) = outcome("never");
    assert_eq!(denied, "success");
    assert!(body.contains("\"status\":\"denied\""), "{body}");
}

#[test]
fn what_there_is_is_listed() {
    let world = World::with(&format!(
        "{ANYWHERE}[permissions]\nhttp_role = \"user\"\n[mcp.servers.n]\nbuiltin = \"notes\"\n"
    ));
    let serving = Serving::start(&world);
    let servers = serving.ask("GET /v1/mcp/servers", "", "").json();
    assert!(servers.to_string().contains("\"n\""), "{servers}");
}

#[test]
fn a_run_ends_with_its_connection_or_goes_on_as_configured() {
    let outcome = |cancel: bool| {
        let world = World::with(&format!(
            "{SCRIPTED}{ANYWHERE}cancel_on_disconnect = {cancel}\n"
        ));
        // Long enough for a connection that breaks to be noticed first.
        let delay = if cancel { 60_000 } else { 1500 };
        let script = format!("- text: done\n  delay_ms: {delay}\n");
        world.write("here/script.yaml", &script);
        let serving = Serving::start(&world);
        let body = json!({"input": "go", "session_id": "s"}).to_string();
        let run = serving.leave("POST /v1/runs", &body, |line| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(event["run_id"].as_str()?.to_owned())
        });
        let told = serving.ask(&format!("GET /v1/runs/{run}/events?from_seq=1"), "", "");
        let last = told.body.lines().last().unwrap();
        let last: serde_json::Value = serde_json::from_str(last).unwrap();
        last["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome(true), "cancelled");
    assert_eq!(outcome(false), "success");
}
