//! As Outfitter uses it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Code, Reply, SourceId, SystemClock, ToolContext, ToolError, ToolSource as _};
use outfitter_mcp::{Era, Host, McpSource, ServerState, StdioServer};
use outfitter_process::SupervisorProgram;
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-notes");

fn source(args: &[&str]) -> McpSource {
    let supervisor = Path::new(SERVER)
        .with_file_name("examples")
        .join("supervisor");
    assert!(
        supervisor.exists(),
        "build it first: cargo build -p mcp-notes --examples"
    );
    let name = SourceId::new("notes").unwrap();
    let server = StdioServer::new(name, SERVER, "/").args(args);
    let host = Host {
        supervisor: SupervisorProgram::at(supervisor),
        env: Vec::new(),
        clock: Arc::new(SystemClock),
        specs: None,
    };
    McpSource::start(server, host).unwrap()
}

async fn call(source: &McpSource, name: &str, args: Value) -> Result<Value, ToolError> {
    let snapshot = source.snapshot();
    let tool = snapshot
        .tools
        .iter()
        .find(|tool| tool.home_name() == name)
        .unwrap();
    match tool.call(&ToolContext::detached(), args).await? {
        Reply::Done(outcome) => match outcome.failed {
            Some(error) => Err(error.into()),
            None => Ok(outcome.result),
        },
        Reply::Wait(ask) => panic!("waits: {ask:?}"),
    }
}

#[tokio::test]
async fn notes_are_kept_over_the_pipes_of_a_supervised_child() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    for (life, expected) in [(1, 1), (2, 2)] {
        let source = source(&["--file", file.to_str().unwrap()]);
        source.settled(Duration::from_secs(60)).await;
        let status = source.status();
        assert_eq!(
            (status.status, status.era),
            (ServerState::Ready, Some(Era::Modern)),
            "{status:?}"
        );
        let note = call(&source, "add", json!({"title": format!("life {life}")}))
            .await
            .unwrap();
        assert_eq!(note["id"], expected);
        let listed = call(&source, "list", json!({})).await.unwrap();
        assert_eq!(listed["notes"].as_array().unwrap().len(), expected);
        let error = call(&source, "get", json!({"id": 77})).await.unwrap_err();
        assert_eq!(
            (error.code(), error.to_string()),
            (Code::Failed, "there is no note 77".to_owned())
        );
        let error = call(&source, "get", json!({"id": "x"})).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
        source.stop().await;
    }
}
