//! Line by line over its pipes.

#![expect(
    clippy::disallowed_types,
    reason = "the test starts the program under test as a client would"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-notes"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self {
            child,
            input,
            output: BufReader::new(output),
        }
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.tell(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_legacy_client_shakes_hands_lists_and_calls_and_the_server_ends_with_its_input() {
    let mut server = Server::start();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let agreed = server.ask("initialize", &params);
    assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(agreed["result"]["serverInfo"]["name"], "mcp-notes");
    server.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    insta::assert_json_snapshot!(
        "tools",
        server.ask("tools/list", &json!({}))["result"]["tools"]
    );
    let note = server.ask(
        "tools/call",
        &json!({"name": "add", "arguments": {"title": "Milk"}}),
    );
    assert_eq!(
        note["result"]["structuredContent"],
        json!({"id": 1, "title": "Milk", "text": ""})
    );
    let gone = server.ask(
        "tools/call",
        &json!({"name": "get", "arguments": {"id": 9}}),
    );
    assert_eq!(gone["result"]["isError"], true);
    let wrong = server.ask(
        "tools/call",
        &json!({"name": "add", "arguments": {"titel": "x"}}),
    );
    assert_eq!(wrong["error"]["code"], -32602);
    server.input = None;
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn a_modern_client_needs_no_handshake() {
    let mut server = Server::start();
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let found = server.ask("server/discover", &meta);
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{versions:?}");
}

#[test]
fn a_client_that_goes_away_at_once_is_no_failure() {
    let mut server = Server::start();
    server.input = None;
    assert!(server.child.wait().unwrap().success());
}
