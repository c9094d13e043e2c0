//! A served agent, over a log that outlives the server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use outfitter_agent::{
    Agent, AgentParts, AgentSettings, Belongings, Host, LeftBehind, Limits, Mark, ProgressSettings,
    Session, SessionSource, Told,
};
use outfitter_core::*;
use outfitter_mcp::{GatewayOptions, McpService};
use outfitter_server::{
    Caller, Directory, LocalPrincipals, Mounted, Principals, Server, ServerConfig, ServerParts,
    SessionHolds,
};
use outfitter_store::{MemoryArtifacts, MemoryLog, SqliteLog};
use outfitter_tools::{NativeSource, Pipeline, PipelineOptions, ToolRegistry, read_artifact};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::gated::{Gated, Point};
use crate::probes::{Parrot, tools};

/// Tokens are `subject` or `subject:role`; no token is the local guest. `nobody` is refused.
struct Tokens(LocalPrincipals);

#[async_trait]
impl Principals for Tokens {
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>> {
        let Some(token) = caller.bearer.filter(|token| *token != "nobody") else {
            return self.0.identify(caller).await;
        };
        let (subject, role) = token.split_once(':').unwrap_or((token, "user"));
        Ok(Principal {
            tenant: "local".into(),
            subject: subject.into(),
            role: Role::ALL
                .into_iter()
                .find(|known| known.as_str() == role)
                .unwrap(),
            channel: caller.channel.clone(),
            stream: None,
        })
    }

    fn on_behalf(&self, scope: &Scope) -> Option<Principal> {
        self.0.on_behalf(scope)
    }

    fn known_scopes(&self) -> Vec<Scope> {
        self.0.known_scopes()
    }
}

struct Sealed {
    registry: ToolRegistry,
}

impl Sealed {
    fn session(&self, who: Arc<Principal>, id: &SessionId) -> Session {
        Session {
            id: id.clone(),
            proxy: self
                .registry
                .seal(Grant::full(who.role), Selection::default()),
            who,
            sandbox: Arc::new(RefusingSandbox::new()),
            attended: Attended::Yes,
            told: Told::default(),
        }
    }
}

#[async_trait]
impl SessionSource for Sealed {
    async fn open(&self, who: Arc<Principal>, id: &SessionId) -> Result<Session, CallHostError> {
        Ok(self.session(who, id))
    }
}

#[async_trait]
impl Directory for Sealed {
    fn tools(&self, who: &Principal) -> Vec<Listing> {
        let id = SessionId::new("none").unwrap();
        let session = self.session(Arc::new(who.clone()), &id);
        let facts = session.facts(Arc::default());
        session.proxy.view(&facts).listing()
    }

    fn skills(&self, _: &Principal) -> Vec<Value> {
        vec![json!({ "name": "calendar", "description": "dates" })]
    }

    fn mcp_servers(&self, _: &Principal) -> Vec<Value> {
        Vec::new()
    }

    fn diagnostics(&self, _: &Principal) -> Vec<Value> {
        vec![json!({ "code": "skipped", "message": "something" })]
    }

    async fn sandboxed(&self) -> bool {
        false
    }

    async fn jobs(&self, _: &Scope, _: &SessionId) -> Vec<Value> {
        Vec::new()
    }
}

/// What outlives a server.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) artifacts: Arc<MemoryArtifacts>,
    pub(crate) config: ServerConfig,
    pub(crate) holds: Option<Arc<dyn SessionHolds>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            log: Arc::new(MemoryLog::default()),
            artifacts: Arc::new(MemoryArtifacts::new(Arc::new(SystemClock))),
            config: ServerConfig::default(),
            holds: None,
        }
    }

    /// The same, over a file in `folder`.
    pub(crate) fn in_file(folder: &std::path::Path) -> Self {
        Self {
            log: Arc::new(SqliteLog::new(folder.join("o.db"))),
            ..Self::new()
        }
    }

    pub(crate) fn server(&self, log: Arc<dyn Log>) -> Server {
        let registry = ToolRegistry::default();
        let mut all = tools();
        all.push(read_artifact(12_000));
        let id = SourceId::new("builtin").unwrap();
        let source = NativeSource::new(id, Trust::Builtin, all);
        registry.add(Arc::new(source)).unwrap();
        let sealed = Arc::new(Sealed { registry });
        let agent = Agent::new(AgentParts {
            model: Arc::new(Parrot(ModelInfo {
                provider: "test".to_owned(),
                name: "parrot".to_owned(),
                vision: false,
                context_tokens: None,
            })),
            pipeline: Arc::new(Pipeline::new(PipelineOptions::default())),
            log: log.clone(),
            artifacts: self.artifacts.clone(),
            clock: Arc::new(SystemClock),
            services: Services::default(),
            settings: AgentSettings {
                system_prompt: "be brief".into(),
                limits: Limits {
                    max_turns: 40,
                    max_total_tokens: None,
                    identical_failures: 3,
                },
                max_tool_concurrency: 10,
                workflows: Arc::new(crate::probes::workflows()),
                suggested_actions: false,
                progress: ProgressSettings::default(),
            },
        });
        Server::new(ServerParts {
            host: Host::new(Arc::new(agent), sealed.clone()),
            log,
            artifacts: self.artifacts.clone(),
            principals: Arc::new(Tokens(LocalPrincipals {
                tenant: "local".into(),
                subject: "local".into(),
                role: Role::Guest,
            })),
            directory: sealed,
            belongings: Arc::new(NoBelongings),
            holds: self.holds.clone(),
            mcp: Some(Box::new(|calls| {
                let options = GatewayOptions::loopback(calls, Arc::new(SystemClock));
                let gateway = McpService::new(options);
                let ending = gateway.clone();
                Mounted {
                    router: Router::new().fallback(async move |request: Request| {
                        gateway.handle(request).await.map(Body::new)
                    }),
                    stop: Box::new(move || ending.stop()),
                }
            })),
            config: self.config.clone(),
        })
    }

    pub(crate) async fn serve(&self) -> Served {
        let log = Gated::new(self.log.clone());
        let server = self.server(log.clone());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let shutdown = async {
                let _ = stopped.await;
            };
            server.serve(listener, shutdown).await.unwrap();
        });
        Served {
            at,
            stop: Some(stop),
            task,
            log,
        }
    }
}

/// A server under test. Dropping it is as when its process dies.
pub(crate) struct Served {
    pub(crate) at: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinSet<()>,
    log: Arc<Gated>,
}

impl Served {
    /// Ends it as its operator would.
    pub(crate) async fn stop(mut self) {
        self.tell_to_stop();
        self.ended().await;
    }

    /// Tells it to end.
    pub(crate) fn tell_to_stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    /// Waits for its end, once it was told.
    pub(crate) async fn ended(mut self) {
        let ended = crate::client::patient(self.task.join_next()).await;
        ended.unwrap().unwrap();
    }

    /// Ends it as kill -9 would: nothing more is recorded.
    pub(crate) fn kill(self) {
        self.log.close(Point::Append);
    }
}

/// Asks again and again until it is so.
pub(crate) async fn soon<F: Future<Output = Option<T>>, T>(mut look: impl FnMut() -> F) -> T {
    let ask = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    crate::client::patient(ask).await
}

/// A session has nothing beside its log and its artifacts.
struct NoBelongings;

#[async_trait]
impl Belongings for NoBelongings {
    async fn mark(&self, _: &Scope, _: &SessionId) -> Result<(), String> {
        Ok(())
    }

    async fn marked(&self, _: &Scope, _: &SessionId) -> Option<Mark> {
        None
    }

    async fn end_jobs(&self, _: &Scope, _: &SessionId) -> Vec<String> {
        Vec::new()
    }

    async fn empty(&self, _: &Scope, _: &SessionId) -> LeftBehind {
        LeftBehind::default()
    }

    async fn unmark(&self, _: &Scope, _: &SessionId) -> Vec<String> {
        Vec::new()
    }
}
