//! A server as a source of tools, and the task that keeps it alive.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use outfitter_core::{Cancel, Generation, SourceId, SourceSnapshot, ToolSource, Trust};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::alive::keep_alive;
use super::cache;
use super::link::{Link, Live};
use super::listing::Listed;
use super::server::{Enabled, Host, InvalidServer, Start, StdioServer};
use super::shared::{Shared, State};
use super::status::{ServerState, ServerStatus, Transport};

/// How long the task may take to end the process when the source is stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// A server that runs as a child of ours, as a source of tools.
///
/// Listing never waits for it: until it is ready its snapshot has no tools and a fault that says
/// so. When it dies its tools stay, it is started again after a pause, and a call that comes
/// meanwhile waits for it. A call that may have reached it is never sent twice. Dropping the source
/// kills the process and all it started.
///
/// One that is started at its first call ([`Start::AtFirstCall`]) has the tools that were kept of it
/// until then. When they turn out to be others, it offers those, and a call of one that is another
/// now is refused. When it dies, a call starts it again.
pub struct McpSource {
    shared: Arc<Shared>,
    stop: Cancel,
    tasks: Mutex<JoinSet<()>>,
}

impl McpSource {
    /// Starts the server, without waiting for it.
    ///
    /// # Errors
    /// [`InvalidServer`] when it cannot be run as it is described. What goes wrong later is a fault
    /// in the snapshot.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn start(server: StdioServer, host: Host) -> Result<Self, InvalidServer> {
        server.check()?;
        let kept = kept(&server, &host);
        let (state, now) = match (server.state, &kept) {
            (Enabled::Yes, Some(_)) => (ServerState::Idle, Live::Idle),
            (Enabled::Yes, None) => (ServerState::Starting, Live::Starting),
            (Enabled::No, _) => (ServerState::Disabled, Live::Stopped),
        };
        let shared = Arc::new(Shared {
            link: Arc::new(Link::new(Arc::new(server), now)),
            snapshot: watch::Sender::new(Arc::default()),
            state: Mutex::new(State {
                state,
                since: host.clock.now(),
                ready_at: None,
                era: None,
                last_error: None,
                restarts: 0,
                changed: None,
                tools: Vec::new(),
                faults: Vec::new(),
            }),
            host,
        });
        let stop = Cancel::new();
        let mut tasks = JoinSet::new();
        match state {
            ServerState::Disabled => {}
            _ => {
                match kept {
                    Some(kept) => shared.offer(kept),
                    None => shared.publish(),
                }
                let (shared, stop) = (shared.clone(), stop.child());
                tasks.spawn(async move { keep_alive(&shared, &stop).await });
            }
        }
        Ok(Self {
            shared,
            stop,
            tasks: Mutex::new(tasks),
        })
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> ServerStatus {
        let lacking = self.lacking();
        let state = self.shared.lock();
        ServerStatus {
            name: self.shared.link.server.name.to_string(),
            transport: Transport::Stdio,
            era: state.era,
            status: match state.state {
                ServerState::Ready if !state.faults.is_empty() => ServerState::Degraded,
                other => other,
            },
            since: state.since,
            last_error: lacking.or_else(|| state.last_error.clone()),
            tools: state.tools.len(),
            restarts: state.restarts,
            lazy: self.shared.is_lazy(),
            changed: state.changed.clone(),
        }
    }

    /// Why it will not start at its first call, as far as that shows before.
    fn lacking(&self) -> Option<String> {
        let (server, host) = (&self.shared.link.server, &self.shared.host);
        let is_idle = self.shared.is_idle();
        let why = cache::on_disk(server, &host.env).lacking();
        why.filter(|_| is_idle)
            .map(|why| server.without_secrets(&why))
    }

    /// The last of what it printed for people, and beside its protocol: at most 16 KiB, without
    /// the values of its configured environment.
    #[must_use]
    pub fn stderr(&self) -> String {
        let link = &self.shared.link;
        link.server.without_secrets(&link.stderr.text())
    }

    /// Waits until it is ready, or is not going to be soon, or the time is up: for programs that
    /// make one call and end.
    pub async fn settled(&self, within: Duration) {
        let mut live = self.shared.link.watch();
        let settled = live.wait_for(|live| !matches!(live, Live::Starting));
        let _ = tokio::time::timeout(within, settled).await;
    }

    /// Ends the process: its input ends, and what is left of its tree a little later is killed.
    /// Takes a few seconds at most. Calls that come after it are `unavailable`.
    pub async fn stop(&self) {
        self.stop.cancel();
        let mut tasks =
            std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = async { while tasks.join_next().await.is_some() {} };
        // What has not ended by then is killed with the task.
        let _ = tokio::time::timeout(STOP_TIMEOUT, ended).await;
    }
}

impl Drop for McpSource {
    fn drop(&mut self) {
        // The process dies with the task; nobody shall wait for its answers.
        self.shared.link.end("it was stopped");
    }
}

impl ToolSource for McpSource {
    fn id(&self) -> &SourceId {
        &self.shared.link.server.name
    }

    fn trust(&self) -> Trust {
        Trust::Remote
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        self.shared.snapshot.borrow().clone()
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        let snapshots = self.shared.snapshot.subscribe();
        futures_util::stream::unfold(snapshots, |mut snapshots| async move {
            snapshots.changed().await.ok()?;
            let generation = snapshots.borrow_and_update().generation;
            Some((generation, snapshots))
        })
        .fuse()
        .boxed()
    }
}

/// What was kept of a server that is started at its first call.
fn kept(server: &StdioServer, host: &Host) -> Option<Listed> {
    match (server.start, &host.specs) {
        (Start::AtFirstCall, Some(specs)) => {
            let bytes = specs.load(server.name.as_str())?;
            // One that is not there any more has its tools, which say so when they are called.
            match cache::on_disk(server, &host.env).lacking() {
                Some(_) => cache::read_last(&bytes, server),
                None => cache::read(&bytes, &cache::key(server, &host.env), server),
            }
        }
        (Start::AtOnce, _) | (Start::AtFirstCall, None) => None,
    }
}
