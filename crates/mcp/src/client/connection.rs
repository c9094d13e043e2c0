//! Requests and replies over the pipes of one process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use outfitter_process::{Output, Stream};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use super::Era;
use super::lines::{Line, Lines};
use super::outbox::{NotSent, Outbox};
use super::stderr::Ring;
use super::wire::{self, Fault, Incoming};

/// How much progress of one call may wait to be shown; what is more is not shown.
const PROGRESS_CAPACITY: usize = 16;

/// How many lines in a row may be no messages. A banner, a log on the wrong stream and a stack trace
/// are shorter; what prints more than that is no MCP server.
pub(crate) const MAX_NOISE_LINES: usize = 10_000;

/// JSON-RPC: no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A process that is spoken to.
pub(crate) struct Connection {
    server: Arc<str>,
    outbox: Outbox,
    asked: Mutex<Asked>,
    next_id: AtomicU64,
    era: OnceLock<Era>,
    /// Its list of tools is another now.
    pub(crate) tools_changed: Notify,
    /// A call got no sign of life from it.
    pub(crate) doubted: Notify,
    /// Somebody was told of its noise.
    noisy: AtomicBool,
    /// How many lines in a row were no messages.
    noise: AtomicUsize,
}

/// What was asked and not answered yet.
#[derive(Default)]
struct Asked {
    open: HashMap<u64, Open>,
    /// Why nothing is answered any more.
    over: Option<Unanswered>,
}

struct Open {
    reply: oneshot::Sender<Result<Value, Unanswered>>,
    progress: Option<mpsc::Sender<String>>,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unanswered {
    /// The server says no, or its answer cannot be read.
    Fault(Fault),
    /// It ended before it answered. It may have done what was asked.
    Ended(Arc<str>),
    /// It was ended because what it printed was no protocol.
    Nonsense(Arc<str>),
    /// It was not asked.
    NotSent(String),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(Fault::Rpc { message, .. }) => f.write_str(message),
            Self::Fault(Fault::TooLong { bytes }) => {
                write!(f, "its reply of {bytes} bytes is too long")
            }
            Self::Fault(Fault::Garbled(why)) => write!(f, "its reply cannot be read: {why}"),
            Self::Ended(why) | Self::Nonsense(why) => f.write_str(why),
            Self::NotSent(why) => f.write_str(why),
        }
    }
}

/// What came of reading what a server prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// Both streams have ended.
    All,
    /// [`MAX_NOISE_LINES`] in a row were no messages.
    Nonsense,
}

/// What happens to a request that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abandoned {
    /// The server is told.
    Cancels,
    /// Nothing: the handshake is never cancelled.
    IsKept,
}

/// A request under way. Dropping it before its end tells the server, where that is wanted.
pub(crate) struct Request {
    connection: Arc<Connection>,
    id: u64,
    abandoned: Abandoned,
    pub(crate) reply: oneshot::Receiver<Result<Value, Unanswered>>,
    /// What the server says meanwhile; only of a request that asked for it.
    pub(crate) progress: Option<mpsc::Receiver<String>>,
}

impl Connection {
    pub(crate) fn new(server: Arc<str>, outbox: Outbox) -> Self {
        Self {
            server,
            outbox,
            asked: Mutex::default(),
            next_id: AtomicU64::new(1),
            era: OnceLock::new(),
            tools_changed: Notify::new(),
            doubted: Notify::new(),
            noisy: AtomicBool::new(false),
            noise: AtomicUsize::new(0),
        }
    }

    /// From now on requests are made as this era wants them.
    pub(crate) fn speak(&self, era: Era) {
        let _ = self.era.set(era);
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.era.get().copied()
    }

    /// Asks for something short: a step of the handshake, a page of a list.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        method: &str,
        params: Map<String, Value>,
        abandoned: Abandoned,
    ) -> Result<Value, Unanswered> {
        let mut request = self.request(method, params, abandoned, None)?;
        request.reply().await
    }

    /// Asks for something whose reply says nothing.
    pub(crate) fn ask_and_forget(self: &Arc<Self>, method: &str, params: Map<String, Value>) {
        // Dropping the request forgets it: a reply to it is a late one.
        drop(self.request(method, params, Abandoned::IsKept, None));
    }

    /// Asks for a tool to be called, and to be told how it goes.
    pub(crate) fn call(
        self: &Arc<Self>,
        params: Map<String, Value>,
    ) -> Result<Request, Unanswered> {
        let (sender, receiver) = mpsc::channel(PROGRESS_CAPACITY);
        let mut request = self.request("tools/call", params, Abandoned::Cancels, Some(sender))?;
        request.progress = Some(receiver);
        Ok(request)
    }

    fn request(
        self: &Arc<Self>,
        method: &str,
        mut params: Map<String, Value>,
        abandoned: Abandoned,
        progress: Option<mpsc::Sender<String>>,
    ) -> Result<Request, Unanswered> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut meta = match self.era() {
            Some(Era::Modern) => super::handshake::modern_meta(),
            Some(Era::Legacy) | None => Map::new(),
        };
        if progress.is_some() {
            meta.insert("progressToken".to_owned(), id.into());
        }
        if !meta.is_empty() && !params.contains_key("_meta") {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let line = line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let (sender, reply) = oneshot::channel();
        {
            let mut asked = self.lock();
            match &asked.over {
                None => {}
                Some(Unanswered::Nonsense(why)) => return Err(Unanswered::Nonsense(why.clone())),
                Some(over) => return Err(Unanswered::NotSent(over.to_string())),
            }
            asked.open.insert(
                id,
                Open {
                    reply: sender,
                    progress,
                },
            );
        }
        let mut request = Request {
            connection: self.clone(),
            id,
            abandoned: Abandoned::IsKept,
            reply,
            progress: None,
        };
        self.outbox
            .send(line)
            .map_err(|error: NotSent| Unanswered::NotSent(error.to_string()))?;
        // Only what was sent can be cancelled.
        request.abandoned = abandoned;
        Ok(request)
    }

    /// Tells it something.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        // It is told where it listens; where it does not, there is nobody to tell.
        let _ = self.outbox.send(line(&message));
    }

    /// Writes what waits to be written. Ends when the server reads no more.
    pub(crate) async fn write(&self) {
        self.outbox.write().await;
    }

    /// Reads all it prints, on both streams, until both have ended or it makes no sense.
    pub(crate) async fn read(&self, output: &mut Output, lines: &mut Lines, stderr: &Ring) -> Read {
        while let Ok(Some((stream, bytes))) = output.next().await {
            self.take(stream, &bytes, lines, stderr);
            if self.noise.load(Ordering::Relaxed) >= MAX_NOISE_LINES {
                return Read::Nonsense;
            }
            // What never stops printing leaves time for all else all the same.
            tokio::task::yield_now().await;
        }
        Read::All
    }

    /// Takes a piece of what it printed.
    pub(crate) fn take(&self, stream: Stream, bytes: &[u8], lines: &mut Lines, stderr: &Ring) {
        match stream {
            Stream::Stderr => stderr.push(bytes),
            Stream::Stdout => lines.push(bytes, |line| self.take_line(&line, stderr)),
        }
    }

    /// Takes what it printed last, without an end of the line.
    pub(crate) fn finish(&self, lines: &mut Lines, stderr: &Ring) {
        lines.finish(|line| self.take_line(&line, stderr));
    }

    fn take_line(&self, line: &Line<'_>, stderr: &Ring) {
        let mut sense = false;
        let mut each = |incoming| {
            sense |= !matches!(incoming, Incoming::Noise(_));
            self.handle(incoming, stderr);
        };
        match *line {
            Line::Whole(line) => wire::read(line, each),
            Line::TooLong { head, tail, bytes } => each(wire::read_ends(head, tail, bytes)),
        }
        let noise = self.noise.load(Ordering::Relaxed);
        if !sense {
            self.noise.store(noise + 1, Ordering::Relaxed);
        } else if noise < MAX_NOISE_LINES {
            self.noise.store(0, Ordering::Relaxed);
        }
    }

    fn handle(&self, incoming: Incoming, stderr: &Ring) {
        match incoming {
            Incoming::Reply(id, outcome) => self.answer(id, outcome.map_err(Unanswered::Fault)),
            Incoming::Request { id, method } => self.reply(&id, &method),
            Incoming::Notification { method, params } => self.hear(&method, &params),
            Incoming::Noise(text) => self.overhear(&text, stderr),
            Incoming::Unreadable(fault) => self.blame(fault),
        }
    }

    fn answer(&self, id: u64, outcome: Result<Value, Unanswered>) {
        let open = self.lock().open.remove(&id);
        // Otherwise it is a late reply to what was given up.
        if let Some(open) = open {
            let _ = open.reply.send(outcome);
        }
    }

    /// A reply that cannot be read belongs to the one request that is open, if it is one.
    fn blame(&self, fault: Fault) {
        let only = {
            let asked = self.lock();
            let mut ids = asked.open.keys().copied();
            ids.next().filter(|_| ids.next().is_none())
        };
        match only {
            Some(id) => self.answer(id, Err(Unanswered::Fault(fault))),
            None => tracing::warn!(
                server = &*self.server,
                ?fault,
                "skipped a reply that cannot be read"
            ),
        }
    }

    /// What a server wants of its client, we do not offer; but we answer.
    fn reply(&self, id: &Value, method: &str) {
        let answer = if method == "ping" {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            let message = format!("this client does not offer {method}");
            let error = json!({"code": METHOD_NOT_FOUND, "message": message});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        };
        let _ = self.outbox.send(line(&answer));
    }

    fn hear(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed" => self.tools_changed.notify_one(),
            "notifications/progress" => self.show(params),
            "notifications/message" => {
                tracing::debug!(server = &*self.server, message = %params, "said");
            }
            _ => {}
        }
    }

    fn show(&self, params: &Value) {
        let token = match &params["progressToken"] {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let asked = self.lock();
        if let Some(progress) = token
            .and_then(|id| asked.open.get(&id))
            .and_then(|open| open.progress.as_ref())
        {
            // Shown to who is there; a full queue has signs of life enough.
            let _ = progress.try_send(progress_line(params));
        }
    }

    fn overhear(&self, text: &str, stderr: &Ring) {
        stderr.push(format!("[stdout] {text}\n").as_bytes());
        if !self.noisy.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                server = &*self.server,
                "prints lines that are no messages; they are kept with its standard error"
            );
        }
    }

    /// Nothing is answered any more.
    pub(crate) fn end(&self, why: &Unanswered) {
        self.outbox.close();
        let open = {
            let mut asked = self.lock();
            asked.over.get_or_insert_with(|| why.clone());
            std::mem::take(&mut asked.open)
        };
        for open in open.into_values() {
            let _ = open.reply.send(Err(why.clone()));
        }
    }

    /// Whether it works on something.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lock().open.is_empty()
    }

    /// Whether somebody reads what is sent.
    pub(crate) fn is_heard(&self) -> bool {
        self.outbox.is_open()
    }

    /// Whether it can still be asked.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().over.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    /// Waits for the reply.
    pub(crate) async fn reply(&mut self) -> Result<Value, Unanswered> {
        let reply = (&mut self.reply).await;
        reply.unwrap_or_else(|_| Err(Unanswered::Ended("the connection was closed".into())))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let open = self.connection.lock().open.remove(&self.id).is_some();
        if open && self.abandoned == Abandoned::Cancels {
            let params = json!({"requestId": self.id, "reason": "the caller waits no more"});
            self.connection.notify("notifications/cancelled", &params);
        }
    }
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Progress as a line for people.
fn progress_line(params: &Value) -> String {
    let number = |key: &str| params[key].as_f64();
    let share = match (number("progress"), number("total")) {
        (Some(done), Some(total)) => Some(format!("{done}/{total}")),
        (Some(done), None) => Some(done.to_string()),
        (None, _) => None,
    };
    match (params["message"].as_str(), share) {
        (Some(message), Some(share)) => format!("{message} ({share})"),
        (Some(message), None) => message.to_owned(),
        (None, share) => share.unwrap_or_default(),
    }
}
