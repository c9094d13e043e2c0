//! A server of ours on a free port of loopback: the real whole, as `outfitter serve` puts it
//! together, with one tool added.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use outfitter::config::Config;
use outfitter::env::Environment;
use outfitter::{Builder, Cancel, Outfitter, Role, Served, SupervisorProgram};
use outfitter_agent::Host;
use outfitter_mcp::{GatewayOptions, McpService};
use outfitter_server::{LocalPrincipals, MountMcp, Mounted, Server, ServerConfig, ServerParts};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::bare::Answers;
use super::world::echo_tool;
use super::{Fallible, bare};

/// What answers at `/mcp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// The gateway to our tools.
    Gateway,
    /// The library's own server: what is left is the cost of our HTTP layer.
    Bare,
}

/// A server that ends when this is dropped.
pub(crate) struct Serving {
    pub(crate) port: u16,
    runtime: Runtime,
    _tasks: JoinSet<()>,
}

impl Serving {
    /// Serves the whole: its data in this directory, its log where `store` says.
    pub(crate) fn whole(data: &Path, store: &str, behind: Behind) -> Fallible<Self> {
        let whole = whole(data, store)?;
        let server = server(&whole, behind);
        Self::of(async move |listener| {
            let never = Cancel::new();
            // The server ends with its runtime.
            let _ = server
                .serve(listener, async move { never.cancelled().await })
                .await;
        })
    }

    /// Serves the library's own server and nothing of ours.
    pub(crate) fn bare(answers: Answers) -> Fallible<Self> {
        Self::of(async move |listener| {
            let _ = bare::serve(listener, answers).await;
        })
    }

    fn of<F>(serve: impl FnOnce(TcpListener) -> F) -> Fallible<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let port = listener.local_addr()?.port();
        let mut tasks = JoinSet::new();
        tasks.spawn_on(serve(listener), runtime.handle());
        Ok(Self {
            port,
            runtime,
            _tasks: tasks,
        })
    }
}

fn whole(data: &Path, store: &str) -> Fallible<Arc<Outfitter>> {
    let mut config = Config::default();
    config.store.url = Some(store.to_owned());
    config.store.data_dir = Some(data.to_owned());
    let environment = Environment::of(data, [("HOME", "/nowhere"), ("PATH", "/usr/bin:/bin")]);
    let whole = Builder::new(config, environment)
        .tool(echo_tool())
        .supervisor(SupervisorProgram::this_binary())
        .build()?;
    Ok(Arc::new(whole))
}

fn server(whole: &Arc<Outfitter>, behind: Behind) -> Server {
    let served = Arc::new(Served::new(whole.clone()));
    let host = Host::new(Arc::new(whole.served_agent()), served.clone());
    let clock = whole.clock().clone();
    let scope = whole.local_scope();
    let mcp: MountMcp = match behind {
        Behind::Gateway => {
            Box::new(move |calls| mounted(McpService::new(GatewayOptions::loopback(calls, clock))))
        }
        Behind::Bare => Box::new(|_| Mounted {
            router: bare::router(Answers::AtOnce),
            stop: Box::new(|| ()),
        }),
    };
    Server::new(ServerParts {
        log: whole.log().clone(),
        artifacts: host.agent().parts().artifacts.clone(),
        host,
        principals: Arc::new(LocalPrincipals {
            tenant: scope.tenant,
            subject: scope.subject,
            role: Role::User,
        }),
        directory: served.clone(),
        belongings: served.clone(),
        holds: Some(served),
        mcp: Some(mcp),
        config: ServerConfig::default(),
    })
}

fn mounted(gateway: McpService) -> Mounted {
    let stopped = gateway.clone();
    let router = Router::new().fallback(move |request: axum::extract::Request| {
        let gateway = gateway.clone();
        async move { gateway.handle(request).await.map(axum::body::Body::new) }
    });
    Mounted {
        router,
        stop: Box::new(move || stopped.stop()),
    }
}
