//! What a server is made of, and the seams to what it does not know.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use outfitter_agent::{Belongings, Host};
use outfitter_core::{
    ArtifactStore, CallHost, CallHostError, Listing, Log, Principal, Scope, SessionId,
};
use serde_json::Value;

use crate::principals::Principals;

/// What a server is made of.
pub struct ServerParts {
    /// The agent and its sessions.
    pub host: Host,
    /// Where sessions are kept: the agent's own.
    pub log: Arc<dyn Log>,
    /// Where large content is kept: the agent's own.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Who calls.
    pub principals: Arc<dyn Principals>,
    /// What there is.
    pub directory: Arc<dyn Directory>,
    /// What sessions have beside the log and the artifacts, which goes when they are deleted.
    pub belongings: Arc<dyn Belongings>,
    /// What keeps other processes from a session; none where there are none.
    pub holds: Option<Arc<dyn SessionHolds>>,
    /// Makes what answers at `/mcp` of a host for its calls: they are runs of this server, like all
    /// others.
    pub mcp: Option<MountMcp>,
    /// How it behaves.
    pub config: ServerConfig,
}

/// Makes what answers at `/mcp`.
pub type MountMcp = Box<dyn FnOnce(Arc<dyn CallHost>) -> Mounted + Send>;

/// What answers at a path.
pub struct Mounted {
    /// For example `Router::new().fallback(…)`. Its requests carry an `Arc<Principal>` as an
    /// extension; Host, Origin, type and size were looked at.
    pub router: Router,
    /// Ends its streams, when the server stops.
    pub stop: Box<dyn Fn() + Send + Sync>,
}

/// How a server behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Origins beside the loopback ones whose pages may call, as browsers write them:
    /// `https://example.org`. Their hosts may also be called by name.
    pub allowed_origins: Vec<String>,
    /// Whether a run ends with the connection that started it.
    pub cancel_on_disconnect: bool,
    /// How long an AG-UI stream is silent before it says that it lives.
    pub heartbeat: Duration,
    /// How long runs and connections may take to end once the server is to stop.
    pub grace: Duration,
    /// Connections at once. When there are as many, the next takes the place of one that is idle.
    pub connections: usize,
    /// What it calls itself.
    pub version: String,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            cancel_on_disconnect: true,
            heartbeat: Duration::from_secs(15),
            grace: Duration::from_secs(10),
            connections: 1_024,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What there is, as a caller may be told of it.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The tools of a caller who has no session yet.
    fn tools(&self, who: &Principal) -> Vec<Listing>;

    /// The skills that the caller may use: objects with at least `name`.
    fn skills(&self, who: &Principal) -> Vec<Value>;

    /// The MCP servers: `{ name, transport, era, status, since, last_error?, tools, restarts }`.
    fn mcp_servers(&self, who: &Principal) -> Vec<Value>;

    /// What was skipped, with a reason code each.
    fn diagnostics(&self, who: &Principal) -> Vec<Value>;

    /// Whether commands run under isolation.
    async fn sandboxed(&self) -> bool;

    /// The commands of a session that are known: `{ task_id, command, started, status, ended? }`, the
    /// last started first.
    async fn jobs(&self, scope: &Scope, session: &SessionId) -> Vec<Value>;
}

/// A directory with nothing in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDirectory;

#[async_trait]
impl Directory for NoDirectory {
    fn tools(&self, _: &Principal) -> Vec<Listing> {
        Vec::new()
    }

    fn skills(&self, _: &Principal) -> Vec<Value> {
        Vec::new()
    }

    fn mcp_servers(&self, _: &Principal) -> Vec<Value> {
        Vec::new()
    }

    fn diagnostics(&self, _: &Principal) -> Vec<Value> {
        Vec::new()
    }

    async fn sandboxed(&self) -> bool {
        false
    }

    async fn jobs(&self, _: &Scope, _: &SessionId) -> Vec<Value> {
        Vec::new()
    }
}

/// A session, held for one run. Dropping it gives the session free.
pub trait SessionHold: Send + Sync {}

/// Keeps other processes from a session while a run of this one works on it.
pub trait SessionHolds: Send + Sync {
    /// Holds a session.
    ///
    /// # Errors
    /// [`CallHostError::Busy`] when another process has it.
    fn hold(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError>;

    /// Holds a session to delete it, also one whose deletion was broken off, which nothing else
    /// holds any more.
    ///
    /// # Errors
    /// [`CallHostError::Busy`] when another process has it.
    fn hold_to_delete(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Box<dyn SessionHold>, CallHostError> {
        self.hold(scope, session)
    }
}
