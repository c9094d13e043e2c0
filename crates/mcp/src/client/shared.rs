//! What is known of a server, how it stands, and what is offered of it: by the task that keeps it
//! alive, for the source and its tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Cancel, Fault, Generation, Hash, SourceSnapshot, Tool, UnixMs};
use tokio::sync::watch;
use tokio::time::Instant;

use super::cache;
use super::connection::Connection;
use super::handshake::Era;
use super::link::{Link, Live};
use super::listing::Listed;
use super::server::{Host, Start};
use super::status::ServerState;
use super::tool::McpTool;

/// What the task, the source and its tools share.
pub(crate) struct Shared {
    pub(crate) link: Arc<Link>,
    pub(crate) host: Host,
    pub(super) snapshot: watch::Sender<Arc<SourceSnapshot>>,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) state: ServerState,
    pub(super) since: UnixMs,
    pub(super) ready_at: Option<Instant>,
    pub(super) era: Option<Era>,
    pub(super) last_error: Option<String>,
    pub(super) restarts: u32,
    /// How its tools differed from those that were kept.
    pub(super) changed: Option<String>,
    pub(super) tools: Vec<Arc<McpTool>>,
    pub(super) faults: Vec<Fault>,
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

    /// Which server is started now; none where nobody will ask for what is kept of it.
    pub(super) fn key(&self) -> Option<Hash> {
        let is_kept = self.is_lazy() && self.host.specs.is_some();
        is_kept.then(|| cache::key(&self.link.server, &self.host.env))
    }

    /// Keeps what it offers, where that will be asked for. It was started under this key; one that
    /// was replaced since may be the one or the other.
    pub(super) async fn keep_specs(&self, started: Option<&Hash>, listed: &Listed) {
        let (Some(started), Some(specs)) = (started, &self.host.specs) else {
            return;
        };
        let server = &self.link.server;
        if self.key().as_ref() != Some(started) {
            tracing::info!(server = %server.name, "what it offers is not kept: its files have changed since it was started");
            return;
        }
        let Some(bytes) = cache::write(started, &listed.tools) else {
            tracing::warn!(server = %server.name, "what it offers is too long to be kept");
            return;
        };
        let (specs, name) = (specs.clone(), server.name.clone());
        let kept = tokio::task::spawn_blocking(move || specs.keep(name.as_str(), &bytes));
        if let Err(error) = kept.await {
            tracing::warn!(server = %server.name, %error, "what it offers was not kept");
        }
    }

    /// What was kept under its name last, whatever has become of it since; none where it offers
    /// something by now.
    pub(super) async fn kept_last(&self) -> Option<Listed> {
        let is_new = self.is_lazy() && self.lock().tools.is_empty();
        let specs = self.host.specs.clone().filter(|_| is_new)?;
        let server = self.link.server.clone();
        let kept = tokio::task::spawn_blocking(move || {
            cache::read_last(&specs.load(server.name.as_str())?, &server)
        });
        kept.await.ok()?
    }

    /// It could not be asked what it offers, so it offers what it did, and each call tries it again.
    pub(super) fn idle_as_it_was(&self, kept: Listed, why: &str) {
        self.lock().last_error = Some(self.link.server.without_secrets(why));
        self.offer(kept);
        self.idle();
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
                let changed = cache::difference(&known, &listed.tools).filter(|_| !first);
                state.changed = changed.map(|names| self.link.server.without_secrets(&names));
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
        let why = &self.link.server.without_secrets(why);
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

    pub(super) fn publish(&self) {
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
        // Some of these are in the words of the server.
        let secrets = self.link.server.secrets();
        let fit = |text: &str| secrets.taken_out(text).into_owned();
        faults.extend(state.faults.iter().map(|fault| Fault {
            what: fit(&fault.what),
            why: fit(&fault.why),
        }));
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
