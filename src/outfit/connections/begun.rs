//! What was begun, and whether it has answered.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use outfitter_builtin::PluginApis;
use outfitter_commands::CommandTaken;
use outfitter_mcp::{McpSource, ServerState};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// What is connected, and what is about to be.
#[derive(Default)]
pub(in crate::outfit) struct Connections {
    pub(super) state: Mutex<State>,
    /// What asks programs and reads APIs. It ends with this.
    pub(super) tasks: Mutex<JoinSet<()>>,
    pub(in crate::outfit) apis: Arc<Apis>,
    /// All of it has answered and can work: there is nothing to wait for any more.
    pub(super) settled: AtomicBool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) servers: BTreeMap<String, Begun<Arc<McpSource>>>,
    pub(super) programs: Option<Begun<watch::Receiver<Answered>>>,
    pub(super) apis: Option<Begun<watch::Receiver<Answered>>>,
}

/// Something that was begun.
#[derive(Clone)]
pub(super) struct Begun<T> {
    pub(super) it: T,
    pub(super) at: Instant,
}

impl<T> Begun<T> {
    pub(super) fn now(it: T) -> Self {
        Self {
            it,
            at: Instant::now(),
        }
    }
}

/// Whether something that is asked once has answered.
#[derive(Clone)]
pub(super) enum Answered {
    NotYet,
    Yes,
    /// The programs of the project cannot be used together.
    Taken(CommandTaken),
}

/// The APIs, once they were read, and what may be used of them now.
#[derive(Default)]
pub(in crate::outfit) struct Apis {
    source: OnceLock<Arc<PluginApis>>,
    allowed: Mutex<Option<Vec<String>>>,
}

impl Apis {
    pub(super) fn get(&self) -> Option<&Arc<PluginApis>> {
        self.source.get()
    }

    /// They were read. What was allowed meanwhile is.
    pub(super) fn are(&self, source: Arc<PluginApis>) {
        let source = self.source.get_or_init(|| source);
        if let Some(allowed) = locked(&self.allowed).clone() {
            source.allow(allowed);
        }
    }

    pub(in crate::outfit) fn allow(&self, allowlist: Vec<String>) {
        *locked(&self.allowed) = Some(allowlist.clone());
        if let Some(source) = self.source.get() {
            source.allow(allowlist);
        }
    }
}

impl Connections {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Goes on with this by itself, and says when it has answered.
    pub(super) fn go_on(
        &self,
        work: impl Future<Output = Answered> + Send + 'static,
    ) -> Begun<watch::Receiver<Answered>> {
        let (tell, told) = watch::channel(Answered::NotYet);
        locked(&self.tasks).spawn(async move {
            tell.send_replace(work.await);
        });
        Begun::now(told)
    }
}

/// Whether an answer may still come.
pub(super) trait IsOpen {
    fn is_open(&self) -> bool;
}

impl IsOpen for watch::Receiver<Answered> {
    fn is_open(&self) -> bool {
        matches!(*self.borrow(), Answered::NotYet) && self.has_changed().is_ok()
    }
}

pub(super) fn is_starting(server: &McpSource) -> bool {
    server.status().status == ServerState::Starting
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
