//! What our client adds to a call of an MCP server in another process.
//!
//! A call crosses to the server and back, so the wall clock is compared, in turns, with a line
//! written to such a server and a line read from it. Read the ratio.

mod support;

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter::{Reply, SourceId, SupervisorProgram, SystemClock, Tool, ToolContext, ToolSource};
use outfitter_mcp::{Host, McpSource, ServerState, StdioServer};
use serde_json::{Value, json};
use support::Fallible;
use support::report::{Report, ratio, time};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// The most that a call may take, of what its two lines take: 40 µs where those take 17.
const OF_BARE: f64 = 40.0 / 17.0;

const ROUNDS: usize = 60;
const CALLS: usize = 200;

/// The argument that makes this program the server.
const SERVE: &str = "answer-as-an-mcp-server";

/// How long the server may take to be ready.
const READY: Duration = Duration::from_secs(20);

const BARE: &str = "a line there and a line back";
const TASK: &str = "the same in a task, by tokio's pipes";
const OURS: &str = "a call by our client";

fn main() -> Fallible<ExitCode> {
    outfitter::run_if_supervisor();
    if std::env::args().nth(1).as_deref() == Some(SERVE) {
        serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let mut bare = Direct::start()?;
    let mut task = Piped::start(&runtime)?;
    let ours = Ours::start(&runtime)?;
    let mut lines = [BARE, TASK, OURS].map(Line::new);
    // Words pick cases by their names for a profiler.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    for round in 0..=ROUNDS {
        for line in &mut lines {
            if !words.is_empty() && !words.iter().any(|word| line.name.contains(&**word)) {
                continue;
            }
            let taken = match line.name {
                BARE => bare.calls()?,
                TASK => {
                    let taken;
                    (task, taken) = task.calls(&runtime)?;
                    taken
                }
                _ => ours.calls(&runtime)?,
            };
            // The first round warms up.
            if round > 0 {
                line.taken.extend(taken);
            }
        }
    }
    bare.end()?;
    task.end()?;
    runtime.block_on(ours.source.stop());
    let mut report = Report::default();
    report.title("A call of a tool that does nothing, of an MCP server, by the wall clock");
    for line in &mut lines {
        line.taken.sort_unstable();
        report.note(&format!(
            "{:<40} {:>9}, 99 of 100 within {}",
            line.name,
            time(line.of_100(50)),
            time(line.of_100(99))
        ));
    }
    let [bare, _, ours] = &lines;
    if !bare.taken.is_empty() && !ours.taken.is_empty() {
        let of_bare = ratio(ours.of_100(50), bare.of_100(50));
        report.budget_of(OURS, of_bare, OF_BARE, "of its two lines");
    }
    Ok(report.end())
}

/// How long the calls of one kind took.
struct Line {
    name: &'static str,
    taken: Vec<Duration>,
}

impl Line {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            taken: Vec::with_capacity(ROUNDS * CALLS),
        }
    }

    /// So many of a hundred were done within this; they are sorted.
    fn of_100(&self, many: usize) -> Duration {
        let at = self.taken.len() * many / 100;
        self.taken.get(at).copied().unwrap_or_default()
    }
}

/// The server: the messages of the protocol by what stands in their lines, and no more.
fn serve() -> Fallible<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout();
    let (mut line, mut answer) = (String::new(), String::new());
    while input.read_line(&mut line)? > 0 {
        // Only requests have an answer.
        if let Some(id) = after(&line, "\"id\":").and_then(|rest| rest.split([',', '}']).next()) {
            let end = match after(&line, "\"method\":\"").and_then(|rest| rest.split('"').next()) {
                Some("tools/call") => CALLED,
                Some("tools/list") => LISTED,
                Some("initialize") => AGREED,
                _ => UNKNOWN,
            };
            answer.clear();
            answer.push_str(r#"{"jsonrpc":"2.0","id":"#);
            answer.push_str(id);
            answer.push_str(end);
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

const CALLED: &str = r#","result":{"content":[{"type":"text","text":"done"}]}}"#;
const LISTED: &str = r#","result":{"tools":[{"name":"nothing","inputSchema":{"type":"object"}}]}}"#;
const AGREED: &str = r#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#;
const UNKNOWN: &str = r#","error":{"code":-32601,"message":"no such method"}}"#;

fn after<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.split_once(key).map(|(_, rest)| rest)
}

/// A call as our client writes it.
fn asked(id: u64) -> String {
    let params = json!({"name": "nothing", "arguments": args(), "_meta": {"progressToken": id}});
    let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    format!("{request}\n")
}

fn args() -> Value {
    json!({"text": "hello"})
}

/// Whether this is the answer to a call.
fn must_be_done(line: &str) -> Result<(), String> {
    let done = line.ends_with("\"done\"}]}}\n");
    done.then_some(())
        .ok_or_else(|| format!("the server said {line:?}"))
}

/// A server, and nothing between it and us.
struct Direct {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Direct {
    #[expect(
        clippy::disallowed_types,
        reason = "a bench compares with what the system gives"
    )]
    fn start() -> Fallible<Self> {
        let mut child = std::process::Command::new("/proc/self/exe")
            .arg(SERVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().ok_or("no input")?,
            output: BufReader::new(child.stdout.take().ok_or("no output")?),
            child,
            next: 1,
        })
    }

    fn calls(&mut self) -> Fallible<Vec<Duration>> {
        let mut taken = Vec::with_capacity(CALLS);
        let mut answer = String::new();
        for _ in 0..CALLS {
            let line = asked(self.next);
            self.next += 1;
            answer.clear();
            let begun = Instant::now();
            self.input.write_all(line.as_bytes())?;
            self.output.read_line(&mut answer)?;
            taken.push(begun.elapsed());
            must_be_done(&answer)?;
        }
        Ok(taken)
    }

    /// It ends with its input.
    fn end(self) -> Fallible<()> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

/// The same, spoken to by a task of the runtime.
struct Piped {
    child: Child,
    input: Sender,
    output: tokio::io::BufReader<Receiver>,
    next: u64,
}

impl Piped {
    fn start(runtime: &Runtime) -> Fallible<Self> {
        let _inside = runtime.enter();
        let Direct {
            child,
            input,
            output,
            next,
        } = Direct::start()?;
        let output = Receiver::from_owned_fd(output.into_inner().into())?;
        Ok(Self {
            child,
            input: Sender::from_owned_fd(input.into())?,
            output: tokio::io::BufReader::new(output),
            next,
        })
    }

    fn calls(mut self, runtime: &Runtime) -> Fallible<(Self, Vec<Duration>)> {
        in_a_task(runtime, async move {
            let mut taken = Vec::with_capacity(CALLS);
            let mut answer = String::new();
            for _ in 0..CALLS {
                let line = asked(self.next);
                self.next += 1;
                answer.clear();
                let begun = Instant::now();
                self.input.write_all(line.as_bytes()).await?;
                self.output.read_line(&mut answer).await?;
                taken.push(begun.elapsed());
                must_be_done(&answer)?;
            }
            Ok((self, taken))
        })
    }

    fn end(self) -> Fallible<()> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

/// A server as a source of tools.
struct Ours {
    source: McpSource,
    tool: Arc<dyn Tool>,
}

impl Ours {
    fn start(runtime: &Runtime) -> Fallible<Self> {
        runtime.block_on(async {
            let program = std::fs::read_link("/proc/self/exe")?;
            let server = StdioServer::new(SourceId::new("bench")?, program, "/").args([SERVE]);
            let host = Host {
                supervisor: SupervisorProgram::this_binary(),
                env: vec![(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))],
                clock: Arc::new(SystemClock),
                specs: None,
            };
            let source = McpSource::start(server, host)?;
            source.settled(READY).await;
            let status = source.status();
            if status.status != ServerState::Ready {
                return Err(format!("the server is not ready: {:?}", status.last_error).into());
            }
            let snapshot = source.snapshot();
            let tool = snapshot.tools.first().ok_or("the server has no tool")?;
            Ok(Self {
                tool: tool.clone(),
                source,
            })
        })
    }

    fn calls(&self, runtime: &Runtime) -> Fallible<Vec<Duration>> {
        let tool = self.tool.clone();
        in_a_task(runtime, async move {
            let cx = ToolContext::detached();
            let mut taken = Vec::with_capacity(CALLS);
            for _ in 0..CALLS {
                let args = args();
                let begun = Instant::now();
                let reply = tool.call(&cx, args).await;
                taken.push(begun.elapsed());
                match reply? {
                    Reply::Done(outcome) if outcome.result == "done" => {}
                    _ => return Err("the call came to something else".into()),
                }
            }
            Ok(taken)
        })
    }
}

/// Why a task could not measure.
type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Where the program makes its calls, too.
fn in_a_task<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, Broken>> + Send + 'static,
) -> Fallible<T> {
    let mut tasks = JoinSet::new();
    tasks.spawn_on(work, runtime.handle());
    let made = runtime.block_on(tasks.join_next()).ok_or("no task")??;
    made.map_err(|broken| -> Box<dyn std::error::Error> { broken })
}
