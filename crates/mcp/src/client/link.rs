//! What a call needs of a server: its present process, or a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;

use outfitter_core::{Cancel, Code, ToolError};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use super::connection::{Connection, Unanswered};
use super::server::StdioServer;
use super::stderr::Ring;

/// Between the calls of a server and the task that keeps it alive.
pub(crate) struct Link {
    pub(crate) server: Arc<StdioServer>,
    /// What it prints for people.
    pub(crate) stderr: Ring,
    live: watch::Sender<Live>,
    limit: Semaphore,
    /// A call waits for it to be started again.
    pub(crate) wanted: Notify,
    /// How many calls wait for it to be ready.
    waiting: AtomicUsize,
}

/// Whether a server can be asked.
#[derive(Clone)]
pub(crate) enum Live {
    /// Not yet.
    Starting,
    /// By this connection.
    Ready(Arc<Connection>),
    /// It does not run, as nobody has called it yet. It is started when it is wanted.
    Idle,
    /// It does not run, and why. It is started when it is wanted, or a little later.
    Down(Arc<str>),
    /// It does not run because what it printed was no protocol. It is started when it is wanted.
    Nonsense(Arc<str>),
    /// It does not run and will not.
    Stopped,
}

/// One call more that waits, until it is dropped.
struct Waits<'w>(&'w AtomicUsize);

impl<'w> Waits<'w> {
    fn on(waiting: &'w AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Link {
    pub(crate) fn new(server: Arc<StdioServer>, live: Live) -> Self {
        Self {
            stderr: Ring::default(),
            live: watch::Sender::new(live),
            limit: Semaphore::new(server.concurrency),
            wanted: Notify::new(),
            waiting: AtomicUsize::new(0),
            server,
        }
    }

    pub(crate) fn set(&self, live: Live) {
        self.live.send_replace(live);
    }

    /// It does not run from now on, and is started when it is wanted after this.
    pub(crate) fn rest(&self, live: Live) {
        // Whoever wanted it before had it.
        let _ = self.wanted.notified().now_or_never();
        self.set(live);
    }

    /// Whether a call waits for it.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// It does not run and will not; who waits for it is told.
    pub(crate) fn end(&self, why: &str) {
        if let Live::Ready(connection) = self.live.send_replace(Live::Stopped) {
            connection.end(&Unanswered::Ended(why.into()));
        }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Live> {
        self.live.subscribe()
    }

    /// A place among the calls that the server works on.
    pub(crate) async fn enter(&self, cancel: &Cancel) -> Result<SemaphorePermit<'_>, ToolError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::new(Code::Cancelled, "the call was stopped before it was made")),
            permit = self.limit.acquire() => permit.map_err(|_| self.gone("it was stopped")),
        }
    }

    /// The connection to ask by. A server that is down is started once for it.
    pub(crate) async fn connection(&self, cancel: &Cancel) -> Result<Arc<Connection>, ToolError> {
        if let Live::Ready(connection) = &*self.live.borrow()
            && connection.is_open()
        {
            return Ok(connection.clone());
        }
        let patience = self.server.connect_timeout;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::new(Code::Cancelled, "the call was stopped before it was made")),
            found = self.revived() => found,
            () = tokio::time::sleep(patience) => {
                Err(self.gone(&format!("it is not ready after {} s", patience.as_secs_f64())))
            }
        }
    }

    async fn revived(&self) -> Result<Arc<Connection>, ToolError> {
        let _waits = Waits::on(&self.waiting);
        let mut live = self.watch();
        let mut asked = false;
        loop {
            let now = live.borrow_and_update().clone();
            match now {
                Live::Ready(connection) if connection.is_open() => return Ok(connection),
                // Its end is known here before it is there.
                Live::Ready(_) | Live::Starting => {}
                Live::Down(why) if asked => return Err(self.gone(&why)),
                Live::Nonsense(why) if asked => return Err(self.nonsense(&why)),
                Live::Idle | Live::Down(_) | Live::Nonsense(_) => {
                    asked = true;
                    self.wanted.notify_one();
                }
                Live::Stopped => return Err(self.gone("it was stopped")),
            }
            if live.changed().await.is_err() {
                return Err(self.gone("it was stopped"));
            }
        }
    }

    /// What a call is told whose server printed no protocol.
    pub(crate) fn nonsense(&self, why: &str) -> ToolError {
        ToolError::new(
            Code::ProtocolError,
            format!("the MCP server {} was ended: {why}", self.server.name),
        )
    }

    fn gone(&self, why: &str) -> ToolError {
        ToolError::unavailable(format!(
            "the MCP server {} is not there: {why}",
            self.server.name
        ))
    }
}
