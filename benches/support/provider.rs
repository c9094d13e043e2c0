//! Models to talk to: one that answers at once in this process, and a fake provider in a process of
//! its own, so that its work is not counted as ours.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use outfitter::{
    Cancel, MessageRole, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest,
    ModelStream, StopReason, TokenUsage, ToolCallDelta,
};
use outfitter_model::ModelSettings;
use serde_json::{Value, json};

use super::Fallible;
use super::world::ECHO_ARGUMENTS;

/// The argument that makes a bench the fake provider.
const SERVE: &str = "serve-as-fake-provider";

/// The words of the final reply, a token each.
const WORDS: [&str; 9] = [
    "The", " tool", " said", " hello", " there", " and", " seven", ",", " done.",
];

/// A model in this process: asks for `echo` once a turn, then answers.
pub(crate) struct Instant {
    info: ModelInfo,
    calls: AtomicU64,
}

impl Instant {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            info: ModelInfo {
                provider: "bench".to_owned(),
                name: "instant".to_owned(),
                vision: false,
                context_tokens: None,
            },
            calls: AtomicU64::new(0),
        })
    }
}

#[async_trait]
impl ModelProvider for Instant {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        let answered = request
            .messages
            .last()
            .is_some_and(|last| last.role == MessageRole::Tool);
        let mut deltas = Vec::with_capacity(WORDS.len() + 2);
        if answered {
            deltas.extend(WORDS.map(|word| Ok(ModelDelta::Text(word.to_owned()))));
            deltas.push(Ok(ModelDelta::Stopped(StopReason::End)));
        } else {
            let call = self.calls.fetch_add(1, Ordering::Relaxed);
            deltas.push(Ok(ModelDelta::ToolCall(ToolCallDelta {
                index: Some(0),
                id: Some(format!("call_{call}")),
                name: Some("echo".to_owned()),
                arguments: ECHO_ARGUMENTS.to_owned(),
            })));
            deltas.push(Ok(ModelDelta::Stopped(StopReason::ToolCalls)));
        }
        deltas.push(Ok(ModelDelta::Usage(TokenUsage::default())));
        Ok(futures_util::stream::iter(deltas).boxed())
    }
}

/// How the fake provider writes a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// All of it at once.
    One,
    /// Each event by itself, as a model that is thinking does.
    EachEvent,
}

impl Writes {
    fn path(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::EachEvent => "each",
        }
    }
}

/// A fake provider in a child process. It ends when this is dropped.
pub(crate) struct Provider {
    child: Child,
    port: u16,
}

type Child = std::process::Child;

impl Provider {
    /// Starts this very program again as a provider.
    #[expect(
        clippy::disallowed_types,
        reason = "a bench keeps the other side out of its own processor time"
    )]
    pub(crate) fn start() -> Fallible<Self> {
        let mut child = std::process::Command::new("/proc/self/exe")
            .arg(SERVE)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let port = line.trim().parse()?;
        Ok(Self { child, port })
    }

    /// A client of it.
    pub(crate) fn model(&self, writes: Writes) -> Fallible<Arc<dyn ModelProvider>> {
        let port = self.port;
        Ok(ModelSettings {
            name: Some("fake".to_owned()),
            base_url: Some(format!("http://127.0.0.1:{port}/{}/v1", writes.path())),
            ..ModelSettings::of("openai")
        }
        .build()?)
    }

    /// How many connections it was asked for so far, this one left out.
    pub(crate) fn connections(&self) -> Fallible<u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(b"GET /connections HTTP/1.1\r\ncontent-length: 0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.trim().parse()?)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It also ends by itself when its stdin does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves, when this process was started to. Call it first.
pub(crate) fn serve_if_asked() -> Option<ExitCode> {
    if !std::env::args().any(|arg| arg == SERVE) {
        return None;
    }
    Some(match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> Fallible<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    let accepted = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let accepted = accepted.clone();
            accepted.fetch_add(1, Ordering::Relaxed);
            // A client that goes away ends its thread.
            std::thread::spawn(move || answer_all(stream, &accepted).is_ok());
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn answer_all(mut stream: TcpStream, accepted: &AtomicU64) -> Fallible<()> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut line, mut path, mut length) = (String::new(), String::new(), 0);
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let text = line.trim_end();
            if path.is_empty() {
                path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            } else if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
            if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if path == "/connections" {
            let others = accepted.load(Ordering::Relaxed) - 1;
            return Ok(stream.write_all(others.to_string().as_bytes())?);
        }
        let request: Value = serde_json::from_slice(&body)?;
        let last = request["messages"].as_array().and_then(|list| list.last());
        let events = if last.is_some_and(|last| last["role"] == "tool") {
            answer_events()
        } else {
            call_events(CALLS.fetch_add(1, Ordering::Relaxed))
        };
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            transfer-encoding: chunked\r\n\r\n";
        let chunks = events.iter().map(|event| chunk(event)).chain([chunk("")]);
        if path.starts_with("/one/") {
            let whole: Vec<u8> = std::iter::once(head.to_vec())
                .chain(chunks)
                .flatten()
                .collect();
            stream.write_all(&whole)?;
        } else {
            stream.write_all(head)?;
            for chunk in chunks {
                stream.write_all(&chunk)?;
            }
        }
    }
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let data = json!({
        "id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "fake", "choices": [choice],
    });
    format!("data: {data}\n\n")
}

fn ending(finish: &str) -> [String; 3] {
    let usage = json!({
        "id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "fake", "choices": [],
        "usage": {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102},
    });
    [
        event(&json!({}), Some(finish)),
        format!("data: {usage}\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ]
}

/// A call of `echo` in nine events.
fn call_events(call: u64) -> Vec<String> {
    let first = json!({"role": "assistant", "content": null, "tool_calls": [{
        "index": 0, "id": format!("call_{call}"), "type": "function",
        "function": {"name": "echo", "arguments": ""},
    }]});
    let mut events = vec![event(&first, None)];
    let size = ECHO_ARGUMENTS.len().div_ceil(5);
    for piece in ECHO_ARGUMENTS.as_bytes().chunks(size) {
        let piece = String::from_utf8_lossy(piece);
        let delta = json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
        events.push(event(&delta, None));
    }
    events.extend(ending("tool_calls"));
    events
}

/// An answer in thirteen events.
fn answer_events() -> Vec<String> {
    let mut events = vec![event(&json!({"role": "assistant", "content": ""}), None)];
    events.extend(WORDS.map(|word| event(&json!({"content": word}), None)));
    events.extend(ending("stop"));
    events
}
