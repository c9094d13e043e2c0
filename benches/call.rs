//! What one call costs: of a tool that does nothing, of one that prints, of one that gives too much.
//!
//! `bare` parses the text of the arguments, holds them to the schema, reads them into the type of
//! the tool, calls it and writes its result. The others do the same with everything that makes a
//! call safe and known. They are measured in turn, in one process.

mod support;

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use outfitter::{
    Arguments, CallEnd, CallId, Cancel, EventQueue, NoSubscriber, RawCall, SessionId, Status,
    ToolOutput,
};
use outfitter_store::{MemoryLog, SqliteLog};
use outfitter_text::tokens::tables_loaded;
use serde_json::Value;
use support::Fallible;
use support::cpu::{After, Case, compare, median};
use support::provider::Instant;
use support::report::Report;
use support::world::{ECHO_ARGUMENTS, Said, World};
use tokio::runtime::Runtime;

/// The most that a call of a tool that does nothing may cost, with the log in memory.
const CALL: Duration = Duration::from_micros(2);

/// The most that a printed line may cost.
const PROGRESS: Duration = Duration::from_micros(1);

/// The most that bounding a result of 10 MB may cost.
const BOUNDED: Duration = Duration::from_millis(10);

const SET_ASIDE: &str = "a result of 10 MB, set aside";

const PIPELINE: &str = "the pipeline, memory log";

const ROUNDS: usize = 25;
const CALLS: u32 = 2_000;
const SLOW_CALLS: u32 = 200;
const LINES: u32 = 100_000;

fn main() -> Fallible<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut report = Report::default();
    calls(&runtime, &mut report)?;
    progress(&runtime, &mut report)?;
    report.must("the token tables are not loaded", !tables_loaded());
    too_much(&runtime, &mut report)?;
    Ok(report.end())
}

fn calls(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    let dir = tempfile::tempdir()?;
    let memory = World::new(Arc::new(MemoryLog::new()))?;
    let sqlite = World::new(Arc::new(SqliteLog::new(dir.path().join("log.db"))))?;
    let validator = jsonschema::validator_for(&serde_json::to_value(schemars::schema_for!(Said))?)?;
    let costs = compare(
        ROUNDS,
        vec![
            Case::new("bare: parse, validate, call, serialise", CALLS, || {
                for _ in 0..CALLS {
                    black_box(bare(&validator, black_box(ECHO_ARGUMENTS))?);
                }
                Ok(())
            }),
            Case::with_after(PIPELINE, CALLS, || {
                straight(runtime, &memory, "echo", CALLS)
            }),
            Case::with_after("the same for a tool that changes things", CALLS, || {
                straight(runtime, &memory, "change", CALLS)
            }),
            Case::with_after("a direct run (3 appends), memory log", SLOW_CALLS, || {
                direct(runtime, &memory, SLOW_CALLS)
            }),
            Case::with_after("the pipeline, SQLite", SLOW_CALLS, || {
                straight(runtime, &sqlite, "echo", SLOW_CALLS)
            }),
            Case::with_after("a direct run (3 appends), SQLite", SLOW_CALLS, || {
                direct(runtime, &sqlite, SLOW_CALLS)
            }),
        ],
    )?;
    report.title("One call of a tool that does nothing");
    report.costs(&costs);
    if let Some(cost) = median(&costs, PIPELINE) {
        report.budget("a call, memory log", cost, CALL);
    }
    Ok(())
}

/// What no tool call can do without.
fn bare(validator: &jsonschema::Validator, raw: &str) -> Fallible<String> {
    let args: Value = serde_json::from_str(raw)?;
    if !validator.is_valid(&args) {
        return Err("the arguments do not fit".into());
    }
    let said: Said = serde_json::from_value(args)?;
    Ok(serde_json::to_string(&black_box(said))?)
}

fn raw_call(id: &CallId, tool: &str, arguments: &str) -> RawCall {
    RawCall {
        id: id.clone(),
        name: tool.to_owned(),
        arguments: Arguments::parse(black_box(arguments)),
    }
}

/// Calls through the pipeline in one new session, which is deleted afterwards.
fn straight<'a>(
    runtime: &'a Runtime,
    world: &'a World,
    tool: &str,
    calls: u32,
) -> Fallible<After<'a>> {
    let (view, handle) = world.straight();
    let id = CallId::new("call_1")?;
    runtime.block_on(async {
        for _ in 0..calls {
            let call = raw_call(&id, tool, ECHO_ARGUMENTS);
            succeeded(world.pipeline.run(&view, call, &handle).await?)?;
        }
        Fallible::Ok(())
    })?;
    Ok(forget(runtime, world, handle.session))
}

/// Calls as runs without a model, in one new session, which is deleted afterwards.
fn direct<'a>(runtime: &'a Runtime, world: &'a World, calls: u32) -> Fallible<After<'a>> {
    let agent = world.agent(Instant::new());
    let session = world.session();
    let events = Arc::new(NoSubscriber);
    runtime.block_on(async {
        for call in 0..calls {
            let id = CallId::new(format!("call_{call}"))?;
            let call = raw_call(&id, "echo", ECHO_ARGUMENTS);
            let end = agent.call(&session, call, Cancel::new(), events.clone());
            succeeded(end.await?)?;
        }
        Fallible::Ok(())
    })?;
    Ok(forget(runtime, world, session.id))
}

fn forget<'a>(runtime: &'a Runtime, world: &'a World, session: SessionId) -> After<'a> {
    Box::new(move || {
        let scope = world.scope();
        Ok(runtime.block_on(world.log.delete(&scope, &session))?)
    })
}

fn succeeded(end: CallEnd) -> Fallible<Arc<ToolOutput>> {
    match end {
        CallEnd::Output(output) if output.status == Status::Success => Ok(output),
        CallEnd::Output(output) => Err(format!("the call ended as {:?}", output.error).into()),
        CallEnd::Waiting(_) => Err("the call waits".into()),
    }
}

fn progress(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    let world = World::new(Arc::new(MemoryLog::new()))?;
    let agent = world.agent(Instant::new());
    let id = CallId::new("call_1")?;
    let arguments = format!(r#"{{"lines":{LINES}}}"#);
    let print = || {
        let session = world.session();
        let queue = EventQueue::new();
        runtime.block_on(async {
            let call = raw_call(&id, "chatter", &arguments);
            let calling = async {
                let end = agent
                    .call(&session, call, Cancel::new(), queue.clone())
                    .await;
                queue.close();
                end
            };
            let watching = async { while queue.next().await.is_some() {} };
            let (end, ()) = tokio::join!(calling, watching);
            succeeded(end?)
        })?;
        Ok(())
    };
    let costs = compare(
        9,
        vec![Case::new("a line of 41 bytes, watched", LINES, print)],
    )?;
    report.title("What a tool prints, merged and shown");
    report.costs(&costs);
    if let Some(cost) = costs.first() {
        report.budget("a line", cost.median, PROGRESS);
    }
    Ok(())
}

fn too_much(runtime: &Runtime, report: &mut Report) -> Fallible<()> {
    const LINES: u32 = 160_000;
    let world = World::new(Arc::new(MemoryLog::new()))?;
    let arguments = format!(r#"{{"lines":{LINES}}}"#);
    let id = CallId::new("call_1")?;
    let mut shown = 0;
    let mut whole = 0;
    let give = || {
        let (view, handle) = world.straight();
        let output = runtime.block_on(async {
            let call = raw_call(&id, "flood", &arguments);
            let output = succeeded(world.pipeline.run(&view, call, &handle).await?)?;
            world
                .artifacts
                .delete_session(&world.scope(), &handle.session)
                .await?;
            Fallible::Ok(output)
        })?;
        shown = output.projection().0.len();
        whole = output.truncated.as_ref().map_or(0, |cut| cut.total_bytes);
        Ok(())
    };
    let from = vec![b'x'; 64 * LINES as usize];
    let copy = || {
        black_box(black_box(&from).clone());
        Ok(())
    };
    let costs = compare(
        5,
        vec![
            Case::new("copying 10 MB", 1, copy),
            Case::new(SET_ASIDE, 1, give),
        ],
    )?;
    if costs.is_empty() {
        return Ok(());
    }
    report.title("A tool that gives too much");
    report.costs(&costs);
    if let Some(cost) = median(&costs, SET_ASIDE) {
        report.budget("a result of 10 MB", cost, BOUNDED);
    }
    report.note(&format!("{whole} bytes, of which a model reads {shown}"));
    report.must(
        "what is kept in the log is bounded",
        whole > 10_000_000 && shown < 100_000,
    );
    Ok(())
}
