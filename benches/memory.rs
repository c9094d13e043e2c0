//! What is held: for a moment while a long reply is stored, and for good after very many calls.
//! And how late a printed line is.
//!
//! Memory is what the kernel counts for this process: large blocks come from it and go back to it,
//! so the most that was held at once shows in its high-water mark.

mod support;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use outfitter::{
    Arguments, CallEnd, CallId, Cancel, EventBody, EventQueue, Input, ModelDelta, ModelError,
    ModelInfo, ModelProvider, ModelRequest, ModelStream, NoSubscriber, RawCall, RunOutcome,
    StopReason, Stream, ToolContext,
};
use outfitter_agent::ProgressSettings;
use outfitter_store::{MemoryLog, SqliteLog};
use support::Fallible;
use support::provider::Instant;
use support::report::{Report, time};
use support::world::{ECHO_ARGUMENTS, World};
use tokio::runtime::Runtime;

/// The size of the long reply.
const REPLY_BYTES: usize = 16 * 1024 * 1024;

/// The most that may be held at once for a reply, in sizes of it.
const HELD: f64 = 8.0;

/// The most that a million calls may leave behind.
const LEFT_KIB: f64 = 8.0 * 1024.0;

/// The latest that a line may be shown, for all but one in a hundred: merged for 50 ms, and at once.
const MERGED: Duration = Duration::from_millis(60);
const AT_ONCE: Duration = Duration::from_millis(5);

fn main() -> Fallible<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut report = Report::default();
    lines(&runtime, &mut report)?;
    many_calls(&runtime, &mut report)?;
    long_reply(&runtime, &mut report)?;
    Ok(report.end())
}

/// A model that says one long thing.
struct Talker(ModelInfo);

#[async_trait]
impl ModelProvider for Talker {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, _: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        const PIECE: usize = 4096;
        let pieces =
            (0..REPLY_BYTES / PIECE).map(|_| Ok(ModelDelta::Text("word ".repeat(PIECE / 5))));
        let end = std::iter::once(Ok(ModelDelta::Stopped(StopReason::End)));
        Ok(futures_util::stream::iter(pieces.chain(end)).boxed())
    }
}

fn long_reply(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    let dir = tempfile::tempdir()?;
    let world = World::new(Arc::new(SqliteLog::new(dir.path().join("log.db"))))?;
    let agent = world.agent(Arc::new(Talker(ModelInfo {
        provider: "bench".to_owned(),
        name: "talker".to_owned(),
        vision: false,
        context_tokens: None,
    })));
    let session = world.session();
    let before = kib("VmRSS:")?;
    forget_peak()?;
    let end = runtime.block_on(agent.run(
        &session,
        Input::Prompt("Go on.".to_owned()),
        Cancel::new(),
        Arc::new(NoSubscriber),
    ))?;
    if end.outcome != RunOutcome::Success {
        return Err(format!("the turn ended as {:?}", end.output.error).into());
    }
    let peak = kib("VmHWM:")?;
    report.title("A reply of 16 MiB, stored in SQLite");
    let held = (peak - before) * 1024.0 / REPLY_BYTES as f64;
    report.budget_of("the most that is held at once", held, HELD, "replies");
    Ok(())
}

fn many_calls(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    const AT_A_TIME: u32 = 10_000;
    const WARM: u32 = 10;
    const ROUNDS: u32 = 100;
    let world = World::new(Arc::new(MemoryLog::new()))?;
    let id = CallId::new("call_1")?;
    let round = || {
        let (view, handle) = world.straight();
        runtime.block_on(async {
            for _ in 0..AT_A_TIME {
                let call = RawCall {
                    id: id.clone(),
                    name: "echo".to_owned(),
                    arguments: Arguments::parse(ECHO_ARGUMENTS),
                };
                match world.pipeline.run(&view, call, &handle).await? {
                    CallEnd::Output(output) if output.error.is_none() => {}
                    end => return Err(format!("the call ended as {end:?}").into()),
                }
            }
            world.log.delete(&world.scope(), &handle.session).await?;
            Fallible::Ok(())
        })
    };
    for _ in 0..WARM {
        round()?;
    }
    let before = kib("VmRSS:")?;
    for _ in 0..ROUNDS {
        round()?;
    }
    let left = (kib("VmRSS:")? - before).max(0.0);
    report.title("A million calls");
    report.budget_of("what they leave behind", left, LEFT_KIB, "KiB");
    Ok(())
}

/// Prints a line now and then, each with the time it was printed.
#[outfitter::tool(register = false)]
async fn tick(
    cx: &ToolContext,
    /// How many lines.
    lines: u32,
) -> u32 {
    let start = *START;
    for _ in 0..lines {
        let line = format!("{}\n", start.elapsed().as_micros());
        cx.progress.emit(Stream::Stdout, line.as_bytes());
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    lines
}

static START: std::sync::LazyLock<Clock> = std::sync::LazyLock::new(Clock::now);

fn lines(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    report.title("How late a line is shown");
    for (what, interval, most) in [
        ("99 of 100 lines, merged as by default", 50, MERGED),
        ("99 of 100 lines, shown at once", 0, AT_ONCE),
    ] {
        let settings = ProgressSettings {
            flush_interval: Duration::from_millis(interval),
            ..ProgressSettings::default()
        };
        let mut late = runtime.block_on(watched(settings))?;
        late.sort_unstable();
        let at = late.len() * 99 / 100;
        let late = late.get(at).copied().ok_or("nothing was shown")?;
        report.note(&format!("{what}: {}", time(late)));
        report.budget(what, late, most);
    }
    Ok(())
}

/// How late each line of a call was.
async fn watched(settings: ProgressSettings) -> Fallible<Vec<Duration>> {
    let world = World::with_tools(Arc::new(MemoryLog::new()), vec![tick::tool()])?;
    let agent = world.agent_with(Instant::new(), settings);
    let session = world.session();
    let queue = EventQueue::new();
    let call = RawCall {
        id: CallId::new("call_1")?,
        name: "tick".to_owned(),
        arguments: Arguments::parse(r#"{"lines":400}"#),
    };
    let calling = async {
        let end = agent
            .call(&session, call, Cancel::new(), queue.clone())
            .await;
        queue.close();
        end
    };
    let watching = async {
        let mut late = Vec::new();
        while let Some(event) = queue.next().await {
            if let EventBody::ToolProgress { text, .. } = &event.body {
                let now = START.elapsed();
                let printed = text.lines().filter_map(|line| line.parse().ok());
                late.extend(printed.map(|at| now.saturating_sub(Duration::from_micros(at))));
            }
        }
        late
    };
    let (end, late) = tokio::join!(calling, watching);
    end?;
    Ok(late)
}

/// A line of this process's status.
fn kib(what: &str) -> Fallible<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(what))
        .ok_or("it is not in the status")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}

/// Begins the high-water mark anew (proc(5), `clear_refs`).
fn forget_peak() -> Fallible<()> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}
