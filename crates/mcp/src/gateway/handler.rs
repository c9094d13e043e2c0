//! Listing and calling, as the library asks for them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::FusedFuture as _;
use outfitter_core::{
    Arguments, CallHost, CallId, Clock, EventSink, Hash, InvalidId, Principal, RawCall, SessionId,
    Subject, Tenant,
};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressToken, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::guard::answered;
use super::notices::Notices;
use super::progress::{Forward, Watch};
use super::queues::Queues;
use super::results;
use super::service::SESSION_HEADER;

/// How long progress that came before the end may still be on its way when the end is there.
const LAST_PROGRESS: Duration = Duration::from_millis(250);

/// How long a host may take to end a run that nobody waits for. What has not ended by then is
/// dropped.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Digits of the hash in the id of a session that nobody named.
const SESSION_DIGITS: usize = 24;

/// Serves one caller at a time; who that is stands beside each request.
#[derive(Clone)]
pub(crate) struct Handler {
    host: Arc<dyn CallHost>,
    clock: Arc<dyn Clock>,
    config: Arc<ServerConfig>,
    queues: Arc<Queues>,
    shared: Arc<SharedSession>,
    notices: Option<Arc<Notices>>,
}

/// A call as it was asked for.
struct Asked {
    name: String,
    arguments: Arguments,
    token: Option<ProgressToken>,
}

/// Why a call ends that was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// Its client does not want it any more. Nothing is answered to that.
    Unwanted,
    /// The gateway ends.
    Stopping,
}

/// Who asks, and in which of their sessions.
struct Caller {
    who: Arc<Principal>,
    session: SessionId,
}

impl Handler {
    pub(crate) fn new(
        host: Arc<dyn CallHost>,
        clock: Arc<dyn Clock>,
        changes: Option<watch::Receiver<()>>,
    ) -> Self {
        let can = ServerCapabilities::builder().enable_tools();
        let can = match &changes {
            Some(_) => can.enable_tool_list_changed().build(),
            None => can.build(),
        };
        let config = ServerConfig::new(can)
            .with_server_info(Implementation::new("outfitter", env!("CARGO_PKG_VERSION")));
        Self {
            host,
            clock,
            config: Arc::new(config),
            queues: Arc::default(),
            shared: Arc::default(),
            notices: changes.map(|changes| Arc::new(Notices::new(changes))),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        (*self.config).clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        answered(self.listed(&context)).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        answered(self.called(request, &context)).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(notices) = &self.notices {
            notices.add(context.peer);
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // What we cannot tell of is taken out of it by what we say that we can.
        self.notices.as_ref().map(|_| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        match &self.notices {
            Some(notices) => notices.listen(&context).await,
            None => context.cancelled().await,
        }
        Ok(())
    }

    /// What the library knows no type for. That is also a method it knows, with parameters that do
    /// not fit it.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            let code = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(code, request.method, None));
        }
        let why = match request.params_as::<CallToolRequestParams>() {
            Err(error) => error.to_string(),
            Ok(_) => "there are none".to_owned(),
        };
        let misfit = format!("the parameters of tools/call do not fit: {why}");
        Err(ErrorData::invalid_params(misfit, None))
    }
}

impl Handler {
    async fn listed(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = Caller::of(context, &self.shared)?;
        let listed = self
            .host
            .callable(&caller.who, &caller.session)
            .await
            .map_err(|error| failed(&format!("failed to {error}")))?;
        // Clients choose by themselves what they show to a model, so all are told. What a result
        // looks like is not said: one that is too long to be read whole is cut, and clients refuse
        // what does not fit a schema they were given.
        let tools = listed.into_iter().map(|tool| {
            let schema = match &*tool.input_schema {
                Value::Object(schema) => schema.clone(),
                _ => Map::from_iter([("type".to_owned(), json!("object"))]),
            };
            Tool::new(
                tool.name.as_str().to_owned(),
                tool.description.to_string(),
                schema,
            )
        });
        // Another caller's list is another one.
        Ok(ListToolsResult::with_all_items(tools.collect())
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn called(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Caller::of(context, &self.shared)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let call = Asked {
            name: request.name.into_owned(),
            arguments: Arguments::from_value(arguments),
            token: context.meta.get_progress_token(),
        };
        let gone = async {
            context.ct.cancelled().await;
            Gone::Unwanted
        };
        match self.take(caller, call, Some(&context.peer), gone).await {
            Ok(made) => Ok(made.into()),
            // The library sends no answer to what its client does not want any more.
            Err(Gone::Unwanted | Gone::Stopping) => Err(failed("the call was stopped")),
        }
    }

    /// Makes a call whose client wants nothing but its answer, in a session that is named or not,
    /// unless `gone` comes first. None is the answer to what its client does not want any more.
    pub(super) async fn plain(
        &self,
        (who, named): (Arc<Principal>, Option<&str>),
        name: String,
        arguments: Arguments,
        gone: impl Future<Output = Gone>,
    ) -> Result<Option<CallToolResult>, ErrorData> {
        let caller = Caller::new(who, named, &self.shared)?;
        let call = Asked {
            name,
            arguments,
            token: None,
        };
        let made = async {
            match self.take(caller, call, None, gone).await {
                Ok(made) => Ok(Some(made)),
                Err(Gone::Unwanted) => Ok(None),
                Err(Gone::Stopping) => Ok(Some(results::stopping())),
            }
        };
        answered(made).await
    }

    /// Makes a call when it is its turn.
    async fn take(
        &self,
        caller: Caller,
        asked: Asked,
        peer: Option<&Peer<RoleServer>>,
        gone: impl Future<Output = Gone>,
    ) -> Result<CallToolResult, Gone> {
        let id = CallId::mint(&*self.clock);
        let call = RawCall {
            id: id.clone(),
            name: asked.name,
            arguments: asked.arguments,
        };
        tokio::pin!(gone);
        let _turn = tokio::select! {
            biased;
            turn = self.queues.turn(&caller.session) => match turn {
                Ok(turn) => turn,
                Err(why) => return Ok(results::no_turn(why)),
            },
            why = &mut gone => return Err(why),
        };
        let (watch, forward) = Watch::new(id, asked.token);
        let work = self.make(caller, call, watch.clone(), forward, peer);
        tokio::pin!(work);
        let why = tokio::select! {
            biased;
            end = &mut work => return Ok(end),
            why = gone => why,
        };
        watch.cancel.cancel();
        // Nobody reads the answer; the host ends its run.
        let _ = tokio::time::timeout(STOP_TIMEOUT, work).await;
        Err(why)
    }

    async fn make(
        &self,
        caller: Caller,
        call: RawCall,
        watch: Arc<Watch>,
        forward: Forward,
        peer: Option<&Peer<RoleServer>>,
    ) -> CallToolResult {
        let events = watch.clone() as Arc<dyn EventSink>;
        let work = self.host.call(caller.who, &caller.session, call, events);
        // Whoever asked for no progress has been shown all of it long before the end, and a future
        // that has ended must not be polled again.
        let shown = forward.run(peer).fuse();
        tokio::pin!(shown);
        // A client that reads slowly holds its progress up and not the call.
        let end = tokio::select! {
            biased;
            end = work => end,
            () = async {
                shown.as_mut().await;
                std::future::pending::<()>().await;
            } => unreachable!(),
        };
        watch.close();
        if !shown.is_terminated() {
            let _ = tokio::time::timeout(LAST_PROGRESS, shown).await;
        }
        results::result(end, watch.message().as_deref())
    }
}

impl Caller {
    /// A session of the legacy era is a session of ours. In the modern era there is none: there all
    /// calls of one person share one, so that what one call hands out (a job, an artifact) is there
    /// for the next.
    fn new(
        who: Arc<Principal>,
        named: Option<&str>,
        shared: &SharedSession,
    ) -> Result<Self, ErrorData> {
        let session = match named {
            Some(name) => SessionId::new(format!("mcp-{name}")),
            None => shared.of(&who),
        };
        match session {
            Ok(session) => Ok(Self { who, session }),
            Err(error) => Err(ErrorData::invalid_request(error.to_string(), None)),
        }
    }

    fn of(context: &RequestContext<RoleServer>, shared: &SharedSession) -> Result<Self, ErrorData> {
        let parts = context.extensions.get::<http::request::Parts>();
        let parts = parts.ok_or_else(|| failed("the request did not come by HTTP"))?;
        let who = parts.extensions.get::<Arc<Principal>>().cloned();
        let who = who.ok_or_else(|| failed("who calls is not known"))?;
        let named = parts
            .headers
            .get(SESSION_HEADER)
            .and_then(|name| name.to_str().ok());
        Self::new(who, named, shared)
    }
}

/// The session of a person's calls that name none.
fn shared_session(who: &Principal) -> Result<SessionId, InvalidId> {
    let owner = format!("{}\0{}", who.tenant.as_str(), who.subject.as_str());
    let hash = Hash::of(owner).to_string();
    let digits: String = hash
        .trim_start_matches("sha256:")
        .chars()
        .take(SESSION_DIGITS)
        .collect();
    SessionId::new(format!("mcp-{digits}"))
}

/// The shared session of who called last: it is most often the same person again.
#[derive(Default)]
struct SharedSession(Mutex<Option<(Tenant, Subject, SessionId)>>);

impl SharedSession {
    fn of(&self, who: &Principal) -> Result<SessionId, InvalidId> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tenant, subject, session)) = &*last
            && *tenant == who.tenant
            && *subject == who.subject
        {
            return Ok(session.clone());
        }
        let session = shared_session(who)?;
        *last = Some((who.tenant.clone(), who.subject.clone(), session.clone()));
        Ok(session)
    }
}

pub(super) fn failed(why: &str) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, why.to_owned(), None)
}
