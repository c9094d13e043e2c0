//! What one turn costs: two streamed model calls and a call of a tool that does nothing, over
//! loopback from a fake provider in another process. And what it costs when the conversation is
//! long.

mod support;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use outfitter::{
    Agent, Arguments, CallEnd, CallId, Cancel, Input, Log, NoSubscriber, RawCall, RunOutcome,
    Session, SystemClock,
};
use outfitter_agent::TurnLog;
use outfitter_store::{MemoryLog, SqliteLog};
use outfitter_text::tokens::tables_loaded;
use support::Fallible;
use support::cpu::{Case, compare, median};
use support::provider::{Instant, Provider, Writes, serve_if_asked};
use support::report::{Report, ratio, time};
use support::world::{ECHO_ARGUMENTS, World};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// The most that a turn may cost, with the log in memory and each reply in one write.
const TURN_BUDGET: Duration = Duration::from_micros(500);

/// How much more a run may cost at message 10,000 than at message 10, but for what its requests
/// carry.
const GROWTH: f64 = 2.0;

const TURN: &str = "memory log, a reply in one write";

const ROUNDS: usize = 15;
const TURNS: u32 = 100;
const MESSAGES_IN_A_TURN: u32 = 4;

fn main() -> Fallible<ExitCode> {
    if let Some(code) = serve_if_asked() {
        return Ok(code);
    }
    let mut report = Report::default();
    over_loopback(&mut report)?;
    long_conversations(&mut report)?;
    report.must("the token tables are not loaded", !tables_loaded());
    Ok(report.end())
}

/// The runtime of the command line.
fn threads() -> Fallible<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?)
}

fn one_thread() -> Fallible<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

async fn turn(agent: &Agent, session: &Session) -> Fallible<()> {
    let input = Input::Prompt("Say hello and seven with the tool, please.".to_owned());
    let end = agent
        .run(session, input, Cancel::new(), Arc::new(NoSubscriber))
        .await?;
    match end.outcome {
        RunOutcome::Success => Ok(()),
        other => Err(format!("the turn ended as {other:?}: {:?}", end.output.error).into()),
    }
}

/// Turns of new sessions, one after the other.
async fn turns(world: &World, agent: &Agent) -> Fallible<()> {
    for _ in 0..TURNS {
        turn(agent, &world.session()).await?;
    }
    Ok(())
}

/// The same in a task of the runtime, as a server makes them.
fn in_a_task(runtime: &Runtime, world: &Arc<World>, agent: &Arc<Agent>) -> Fallible<()> {
    let (world, agent) = (world.clone(), agent.clone());
    let mut task = JoinSet::new();
    task.spawn_on(
        async move {
            turns(&world, &agent)
                .await
                .map_err(|error| error.to_string())
        },
        runtime.handle(),
    );
    match runtime.block_on(task.join_next()) {
        Some(made) => Ok(made??),
        None => Err("the task is gone".into()),
    }
}

fn over_loopback(report: &mut Report) -> Fallible<()> {
    let provider = Provider::start()?;
    let (threads, others, stores, one) = (threads()?, threads()?, threads()?, one_thread()?);
    let dir = tempfile::tempdir()?;
    let memory = Arc::new(World::new(Arc::new(MemoryLog::new()))?);
    let sqlite = World::new(Arc::new(SqliteLog::new(dir.path().join("log.db"))))?;
    // A connection belongs to the runtime it was made in, so each case has a client of its own.
    let instant = memory.agent(Instant::new());
    let whole = memory.agent(provider.model(Writes::One)?);
    let tasked = Arc::new(memory.agent(provider.model(Writes::One)?));
    let single = memory.agent(provider.model(Writes::One)?);
    let pieces = memory.agent(provider.model(Writes::EachEvent)?);
    let stored = sqlite.agent(provider.model(Writes::One)?);
    let cases = vec![
        Case::new("no wire: a model in this process", TURNS, || {
            threads.block_on(turns(&memory, &instant))
        }),
        Case::new(TURN, TURNS, || threads.block_on(turns(&memory, &whole))),
        Case::new("the same in a task of the runtime", TURNS, || {
            in_a_task(&others, &memory, &tasked)
        }),
        Case::new("the same on one thread", TURNS, || {
            one.block_on(turns(&memory, &single))
        }),
        Case::new("memory log, a write for each of 22 events", TURNS, || {
            threads.block_on(turns(&memory, &pieces))
        }),
        Case::new("SQLite, a reply in one write", TURNS, || {
            stores.block_on(turns(&sqlite, &stored))
        }),
    ];
    let over_the_wire = cases.len() as u64 - 1;
    let costs = compare(ROUNDS, cases)?;
    report.title("One turn: two streamed model calls and one tool");
    report.costs(&costs);
    if let Some(cost) = median(&costs, TURN) {
        report.budget("a turn, memory log, one write", cost, TURN_BUDGET);
    }
    let connections = provider.connections()?;
    let requests = (ROUNDS as u64 + 1) * u64::from(TURNS) * 2 * over_the_wire;
    report.note(&format!(
        "{requests} requests at most, over {connections} connections"
    ));
    report.must(
        "connections are used again",
        connections <= 2 * over_the_wire,
    );
    Ok(())
}

/// A session that has had so many messages, with its agent.
fn grown(runtime: &Runtime, world: &World, messages: u32) -> Fallible<(Agent, Session)> {
    let agent = world.agent(Instant::new());
    let session = world.session();
    runtime.block_on(async {
        for _ in 0..messages.div_ceil(MESSAGES_IN_A_TURN) {
            turn(&agent, &session).await?;
        }
        Fallible::Ok(())
    })?;
    Ok((agent, session))
}

/// A run without a model: what of a turn is our own, the request left out.
async fn direct(agent: &Agent, session: &Session) -> Fallible<()> {
    let call = RawCall {
        id: CallId::mint(&SystemClock),
        name: "echo".to_owned(),
        arguments: Arguments::parse(ECHO_ARGUMENTS),
    };
    let events = Arc::new(NoSubscriber);
    match agent.call(session, call, Cancel::new(), events).await? {
        CallEnd::Output(output) if output.error.is_none() => Ok(()),
        end => Err(format!("the call ended as {end:?}").into()),
    }
}

fn long_conversations(report: &mut Report) -> Fallible<()> {
    const FEW: u32 = 10;
    const MANY: u32 = 10_000;
    /// So few that a session hardly grows while it is measured.
    const MORE: u32 = 8;
    let runtime = one_thread()?;
    let dir = tempfile::tempdir()?;
    let memory = World::new(Arc::new(MemoryLog::new()))?;
    let sqlite = World::new(Arc::new(SqliteLog::new(dir.path().join("log.db"))))?;
    let long = grown(&runtime, &memory, MANY)?;
    let stored = grown(&runtime, &sqlite, MANY)?;
    let short = |world| -> Fallible<Vec<(Agent, Session)>> {
        (0..=ROUNDS).map(|_| grown(&runtime, world, FEW)).collect()
    };
    let (short, short_called) = (short(&memory)?, short(&memory)?);
    let (mut short, mut short_called) = (short.iter(), short_called.iter());
    let more = |(agent, session): &(Agent, Session)| {
        runtime.block_on(async {
            for _ in 0..MORE {
                turn(agent, session).await?;
            }
            Ok(())
        })
    };
    let call = |(agent, session): &(Agent, Session)| {
        runtime.block_on(async {
            for _ in 0..MORE {
                direct(agent, session).await?;
            }
            Ok(())
        })
    };
    const GONE: &str = "no session is left";
    let costs = compare(
        ROUNDS,
        vec![
            Case::new("a run without a model, at message 10", MORE, || {
                call(short_called.next().ok_or(GONE)?)
            }),
            Case::new("a run without a model, at message 10,000", MORE, || {
                call(&long)
            }),
            Case::new("a turn, at message 10", MORE, || {
                more(short.next().ok_or(GONE)?)
            }),
            Case::new("a turn, at message 10,000", MORE, || more(&long)),
            Case::new("a turn, at message 10,000, SQLite", MORE, || more(&stored)),
        ],
    )?;
    report.title("Long conversations, a model in this process");
    report.costs(&costs);
    if let [few, many, short, long, ..] = costs.as_slice() {
        let growth = ratio(many.median, few.median);
        report.budget_of("growth of what is our own", growth, GROWTH, "times");
        let carried = long.median.saturating_sub(short.median) / (2 * MANY);
        report.note(&format!(
            "a request carries the conversation: {} a message",
            time(carried)
        ));
    }
    taking_up(&runtime, report, (&memory, &long.1), (&sqlite, &stored.1))
}

/// What the first run of a process pays to know a long session.
fn taking_up(
    runtime: &Runtime,
    report: &mut Report,
    memory: (&World, &Session),
    sqlite: (&World, &Session),
) -> Fallible<()> {
    let fold = |(world, session): (&World, &Session)| {
        runtime.block_on(TurnLog::read(&*world.log, &session.scope(), &session.id))?;
        Ok(())
    };
    let entries = runtime.block_on(entries(&*memory.0.log, memory))?;
    let costs = compare(
        5,
        vec![
            Case::new("memory log", 1, || fold(memory)),
            Case::new("SQLite", 1, || fold(sqlite)),
        ],
    )?;
    report.title("Taking up a session of 10,000 messages in a new process");
    report.costs(&costs);
    report.note(&format!("{entries} entries"));
    Ok(())
}

async fn entries(log: &dyn Log, (world, session): (&World, &Session)) -> Fallible<u64> {
    let page = log
        .read(&world.scope(), &session.id, outfitter::Seq(1), 1)
        .await?;
    Ok(page.head.0)
}
