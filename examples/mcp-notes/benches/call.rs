//! What one call of our client costs over a real server: `cargo bench -p mcp-notes`.
//!
//! It only reports: one call at a time through the tool, as the pipeline makes it, beside the bare
//! exchange of the same two lines over the same pipes without our client.

#![expect(clippy::print_stdout, reason = "a report is for reading")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter_core::{SourceId, SystemClock, ToolContext, ToolSource as _};
use outfitter_mcp::{Host, McpSource, StdioServer};
use outfitter_process::SupervisorProgram;
use serde_json::json;

const CALLS: usize = 20_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    outfitter_process::run_if_supervisor();
    report("bare exchange", &mut bare()?);
    let one = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    report("our client, one thread", &mut one.block_on(ours())?);
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    // As calls come in a server: on a worker, not on the thread that waits for all.
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn_on(ours(), many.handle());
    let times = many.block_on(tasks.join_next()).ok_or("no result")???;
    report("our client, two workers", &mut { times });
    Ok(())
}

async fn ours() -> Result<Vec<Duration>, Failure> {
    let server = StdioServer::new(SourceId::new("notes")?, server(), "/");
    let host = Host {
        supervisor: SupervisorProgram::this_binary(),
        env: Vec::new(),
        clock: Arc::new(SystemClock),
        specs: None,
    };
    let source = McpSource::start(server, host)?;
    source.settled(Duration::from_secs(60)).await;
    let snapshot = source.snapshot();
    let list = snapshot
        .tools
        .iter()
        .find(|tool| tool.home_name() == "list")
        .ok_or("no list")?;
    let cx = ToolContext::detached();
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        list.call(&cx, json!({})).await?;
        times.push(start.elapsed());
    }
    source.stop().await;
    Ok(times)
}

#[expect(
    clippy::disallowed_types,
    reason = "the peer of the comparison has no supervisor"
)]
fn bare() -> Result<Vec<Duration>, Failure> {
    let mut child = std::process::Command::new(server())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "list", "arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let call = format!("{call}\n");
    let mut line = String::new();
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        input.write_all(call.as_bytes())?;
        line.clear();
        output.read_line(&mut line)?;
        times.push(start.elapsed());
    }
    drop(input);
    child.wait()?;
    Ok(times)
}

fn server() -> &'static str {
    env!("CARGO_BIN_EXE_mcp-notes")
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    println!("{what:<24} p50 {:>7.1} µs   p99 {:>7.1} µs", at(50), at(99));
}
