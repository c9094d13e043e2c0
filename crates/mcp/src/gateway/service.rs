//! What the HTTP layer mounts.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use outfitter_core::{CallHost, Clock, Principal, Subject, Tenant};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::problem::{readable, refuse};

/// The header that names a session of the protocol's legacy era.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";

/// How many sessions are remembered before those that have ended are forgotten.
const PRUNE_AT: usize = 1024;

/// What the gateway is made of.
pub struct GatewayOptions {
    /// Who lists and calls.
    pub host: Arc<dyn CallHost>,
    /// What time it is, for the ids of calls.
    pub clock: Arc<dyn Clock>,
    /// Which `Host` is answered, without a port or with one. A request for another is refused, so
    /// that a page of another site cannot reach a local server by a name of its own.
    pub allowed_hosts: Vec<String>,
    /// Which `Origin` is answered, each with its scheme and port (`:*` for any). A request without
    /// one comes from no browser and passes; with another one it is refused.
    pub allowed_origins: Vec<String>,
}

impl GatewayOptions {
    /// For loopback: its names and addresses, and no browser.
    #[must_use]
    pub fn loopback(host: Arc<dyn CallHost>, clock: Arc<dyn Clock>) -> Self {
        Self {
            host,
            clock,
            allowed_hosts: ["localhost", "127.0.0.1", "::1"]
                .map(str::to_owned)
                .to_vec(),
            allowed_origins: Vec::new(),
        }
    }
}

/// `ANY /mcp`: streamable HTTP in both eras. Cloning shares it.
///
/// Each request carries an `Arc<Principal>` in its extensions, put there by whoever verified it;
/// without one it is refused. A session of the legacy era belongs to who began it: for anybody else
/// it does not exist.
#[derive(Clone)]
pub struct McpService {
    inner: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    owners: Arc<Mutex<HashMap<String, (Tenant, Subject)>>>,
    stop: CancellationToken,
}

impl McpService {
    /// A gateway to these tools.
    #[must_use]
    pub fn new(options: GatewayOptions) -> Self {
        let GatewayOptions {
            host,
            clock,
            allowed_hosts,
            allowed_origins,
        } = options;
        let stop = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(allowed_hosts)
            .with_allowed_origins(allowed_origins)
            .enforce_origin_validation()
            .with_cancellation_token(stop.clone());
        let sessions = Arc::<LocalSessionManager>::default();
        let handler = Handler::new(host, clock);
        Self {
            inner: StreamableHttpService::new(
                move || Ok(handler.clone()),
                sessions.clone(),
                config,
            ),
            sessions,
            owners: Arc::default(),
            stop,
        }
    }

    /// Answers one request. What is refused before it is a message of the protocol is refused as
    /// everywhere in the HTTP API, with `application/problem+json`.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: http_body_util::BodyExt + Send + 'static,
        B::Error: Display,
    {
        let Some(who) = request.extensions().get::<Arc<Principal>>() else {
            return refuse(StatusCode::UNAUTHORIZED, "who calls is not known");
        };
        let owner = (who.tenant.clone(), who.subject.clone());
        let session = request.headers().get(SESSION_HEADER);
        if let Some(session) = session.and_then(|session| session.to_str().ok())
            && self.owner(session).is_some_and(|known| known != owner)
        {
            // What is said of a session that never was.
            return refuse(StatusCode::NOT_FOUND, "Session not found");
        }
        let began = session.is_none();
        let response = readable(self.inner.handle(request).await).await;
        if began && let Some(session) = response.headers().get(SESSION_HEADER) {
            self.remember(session.to_str().unwrap_or_default(), owner)
                .await;
        }
        response
    }

    /// Ends every stream and every session, for the end of the server.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    fn owner(&self, session: &str) -> Option<(Tenant, Subject)> {
        self.lock().get(session).cloned()
    }

    async fn remember(&self, session: &str, owner: (Tenant, Subject)) {
        let full = self.lock().len() >= PRUNE_AT;
        if full {
            let alive = self.sessions.sessions.read().await;
            self.lock()
                .retain(|session, _| alive.contains_key(session.as_str()));
        }
        self.lock().insert(session.to_owned(), owner);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Tenant, Subject)>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
