//! The same server in this process, over the whole as it is, with a model and callers of our own.

use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use outfitter::config::Config;
use outfitter::env::Environment;
use outfitter::{
    Builder, Cancel, Code, ErrorInfo, MessageRole, ModelDelta, ModelError, ModelInfo,
    ModelProvider, ModelRequest, ModelStream, Outfitter, Principal, Role, Scope, Served,
    StopReason, SupervisorProgram, ToolCallDelta,
};
use outfitter_agent::Host;
use outfitter_mcp::{GatewayOptions, McpService};
use outfitter_server::{Caller, Mounted, Principals, Server, ServerConfig, ServerParts};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::http::At;
use crate::world::World;

/// A server in this process. Dropping it ends it.
pub(crate) struct Within<'w> {
    /// The world it works in stays as long as it does.
    world: PhantomData<&'w World>,
    runtime: Option<Runtime>,
    address: String,
}

impl<'w> Within<'w> {
    /// Serves what `build` makes of the defaults.
    pub(crate) fn start(world: &'w World, build: impl FnOnce(Builder) -> Builder) -> Self {
        Self::start_with(world, |_| {}, build)
    }

    /// The same with a configuration of one's own.
    pub(crate) fn start_with(
        world: &'w World,
        configure: impl FnOnce(&mut Config),
        build: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let runtime = Runtime::new().unwrap();
        let whole = Arc::new(whole(world, configure, build));
        let address = runtime.block_on(async {
            whole.settle_wholly().await.unwrap();
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let listener = listener.await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let server = server(&whole);
            // The runtime owns it, and ends before the world does.
            let serving = server.serve(listener, std::future::pending());
            drop(tokio::runtime::Handle::current().spawn(async move {
                serving.await.unwrap();
            }));
            address
        });
        Self {
            world: PhantomData,
            runtime: Some(runtime),
            address,
        }
    }

    /// Speaks to it with this token.
    pub(crate) fn by(&self, token: &'static str) -> At {
        At {
            address: self.address.clone(),
            token: Some(token),
        }
    }
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The whole, as it is built by a program that embeds it.
pub(crate) fn whole(
    world: &World,
    configure: impl FnOnce(&mut Config),
    build: impl FnOnce(Builder) -> Builder,
) -> Outfitter {
    let mut config = Config::default();
    config.store.data_dir = Some(world.data(""));
    config.tools.max_result_tokens = 100;
    config.skills.dirs = Vec::new();
    configure(&mut config);
    let home = world.root().join("home").display().to_string();
    let variables = [
        ("HOME", home.as_str()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ];
    let environment = Environment::of(world.work(""), variables);
    let builder = Builder::new(config, environment)
        .supervisor(SupervisorProgram::at(Path::new(env!(
            "CARGO_BIN_EXE_outfitter"
        ))))
        .model(Arc::new(Obeys::new()));
    build(builder).build().unwrap()
}

fn server(whole: &Arc<Outfitter>) -> Server {
    let served = Arc::new(Served::new(whole.clone()));
    let host = Host::new(Arc::new(whole.served_agent()), served.clone());
    let clock = whole.clock().clone();
    Server::new(ServerParts {
        log: whole.log().clone(),
        artifacts: host.agent().parts().artifacts.clone(),
        host,
        principals: Arc::new(Tokens),
        directory: served.clone(),
        belongings: served.clone(),
        holds: Some(served),
        mcp: Some(Box::new(move |calls| {
            let gateway = McpService::new(GatewayOptions::loopback(calls, clock));
            let stopped = gateway.clone();
            let router = axum::Router::new().fallback(move |request: axum::extract::Request| {
                let gateway = gateway.clone();
                async move { gateway.handle(request).await.map(axum::body::Body::new) }
            });
            Mounted {
                router,
                stop: Box::new(move || stopped.stop()),
            }
        })),
        config: ServerConfig::default(),
    })
}

/// A token is `tenant/subject/role`.
struct Tokens;

#[async_trait]
impl Principals for Tokens {
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>> {
        let nobody = || Box::new(ErrorInfo::new(Code::Unauthenticated, "nobody"));
        let mut parts = caller.bearer.ok_or_else(nobody)?.split('/');
        let mut part = || parts.next().ok_or_else(nobody);
        let (tenant, subject, role) = (part()?, part()?, part()?);
        let role = Role::ALL.into_iter().find(|known| known.as_str() == role);
        Ok(Principal {
            tenant: tenant.into(),
            subject: subject.into(),
            role: role.ok_or_else(nobody)?,
            channel: caller.channel.clone(),
            stream: None,
        })
    }

    fn on_behalf(&self, _: &Scope) -> Option<Principal> {
        None
    }

    fn known_scopes(&self) -> Vec<Scope> {
        Vec::new()
    }
}

/// Makes the calls that the person writes down: a JSON list of `{ id, name, arguments }`. To
/// anything else it says `done`.
struct Obeys(ModelInfo);

impl Obeys {
    fn new() -> Self {
        Self(ModelInfo {
            provider: "test".to_owned(),
            name: "obeys".to_owned(),
            vision: false,
            context_tokens: None,
        })
    }
}

#[async_trait]
impl ModelProvider for Obeys {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        // What stands after the words of the person may be a reminder.
        let new = request.messages.iter().rev().take_while(|message| {
            !matches!(message.role, MessageRole::Assistant | MessageRole::Tool)
        });
        let asked = new
            .filter_map(|message| serde_json::from_str(&message.content()).ok())
            .next();
        let calls: Vec<Value> = asked.unwrap_or_default();
        let stop = if calls.is_empty() {
            StopReason::End
        } else {
            StopReason::ToolCalls
        };
        let mut deltas: Vec<_> = (0..)
            .zip(&calls)
            .map(|(index, call)| {
                Ok(ModelDelta::ToolCall(ToolCallDelta {
                    index: Some(index),
                    id: call["id"].as_str().map(ToOwned::to_owned),
                    name: call["name"].as_str().map(ToOwned::to_owned),
                    arguments: call["arguments"].to_string(),
                }))
            })
            .collect();
        if calls.is_empty() {
            deltas.push(Ok(ModelDelta::Text("done".to_owned())));
        }
        deltas.push(Ok(ModelDelta::Stopped(stop)));
        Ok(futures_util::stream::iter(deltas).boxed())
    }
}
