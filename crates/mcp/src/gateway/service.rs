//! What the HTTP layer mounts.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use outfitter_core::{CallHost, Clock, Principal};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::answering::Answering;
use super::handler::{Gone, Handler};
use super::late::{self, Answer, Long, WithoutClient};
use super::plain::{
    Era, Plain, PlainCall, is_by_itself, method, misfit, read, reply, whole, worth_a_look,
};
use super::priming::Priming;
use super::problem::{readable, refuse};
use super::queues::NoTurn;
use super::results;
use super::sessions::{Sessions, Standing};
use super::shape::{ListForObject, list_for_object};

/// The header that names a session of the protocol's legacy era.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";

/// What the library says of a session that is not there, and we of one that is another's, too.
const NO_SESSION: &str = "Session not found";

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
    /// Told of each change of what anybody may call, so that clients are; without it they are not.
    pub changes: Option<watch::Receiver<()>>,
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
            changes: None,
        }
    }
}

/// `ANY /mcp`: streamable HTTP in both eras. Cloning shares it.
///
/// Each request carries an `Arc<Principal>` in its extensions, put there by whoever verified it;
/// without one it is refused. A session of the legacy era belongs to who began it: for anybody else
/// it does not exist.
#[derive(Clone)]
pub struct McpService(Arc<Gateway>);

/// How long answers may take to be out when the gateway is to end.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// When the library gives the head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// At once, also where that names a new session.
    AtOnce,
    /// When there is something to say, which may be long after.
    WithFirstWord,
}

/// What all clones share. A router clones what it mounts for every request.
struct Gateway {
    inner: StreamableHttpService<Handler, LocalSessionManager>,
    handler: Handler,
    library: Arc<LocalSessionManager>,
    sessions: Sessions,
    hosts: Vec<String>,
    long: Arc<Long>,
    answering: Arc<Answering>,
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
            changes,
        } = options;
        let stop = CancellationToken::new();
        let hosts = allowed_hosts.clone();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(allowed_hosts)
            .with_allowed_origins(allowed_origins)
            .enforce_origin_validation()
            .with_cancellation_token(stop.clone());
        let library = Arc::<LocalSessionManager>::default();
        let handler = Handler::new(host, clock, changes);
        let served = handler.clone();
        Self(Arc::new(Gateway {
            inner: StreamableHttpService::new(move || Ok(served.clone()), library.clone(), config),
            handler,
            library,
            sessions: Sessions::default(),
            hosts,
            long: Arc::default(),
            answering: Arc::default(),
            stop,
        }))
    }

    /// Answers one request. What is refused before it is a message of the protocol is refused as
    /// everywhere in the HTTP API, with `application/problem+json`.
    pub async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: http_body_util::BodyExt + Send + 'static,
        B::Error: Display,
    {
        self.0.handle(request).await
    }

    /// Ends every stream and every session, for the end of the server, once the answers to calls
    /// that have ended are out. A call that has not ended is waited for no longer than a second.
    pub fn stop(&self) {
        let (answering, stop) = (self.0.answering.clone(), self.0.stop.clone());
        if answering.is_none() || Handle::try_current().is_err() {
            return stop.cancel();
        }
        self.0.long.spawn(async move {
            // What is still not answered then is cut off.
            let _ = tokio::time::timeout(LAST_ANSWERS, answering.until_none()).await;
            stop.cancel();
        });
    }
}

impl Gateway {
    async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: http_body_util::BodyExt + Send + 'static,
        B::Error: Display,
    {
        let Some(who) = request.extensions().get::<Arc<Principal>>().cloned() else {
            return refuse(StatusCode::UNAUTHORIZED, "who calls is not known");
        };
        let named = request.headers().get(SESSION_HEADER);
        let named = named.and_then(|session| session.to_str().ok());
        let named: Option<Arc<str>> = named.map(Into::into);
        let standing = match &named {
            Some(session) => self.sessions.of(session, &who),
            None => Standing::None,
        };
        if standing == Standing::Foreign {
            return refuse(StatusCode::NOT_FOUND, NO_SESSION);
        }
        if request.method() != Method::POST {
            let priming = Priming::of(request.headers());
            let answer = self.ask_library(request, who, named, Head::AtOnce).await;
            return priming.in_answer(answer);
        }
        let plain = worth_a_look(&request, &self.hosts);
        let request = match whole(request).await {
            Ok(request) => request,
            Err(why) => return refuse(StatusCode::BAD_REQUEST, &why),
        };
        let message = match plain {
            true => read(&request),
            false => Plain::Other,
        };
        match message {
            Plain::Call(call) if self.takes(&call, named.as_deref(), standing).await => {
                self.call(call, who, named).await
            }
            message => {
                if let (Plain::Cancelled(id), Some(session)) = (message, &named) {
                    self.sessions.cancel(session, &id);
                }
                if let Some(ListForObject { id, what }) = list_for_object(request.body()) {
                    let why = format!("{what} is a list, and has to be an object");
                    return match id {
                        Some(id) => late::whole(misfit(&id, why)),
                        None => refuse(StatusCode::BAD_REQUEST, &why),
                    };
                }
                let method = method(request.body());
                let one = (method.as_deref() == Some("tools/call")).then(|| self.answering.begin());
                // An `initialize` is answered at once, with the name of its session in the head.
                let head = match is_by_itself(&request) && method.as_deref() != Some("initialize") {
                    true => Head::WithFirstWord,
                    false => Head::AtOnce,
                };
                let priming = match method.as_deref() {
                    Some("initialize") => Priming::of_hello(request.body()),
                    Some(_) | None => Priming::of(request.headers()),
                };
                let request = request.map(Full::<Bytes>::from);
                let answer = self.ask_library(request, who, named, head).await;
                let answer = priming.in_answer(answer);
                match one {
                    Some(one) => one.with(answer),
                    None => answer,
                }
            }
        }
    }

    /// Whether a call is answered here. The library ends a session that it does not hear from, so
    /// that from time to time one goes to it, as does the first.
    async fn takes(&self, call: &PlainCall, named: Option<&str>, standing: Standing) -> bool {
        match (call.era, named) {
            (Era::Modern, _) => true,
            (Era::Legacy, Some(session)) => {
                standing == Standing::Heard
                    && self.library.sessions.read().await.contains_key(session)
            }
            (Era::Legacy, None) => false,
        }
    }

    async fn call(&self, call: PlainCall, who: Arc<Principal>, named: Option<Arc<str>>) -> Answer {
        let PlainCall {
            id,
            era,
            name,
            arguments,
        } = call;
        let Some(unwanted) = self.sessions.begin(named.as_deref(), &id) else {
            return refuse(StatusCode::BAD_REQUEST, "another request has this id");
        };
        if self.long.is_full() {
            return late::whole(reply(&id, era, Ok(results::no_turn(NoTurn::Crowded))));
        }
        let (handler, stop) = (self.handler.clone(), self.stop.clone());
        let work = async move {
            let gone = async {
                tokio::select! {
                    () = unwanted.cancelled() => Gone::Unwanted,
                    () = stop.cancelled() => Gone::Stopping,
                }
            };
            let whose = (who, named.as_deref());
            let made = handler.plain(whose, name, arguments, gone).await;
            let answered = made.transpose()?;
            Some(reply(&id, era, answered))
        };
        let without = match era {
            Era::Legacy => WithoutClient::GoesOn,
            Era::Modern => WithoutClient::Ends,
        };
        late::answer(work, &self.long, without).await
    }

    async fn ask_library<B>(
        &self,
        request: Request<B>,
        who: Arc<Principal>,
        named: Option<Arc<str>>,
        head: Head,
    ) -> Answer
    where
        B: http_body_util::BodyExt + Send + 'static,
        B::Error: Display,
    {
        let ends = request.method() == Method::DELETE;
        let was_there = match &named {
            Some(session) if ends => self.library.sessions.read().await.contains_key(&**session),
            Some(_) | None => false,
        };
        let library = self.inner.clone();
        let asked = async move { readable(library.handle(request).await).await };
        let mut response = match head {
            Head::WithFirstWord => late::headed(asked, &self.long).await,
            Head::AtOnce => asked.await,
        };
        match named {
            Some(session) if response.status().is_success() => match ends {
                true => match self.sessions.end(&session) && was_there {
                    // The library says that it was accepted, which it was, and done as well:
                    // clients take 200 and 204 for the end of a session, and some no other.
                    true => *response.status_mut() = StatusCode::NO_CONTENT,
                    // It says so of what is not there, too.
                    false => response = refuse(StatusCode::NOT_FOUND, NO_SESSION),
                },
                false => self.sessions.heard(&session),
            },
            Some(_) => {}
            None => {
                if let Some(session) = response.headers().get(SESSION_HEADER) {
                    self.remember(session.to_str().unwrap_or_default(), &who)
                        .await;
                }
            }
        }
        response
    }

    async fn remember(&self, session: &str, who: &Principal) {
        if self.sessions.is_full() {
            let alive = self.library.sessions.read().await;
            self.sessions.keep(|session| alive.contains_key(session));
        }
        self.sessions.insert(session, who);
    }
}
