//! Who calls a server: connections that are kept, blocking, in a process of its own where its work
//! is not to be counted.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{ChildStdin, ChildStdout, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Fallible;
use super::world::ECHO_ARGUMENTS;

/// The argument that makes a bench a caller.
const CALL: &str = "call-as-client";

/// How a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// MCP with a session: each connection begins one and calls in it.
    Session,
    /// MCP of the revision that has no sessions: each request says all that there is to know.
    Modern,
    /// Our own way without MCP: `POST /v1/tools/echo/call`, each connection in a session.
    Direct,
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Modern => "modern",
            Self::Direct => "direct",
        }
    }

    fn of(word: &str) -> Fallible<Self> {
        [Self::Session, Self::Modern, Self::Direct]
            .into_iter()
            .find(|way| way.word() == word)
            .ok_or_else(|| format!("there is no way {word:?}").into())
    }
}

/// A caller in a child process, its connections open. It ends when this is dropped.
pub(crate) struct Caller {
    child: std::process::Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Caller {
    /// Starts this very program again as a caller of the server at `port`.
    #[expect(
        clippy::disallowed_types,
        reason = "a bench keeps the other side out of its own processor time"
    )]
    pub(crate) fn start(port: u16, way: Way, connections: u32) -> Fallible<Self> {
        let mut child = std::process::Command::new("/proc/self/exe")
            .args([CALL, &port.to_string(), way.word()])
            .arg(connections.to_string())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().ok_or("the child has no stdin")?;
        let answers = child.stdout.take().ok_or("the child has no stdout")?;
        Ok(Self {
            child,
            orders,
            answers: BufReader::new(answers),
        })
    }

    /// Makes so many calls over each connection at once, and says how long that took.
    pub(crate) fn make(&mut self, calls: u32) -> Fallible<Duration> {
        writeln!(self.orders, "{calls}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let nanos: u64 = line.trim().parse().map_err(|_| "a call failed")?;
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls, when this process was started to. Call it first.
pub(crate) fn call_if_asked() -> Fallible<Option<ExitCode>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [word, port, way, connections] if word == CALL => {
            obey(port.parse()?, Way::of(way)?, connections.parse()?)?;
            Ok(Some(ExitCode::SUCCESS))
        }
        _ => Ok(None),
    }
}

fn obey(port: u16, way: Way, connections: u32) -> Fallible<()> {
    let mut open = (0..connections)
        .map(|number| Connection::open(port, way, &format!("bench-{number}")))
        .collect::<Fallible<Vec<_>>>()?;
    for order in std::io::stdin().lines() {
        let calls: u32 = order?.trim().parse()?;
        let begun = Instant::now();
        let made: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = open
                .iter_mut()
                .map(|connection| {
                    scope.spawn(move || {
                        (0..calls)
                            .try_for_each(|_| connection.call().map_err(|error| error.to_string()))
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err("a thread broke down".to_owned()))
                })
                .collect()
        });
        made.into_iter().collect::<Result<(), String>>()?;
        writeln!(std::io::stdout(), "{}", begun.elapsed().as_nanos())?;
    }
    Ok(())
}

/// A connection that is kept, and the request that it sends.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

struct Answer {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Connection {
    /// Connects, and begins the session where the way has one. `name` is that of the session where
    /// the caller may name it.
    pub(crate) fn open(port: u16, way: Way, name: &str) -> Fallible<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut this = Self {
            stream: BufReader::new(stream),
            request: Vec::new(),
        };
        this.request = match way {
            Way::Session => {
                let session = this.begin()?;
                let named = format!("mcp-session-id: {session}\r\n{OF_SESSION}");
                mcp(&call(json!({})), &named)
            }
            Way::Modern => mcp(&call(modern_meta()), MODERN),
            Way::Direct => direct(name)?,
        };
        Ok(this)
    }

    /// Calls in another session from now on.
    pub(crate) fn turn_to(&mut self, name: &str) -> Fallible<()> {
        self.request = direct(name)?;
        Ok(())
    }

    fn begin(&mut self) -> Fallible<String> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}}});
        let answer = self.ask(&mcp(&hello, ""))?;
        let session = answer.session.ok_or("no session was begun")?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let named = format!("mcp-session-id: {session}\r\n{OF_SESSION}");
        let answer = self.ask(&mcp(&ready, &named))?;
        if answer.status == 202 {
            Ok(session)
        } else {
            Err(format!("the session was not begun: {}", answer.status).into())
        }
    }

    /// Calls `echo` once.
    pub(crate) fn call(&mut self) -> Fallible<()> {
        let request = std::mem::take(&mut self.request);
        let answer = self.ask(&request)?;
        self.request = request;
        let failed = answer.body.contains("\"isError\":true");
        if answer.status == 200 && answer.body.contains("hello there") && !failed {
            Ok(())
        } else {
            Err(format!("{}: {}", answer.status, answer.body).into())
        }
    }

    fn ask(&mut self, request: &[u8]) -> Fallible<Answer> {
        self.stream.get_mut().write_all(request)?;
        let mut line = String::new();
        self.line(&mut line)?;
        let status = line.split(' ').nth(1).unwrap_or_default().parse()?;
        let (mut session, mut length, mut chunked) = (None, 0, false);
        loop {
            self.line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            let value = value.trim();
            match &*name.to_ascii_lowercase() {
                "content-length" => length = value.parse()?,
                "transfer-encoding" => chunked = value == "chunked",
                "mcp-session-id" => session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            while self.chunk(&mut line, &mut body)? {}
        } else {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
        }
        Ok(Answer {
            status,
            session,
            body: String::from_utf8(body)?,
        })
    }

    /// A line without its end.
    fn line(&mut self, line: &mut String) -> Fallible<()> {
        line.clear();
        if self.stream.read_line(line)? == 0 {
            return Err("the connection was closed".into());
        }
        line.truncate(line.trim_end().len());
        Ok(())
    }

    /// Reads a chunk, and says whether there are more.
    fn chunk(&mut self, line: &mut String, body: &mut Vec<u8>) -> Fallible<bool> {
        self.line(line)?;
        let size = usize::from_str_radix(line, 16)?;
        let begin = body.len();
        body.resize(begin + size, 0);
        if let Some(chunk) = body.get_mut(begin..) {
            self.stream.read_exact(chunk)?;
        }
        self.line(line)?;
        Ok(size > 0)
    }
}

const OF_SESSION: &str = "mcp-protocol-version: 2025-06-18\r\n";

const MODERN: &str =
    "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n";

fn modern_meta() -> Value {
    json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }})
}

fn call(mut params: Value) -> Value {
    params["name"] = json!("echo");
    params["arguments"] = serde_json::from_str(ECHO_ARGUMENTS).unwrap_or_default();
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
}

fn direct(session: &str) -> Fallible<Vec<u8>> {
    let arguments: Value = serde_json::from_str(ECHO_ARGUMENTS)?;
    let body = json!({"arguments": arguments, "session_id": session});
    Ok(post("/v1/tools/echo/call", &body, ""))
}

fn mcp(message: &Value, headers: &str) -> Vec<u8> {
    let accept = "accept: application/json, text/event-stream\r\n";
    post("/mcp", message, &format!("{accept}{headers}"))
}

fn post(path: &str, body: &Value, headers: &str) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}
