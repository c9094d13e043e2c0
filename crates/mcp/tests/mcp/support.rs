//! Servers that are started as the program would start them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactStore, Bytes, NewArtifact, Outcome, Progress,
    ProgressSink, Reply, Scope, SessionId, SourceId, Stream, SystemClock, Tool, ToolContext,
    ToolError, ToolSource as _,
};
use outfitter_mcp::{Host, McpSource, ServerState, StdioServer};
use outfitter_process::SupervisorProgram;
use serde_json::Value;
use tempfile::TempDir;

const TESTKIT: &str = env!("CARGO_BIN_EXE_outfitter-mcp-testkit");
const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/servers");

/// Longer than anything takes, also on a machine under load.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn host() -> Host {
    Host {
        supervisor: SupervisorProgram::at(TESTKIT),
        env: vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("LANG".into(), "C.UTF-8".into()),
        ],
        specs: None,
        clock: Arc::new(SystemClock),
    }
}

pub(crate) fn id(name: &str) -> SourceId {
    SourceId::new(name).unwrap()
}

/// A server, and what it was told.
pub(crate) struct Odd {
    pub(crate) source: McpSource,
    record: PathBuf,
    _dir: TempDir,
}

impl Odd {
    /// The odd server in one of its modes, as it is.
    pub(crate) fn start(mode: &str) -> Self {
        Self::start_with(mode, &[], |_| {})
    }

    /// The odd server, after `change` to what the operator says of it.
    pub(crate) fn start_with(
        mode: &str,
        more: &[&str],
        change: impl FnOnce(&mut StdioServer),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("told");
        let script = Path::new(SERVERS).join("odd.py");
        let mut args: Vec<OsString> = vec![script.into(), mode.into(), record.clone().into()];
        args.extend(more.iter().map(Into::into));
        let mut server = StdioServer::new(id("odd"), "python3", "/").args(args);
        change(&mut server);
        let source = McpSource::start(server, host()).unwrap();
        Self {
            source,
            record,
            _dir: dir,
        }
    }

    /// The same, once it is ready.
    pub(crate) async fn ready(mode: &str) -> Self {
        let odd = Self::start(mode);
        odd.until_ready().await;
        odd
    }

    pub(crate) async fn until_ready(&self) {
        until(|| {
            matches!(
                self.source.status().status,
                ServerState::Ready | ServerState::Degraded
            )
        })
        .await;
    }

    /// What it was told, in all its lives.
    pub(crate) fn told(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.record).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How many of these it was told.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.told()
            .iter()
            .filter(|message| message["method"] == method)
            .count()
    }

    pub(crate) fn lives(&self) -> u64 {
        fs::metadata(self.record.with_extension("lives")).map_or(0, |file| file.len())
    }

    /// What it said of its end, in a file.
    pub(crate) fn farewell(&self) -> String {
        fs::read_to_string(self.record.with_extension("end")).unwrap_or_default()
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<Outcome, ToolError> {
        call(&self.source, tool, args).await
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        faults(&self.source)
    }
}

pub(crate) fn faults(source: &McpSource) -> Vec<String> {
    let snapshot = source.snapshot();
    snapshot
        .faults
        .iter()
        .map(|fault| format!("{}: {}", fault.what, fault.why))
        .collect()
}

pub(crate) fn names(source: &McpSource) -> Vec<String> {
    let snapshot = source.snapshot();
    snapshot
        .tools
        .iter()
        .map(|tool| tool.home_name().to_owned())
        .collect()
}

pub(crate) fn tool(source: &McpSource, name: &str) -> Arc<dyn Tool> {
    let snapshot = source.snapshot();
    let found = snapshot.tools.iter().find(|tool| tool.home_name() == name);
    found
        .unwrap_or_else(|| panic!("no tool {name}: {:?}", faults(source)))
        .clone()
}

pub(crate) async fn call(
    source: &McpSource,
    name: &str,
    args: Value,
) -> Result<Outcome, ToolError> {
    call_in(source, name, args, &ToolContext::detached()).await
}

/// One call, which has to end.
pub(crate) async fn call_in(
    source: &McpSource,
    name: &str,
    args: Value,
    cx: &ToolContext,
) -> Result<Outcome, ToolError> {
    let tool = tool(source, name);
    let reply = tokio::time::timeout(LONG, tool.call(cx, args)).await;
    match reply.expect("the call does not end")? {
        Reply::Done(outcome) => Ok(*outcome),
        Reply::Wait(ask) => panic!("waits: {ask:?}"),
    }
}

/// Waits until something holds; fails when it never does.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, waiting)
        .await
        .expect("it never came to be");
}

/// A context whose progress is kept.
pub(crate) fn watched() -> (ToolContext, Arc<Mutex<String>>) {
    struct Kept(Arc<Mutex<String>>);
    impl ProgressSink for Kept {
        fn emit(&self, _: Stream, bytes: &[u8]) {
            self.0
                .lock()
                .unwrap()
                .push_str(std::str::from_utf8(bytes).unwrap());
        }
    }
    let kept = Arc::new(Mutex::new(String::new()));
    let mut cx = ToolContext::detached();
    cx.progress = Progress::into(Arc::new(Kept(kept.clone())));
    (cx, kept)
}

/// Process ids whose command line contains this text.
pub(crate) fn alive(marker: &str) -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                String::from_utf8_lossy(&line)
                    .replace('\0', " ")
                    .contains(marker)
            })
        })
        .collect()
}

/// Keeps artifacts in memory, in order.
#[derive(Default)]
pub(crate) struct Shelf(pub(crate) Mutex<Vec<(NewArtifact, Vec<u8>)>>);

#[async_trait]
impl ArtifactStore for Shelf {
    async fn create(
        &self,
        _: &Scope,
        _: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let mut kept = self.0.lock().unwrap();
        kept.push((new, Vec::new()));
        Ok(ArtifactId::new(format!("art_{}", kept.len())).unwrap())
    }

    async fn append(
        &self,
        _: &Scope,
        _: &SessionId,
        _: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        self.0.lock().unwrap().last_mut().unwrap().1.extend(&bytes);
        Ok(())
    }

    async fn read(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        _: u64,
        _: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        Err(ArtifactError::NotFound(id.clone()))
    }

    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}
