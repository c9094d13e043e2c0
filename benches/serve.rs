//! What it costs to be served: a call over `/mcp` against the library's own server with the same
//! tool and nothing around it, and what a session that does nothing keeps in memory.

mod support;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use outfitter_text::tokens::tables_loaded;
use support::Fallible;
use support::bare::Answers;
use support::caller::{Caller, Connection, Way, call_if_asked};
use support::cpu::{Case, compare, median};
use support::report::{Report, ratio};
use support::served::{Behind, Serving};

/// The least calls per second over `/mcp`, of those that the library's own server makes.
const OF_BARE: f64 = 0.8;

/// The most that an idle session may keep, in kB.
const IDLE_SESSION: f64 = 25.0;

const ROUNDS: usize = 15;
const CONNECTIONS: u32 = 8;
const CALLS: u32 = 50;

/// Sessions that are made before any is counted, and those that are.
const FIRST_SESSIONS: u32 = 64;
const SESSIONS: u32 = 1_000;

/// The argument that makes a bench a server with idle sessions.
const IDLE: &str = "keep-idle-sessions";

/// In the order in which they are measured.
const BARE: &str = "bare rmcp, in sessions";
const LATER: &str = "bare rmcp, a tool that yields once, in sessions";
const GATED: &str = "bare rmcp behind our HTTP layer, in sessions";
const OURS: &str = "/mcp, in sessions";
const BARE_MODERN: &str = "bare rmcp, without sessions";
const OURS_MODERN: &str = "/mcp, without sessions";
const DIRECT: &str = "/v1/tools/echo/call";

fn main() -> Fallible<ExitCode> {
    outfitter::run_if_supervisor();
    if let Some(code) = call_if_asked()? {
        return Ok(code);
    }
    if let Some(code) = idle_if_asked()? {
        return Ok(code);
    }
    let mut report = Report::default();
    throughput(&mut report)?;
    // Words pick cases of calls for a profiler, which wants nothing else.
    if std::env::args().skip(1).all(|word| word.starts_with('-')) {
        idle_sessions(&mut report)?;
    }
    report.must("the token tables are not loaded", !tables_loaded());
    Ok(report.end())
}

/// Makes the calls of one case, and keeps how long each round took.
struct Line {
    name: &'static str,
    caller: Caller,
    walls: Vec<Duration>,
}

impl Line {
    fn new(name: &'static str, server: &Serving, way: Way) -> Fallible<Self> {
        Ok(Self {
            name,
            caller: Caller::start(server.port, way, CONNECTIONS)?,
            walls: Vec::with_capacity(ROUNDS + 1),
        })
    }

    /// The median of calls per second; the first round warmed up.
    fn per_second(&self) -> f64 {
        let mut walls: Vec<Duration> = self.walls.iter().skip(1).copied().collect();
        walls.sort_unstable();
        let wall = walls.get(walls.len() / 2).copied().unwrap_or_default();
        f64::from(CALLS * CONNECTIONS) / wall.as_secs_f64()
    }
}

fn throughput(report: &mut Report) -> Fallible<()> {
    let (ours_dir, gated_dir) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let bare = Serving::bare(Answers::AtOnce)?;
    let later = Serving::bare(Answers::Later)?;
    let gated = Serving::whole(gated_dir.path(), "memory:", Behind::Bare)?;
    let ours = Serving::whole(ours_dir.path(), "memory:", Behind::Gateway)?;
    let mut lines = [
        Line::new(BARE, &bare, Way::Session)?,
        Line::new(LATER, &later, Way::Session)?,
        Line::new(GATED, &gated, Way::Session)?,
        Line::new(OURS, &ours, Way::Session)?,
        Line::new(BARE_MODERN, &bare, Way::Modern)?,
        Line::new(OURS_MODERN, &ours, Way::Modern)?,
        Line::new(DIRECT, &ours, Way::Direct)?,
    ];
    let cases = lines
        .iter_mut()
        .map(|line| {
            Case::new(line.name, CALLS * CONNECTIONS, || {
                line.walls.push(line.caller.make(CALLS)?);
                Ok(())
            })
        })
        .collect();
    let costs = compare(ROUNDS, cases)?;
    report.title(&format!(
        "A call of a tool that does nothing, served over {CONNECTIONS} connections, memory log"
    ));
    report.costs(&costs);
    for line in lines.iter().filter(|line| !line.walls.is_empty()) {
        report.note(&format!(
            "{:<52} {:>8.0} calls/s",
            line.name,
            line.per_second()
        ));
    }
    for (what, bare, ours) in [
        ("in sessions", BARE, OURS),
        ("without sessions", BARE_MODERN, OURS_MODERN),
    ] {
        if let (Some(bare), Some(ours)) = (median(&costs, bare), median(&costs, ours)) {
            report.note(&format!(
                "calls per second of processor, {what}: {:.2} of bare rmcp",
                ratio(bare, ours)
            ));
        }
        let rate = |name| {
            let line = lines.iter().find(|line| line.name == name)?;
            (!line.walls.is_empty()).then(|| line.per_second())
        };
        if let (Some(bare), Some(ours)) = (rate(bare), rate(ours)) {
            let what = format!("calls per second, {what}, of bare rmcp");
            report.at_least(&what, ours / bare, OF_BARE);
        }
    }
    Ok(())
}

fn idle_sessions(report: &mut Report) -> Fallible<()> {
    report.title("An idle session that has had one call");
    for (name, store) in [("memory log", "memory:"), ("SQLite", "sqlite")] {
        let [first, second] = idle_in_a_child(store)?;
        report.note(&format!(
            "{name}: {first:.1} kB each of 1,000; {second:.1} kB each of 1,000 more"
        ));
        report.budget_of(
            &format!("an idle session, {name}"),
            first,
            IDLE_SESSION,
            "kB",
        );
    }
    Ok(())
}

/// What a session keeps, in a process that has done nothing else: of the first thousand, and of
/// the next.
#[expect(
    clippy::disallowed_types,
    reason = "memory is measured in a process that did nothing before"
)]
fn idle_in_a_child(store: &str) -> Fallible<[f64; 2]> {
    let output = std::process::Command::new("/proc/self/exe")
        .args([IDLE, store])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let found: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    found
        .try_into()
        .map_err(|_| "the child could not measure".into())
}

fn idle_if_asked() -> Fallible<Option<ExitCode>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [word, store] = args.as_slice() else {
        return Ok(None);
    };
    if word != IDLE {
        return Ok(None);
    }
    let dir = tempfile::tempdir()?;
    let url = match &**store {
        "sqlite" => format!("sqlite:{}", dir.path().join("log.db").display()),
        other => other.to_owned(),
    };
    let server = Serving::whole(dir.path(), &url, Behind::Gateway)?;
    let mut connection = Connection::open(server.port, Way::Direct, "first")?;
    let mut number = 0;
    let mut sessions = |many: u32| -> Fallible<f64> {
        for _ in 0..many {
            connection.turn_to(&format!("bench-{number:06}"))?;
            connection.call()?;
            number += 1;
        }
        resident_kb()
    };
    let start = sessions(FIRST_SESSIONS)?;
    let first = sessions(SESSIONS)?;
    let second = sessions(SESSIONS)?;
    let each = |from: f64, to: f64| (to - from) / f64::from(SESSIONS);
    writeln!(
        std::io::stdout(),
        "{} {}",
        each(start, first),
        each(first, second)
    )?;
    Ok(Some(ExitCode::SUCCESS))
}

/// The resident memory of this process in kB of a thousand bytes.
fn resident_kb() -> Fallible<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS in status")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib * 1.024)
}
