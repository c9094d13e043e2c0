//! A server as a source of tools, and the task that keeps it alive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use outfitter_core::{
    Cancel, Fault, Generation, SourceId, SourceSnapshot, Tool, ToolSource, Trust, UnixMs,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::alive::keep_alive;
use super::cache;
use super::connection::Connection;
use super::handshake::Era;
use super::link::{Link, Live};
use super::listing::Listed;
use super::server::{Enabled, Host, InvalidServer, Start, StdioServer};
use super::status::{ServerState, ServerStatus, Transport};
use super::tool::McpTool;

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

/// What the task, the source and its tools share.
pub(crate) struct Shared {
    pub(crate) link: Arc<Link>,
    pub(crate) host: Host,
    snapshot: watch::Sender<Arc<SourceSnapshot>>,
    state: Mutex<State>,
}

pub(super) struct State {
    state: ServerState,
    since: UnixMs,
    ready_at: Option<Instant>,
    pub(super) era: Option<Era>,
    last_error: Option<String>,
    restarts: u32,
    /// How its tools differed from those that were kept.
    changed: Option<String>,
    pub(super) tools: Vec<Arc<McpTool>>,
    faults: Vec<Fault>,
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
            last_error: state.last_error.clone(),
            tools: state.tools.len(),
            restarts: state.restarts,
            lazy: self.shared.is_lazy(),
            changed: state.changed.clone(),
        }
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
            cache::read(&bytes, &cache::key(server), server)
        }
        (Start::AtOnce, _) | (Start::AtFirstCall, None) => None,
    }
}

impl Shared {
    pub(super) fn is_lazy(&self) -> bool {
        self.link.server.start == Start::AtFirstCall
    }

    pub(super) fn is_idle(&self) -> bool {
        self.lock().state == ServerState::Idle
    }

    /// Whether it was started only to say what it offers.
    pub(crate) fn is_only_listed(&self) -> bool {
        let never_ready = self.lock().era.is_none();
        self.is_lazy() && never_ready && !self.link.is_wanted()
    }

    /// Keeps what it offers, where that will be asked for.
    pub(crate) async fn keep_specs(&self, listed: &Listed) {
        let (true, Some(specs)) = (self.is_lazy(), &self.host.specs) else {
            return;
        };
        let server = &self.link.server;
        let Some(bytes) = cache::write(&cache::key(server), &listed.tools) else {
            tracing::warn!(server = %server.name, "what it offers is too long to be kept");
            return;
        };
        let (specs, name) = (specs.clone(), server.name.clone());
        let kept = tokio::task::spawn_blocking(move || specs.keep(name.as_str(), &bytes));
        if let Err(error) = kept.await {
            tracing::warn!(server = %server.name, %error, "what it offers was not kept");
        }
    }

    /// It does not run, and nobody has called it yet.
    pub(super) fn idle(&self) {
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Idle);
        }
        self.publish();
        self.link.rest(Live::Idle);
    }

    /// Waits until a call wants it, and gives whether one does before all of it ends.
    pub(super) async fn woken(&self, stop: &Cancel) -> bool {
        tokio::select! {
            biased;
            () = stop.cancelled() => return false,
            () = self.link.wanted.notified() => {}
        }
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Starting);
        }
        self.publish();
        self.link.set(Live::Starting);
        true
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.lock().ready_at.is_some()
    }

    pub(super) fn lived(&self) -> Duration {
        self.lock()
            .ready_at
            .map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// It can be asked.
    pub(crate) fn ready(&self, connection: &Arc<Connection>, era: Era, listed: Listed) {
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Ready);
            state.ready_at = Some(Instant::now());
            state.era = Some(era);
            if self.is_lazy() {
                let known: Vec<_> = state.tools.iter().map(|tool| tool.remote.clone()).collect();
                let first = known.is_empty();
                state.changed = cache::difference(&known, &listed.tools).filter(|_| !first);
                if let Some(changed) = &state.changed {
                    tracing::warn!(server = %self.link.server.name, changed, "its tools are not those that were kept of it");
                }
            }
        }
        self.offer(listed);
        self.link.set(Live::Ready(connection.clone()));
    }

    /// It offers these tools now.
    pub(crate) fn offer(&self, listed: Listed) {
        let Listed { tools, mut faults } = listed;
        let known = self.lock().tools.clone();
        let tools = tools
            .into_iter()
            .map(|remote| {
                // The same allocation is the same tool: nothing has to be compiled again.
                if let Some(tool) = known.iter().find(|known| known.remote == remote) {
                    return tool.clone();
                }
                let name = remote.name.clone();
                let (tool, fault) = McpTool::new(remote, self.link.clone());
                faults.extend(fault.map(|why| Fault { what: name, why }));
                Arc::new(tool)
            })
            .collect();
        {
            let mut state = self.lock();
            let before = std::mem::replace(&mut state.tools, tools);
            for tool in before {
                if !state.tools.iter().any(|now| Arc::ptr_eq(now, &tool)) {
                    tool.supersede();
                }
            }
            state.faults = faults;
        }
        self.publish();
    }

    /// It offers what it offered, but something is wrong.
    pub(crate) fn keep(&self, why: &str) {
        {
            let mut state = self.lock();
            state.last_error = Some(why.to_owned());
            state.faults.retain(|fault| fault.what != "tools/list");
            state.faults.push(Fault {
                what: "tools/list".to_owned(),
                why: why.to_owned(),
            });
        }
        self.publish();
    }

    pub(super) fn down(&self, why: &str, down: fn(Arc<str>) -> Live) {
        let down = down(why.into());
        let code = match &down {
            Live::Nonsense(_) => "protocol_error: ",
            _ => "",
        };
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Down);
            state.ready_at = None;
            state.last_error = Some(format!("{code}{why}"));
        }
        self.publish();
        self.link.rest(down);
    }

    pub(super) fn again(&self) {
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Starting);
            state.restarts += 1;
        }
        self.publish();
        self.link.set(Live::Starting);
    }

    pub(super) fn stopped(&self) {
        {
            let mut state = self.lock();
            self.enter(&mut state, ServerState::Down);
            state.last_error = Some("it was stopped".to_owned());
        }
        self.publish();
        self.link.set(Live::Stopped);
    }

    fn enter(&self, state: &mut State, next: ServerState) {
        if state.state != next {
            state.state = next;
            state.since = self.host.clock.now();
        }
    }

    fn publish(&self) {
        let state = self.lock();
        let mut faults = Vec::new();
        let whole = match (state.state, &state.last_error) {
            (ServerState::Starting, None) => Some("it is starting".to_owned()),
            (ServerState::Starting, Some(why)) => Some(format!("it is started again: {why}")),
            (ServerState::Down, why) => Some(why.clone().unwrap_or_default()),
            // One that is not needed yet is not wanting.
            (
                ServerState::Idle
                | ServerState::Ready
                | ServerState::Degraded
                | ServerState::Disabled,
                _,
            ) => None,
        };
        faults.extend(whole.map(|why| Fault {
            what: "server".to_owned(),
            why,
        }));
        faults.extend(state.faults.iter().cloned());
        let tools = state
            .tools
            .iter()
            .map(|tool| tool.clone() as Arc<dyn Tool>)
            .collect();
        self.snapshot.send_modify(|snapshot| {
            *snapshot = Arc::new(SourceSnapshot {
                generation: Generation(snapshot.generation.0 + 1),
                tools,
                faults,
            });
        });
    }
}
