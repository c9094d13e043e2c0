//! Requests and replies over the pipes of one process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use outfitter_core::ProgramSecrets;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use super::Era;
use super::outbox::{NotSent, Outbox};
use super::server::StdioServer;
use super::wire::Fault;

/// How much progress of one call may wait to be shown; what is more is not shown.
const PROGRESS_CAPACITY: usize = 16;

/// A process that is spoken to.
pub(crate) struct Connection {
    pub(super) server: Arc<str>,
    /// What is not told of it in its own words.
    pub(super) secrets: ProgramSecrets,
    pub(super) outbox: Outbox,
    asked: Mutex<Asked>,
    next_id: AtomicU64,
    era: OnceLock<Era>,
    /// Its list of tools is another now.
    pub(crate) tools_changed: Notify,
    /// A call got no sign of life from it.
    pub(crate) doubted: Notify,
    /// Somebody was told of its noise.
    pub(super) noisy: AtomicBool,
    /// How many lines in a row were no messages.
    pub(super) noise: AtomicUsize,
}

/// What was asked and not answered yet.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) open: HashMap<u64, Open>,
    /// Why nothing is answered any more.
    over: Option<Unanswered>,
}

pub(super) struct Open {
    pub(super) reply: oneshot::Sender<Result<Value, Unanswered>>,
    pub(super) progress: Option<mpsc::Sender<String>>,
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
    pub(crate) fn new(server: &StdioServer, outbox: Outbox) -> Self {
        Self {
            server: server.name.as_str().into(),
            secrets: server.secrets(),
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

    pub(super) fn lock(&self) -> MutexGuard<'_, Asked> {
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

pub(super) fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
