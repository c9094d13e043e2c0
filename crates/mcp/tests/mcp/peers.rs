//! Servers that others wrote. `.ci/peers` installs them.

use std::path::{Path, PathBuf};

use outfitter_core::ToolSource as _;
use outfitter_mcp::{Era, McpSource, StdioServer};
use serde_json::{Value, json};

use crate::support::{call, call_in, faults, host, id, names, until, watched};

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
