//! `serve`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use outfitter_agent::Host;
use outfitter_core::{CallHost, Cancel, Code, PageRequest};
use outfitter_mcp::{GatewayOptions, McpService};
use outfitter_server::{Mounted, Server, ServerConfig, ServerParts};
use tokio::sync::watch;

use super::Invocation;
use super::args::ServeArgs;
use super::documents::{self, Serving};
use super::failure::{Failure, Stop};
use super::reload::{Reload, hangup};
use super::stopping::{Signals, runtime, until_stopped_by};
use crate::config::{Config, ServeAddress};
use crate::outfit::{Needed, Outfitter, Served, ServedPrincipals};

/// Runs `serve`, until it is told to stop.
pub(crate) fn run(at: &Invocation<'_>, args: &ServeArgs) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(args.flags()).inspect_err(|stop| list(at, stop))?;
    let address = address(&whole.config().server.bind)?;
    let whole = Arc::new(whole);
    runtime()?.block_on(async {
        // Before anybody is told that it serves: by default the signal ends a process.
        let (hangup, signals) = (hangup()?, Signals::but_hangup()?);
        store_answers(&whole).await?;
        // Whatever of it is slow, callers are answered meanwhile.
        whole.begin()?;
        whole.sweep_passing().await;
        whole.finish_deletions().await;
        let served = Arc::new(Served::new(whole.clone()));
        let host = Host::new(Arc::new(whole.served_agent()), served.clone());
        let (tell, told) = watch::channel(());
        let gateway = gateway(&whole, told);
        let server = Server::new(ServerParts {
            log: whole.log().clone(),
            artifacts: host.agent().parts().artifacts.clone(),
            host,
            principals: Arc::new(ServedPrincipals::new(whole.clone())),
            directory: served.clone(),
            belongings: served.clone(),
            holds: Some(served),
            mcp: Some(Box::new(move |calls| {
                mounted(McpService::new(gateway(calls)))
            })),
            config: config(&whole),
        });
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(|error| {
                Failure::because(Code::Unavailable, format!("listen on {address}"), &error)
                    .with_hint("`--bind 127.0.0.1:0` takes any free port")
            })?;
        let bound = listener
            .local_addr()
            .map_err(|error| Failure::of(Code::Internal, &error))?;
        whole.own_addresses().add(bound);
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let serving = server.serve(listener, async move { stop.cancelled().await });
        let reload = Reload {
            at,
            flags: args.flags(),
            whole: &whole,
            check: may_listen,
        };
        let serving = async {
            let ended = reload.with_each(hangup, serving).await;
            ended.map_err(|error| Stop::from(Failure::of(Code::Unavailable, &error)))
        };
        let wrong = async {
            tokio::select! {
                stop = wrong(at, &whole, bound) => stop,
                never = tell_changes(&whole, tell) => match never {},
            }
        };
        let serving = unless(wrong, serving);
        let ended = Box::pin(until_stopped_by(signals, &cancel, serving)).await;
        whole.disconnect().await;
        ended??;
        Ok(ExitCode::SUCCESS)
    })
}

/// A store that cannot be used is told who starts the server, not each of its callers.
async fn store_answers(whole: &Outfitter) -> Result<(), Failure> {
    let one = PageRequest {
        after: None,
        limit: 1,
    };
    whole.log().list(&whole.local_scope(), one).await?;
    Ok(())
}

/// Who reads the log of a server wants all that is wrong, not the first of it.
fn list(at: &Invocation<'_>, stop: &Stop) {
    if let Stop::Failed(failure) = stop
        && failure.problems.len() > 1
        && !at.global.json
    {
        for problem in &failure.problems {
            at.out.tell_line(&problem.to_string());
        }
    }
}

/// Says that it serves, and ends once what is configured has turned out never to work. Programs
/// that answer soon are waited for before it is said: two that have one command end the start.
async fn wrong(at: &Invocation<'_>, whole: &Outfitter, bound: SocketAddr) -> Stop {
    let told = async {
        whole.settle(Needed::Programs).await?;
        let warnings = super::idle::warned(at, whole);
        say(at, whole, bound, warnings)?;
        for one in whole.pending() {
            tracing::info!("{one}");
        }
        Ok(whole.settle_wholly().await?)
    };
    match told.await {
        Ok(()) => std::future::pending().await,
        Err(stop) => stop,
    }
}

/// Tells of each change of the tools.
async fn tell_changes(whole: &Outfitter, tell: watch::Sender<()>) -> Infallible {
    let mut seen = whole.registry().seen();
    loop {
        whole.registry().changed_since(&mut seen).await;
        tell.send_replace(());
    }
}

/// Does the work, unless something ends it before.
async fn unless(
    wrong: impl Future<Output = Stop>,
    work: impl Future<Output = Result<(), Stop>>,
) -> Result<(), Stop> {
    tokio::select! {
        ended = work => ended,
        stop = wrong => Err(stop),
    }
}

fn say(
    at: &Invocation<'_>,
    whole: &Outfitter,
    bound: SocketAddr,
    warnings: Vec<String>,
) -> Result<(), Stop> {
    if at.global.json {
        let serving = Serving {
            v: 1,
            url: format!("http://{bound}"),
            started_ms: whole.clock().now().0,
            warnings,
        };
        return documents::write_line(at, &serving);
    }
    at.out.tell(&format!(
        "serving on http://{bound} (role {}); Ctrl-C ends it\n",
        whole.config().permissions.http_role
    ));
    Ok(())
}

/// Whether a server may listen where this configuration says.
fn may_listen(config: &Config) -> Result<(), Stop> {
    address(&config.server.bind).map(drop)
}

fn address(bind: &str) -> Result<SocketAddr, Stop> {
    match ServeAddress::parse(bind) {
        Ok(ServeAddress(address)) => Ok(address),
        Err(why) => Err(
            Failure::new(Code::Usage, format!("listen on {bind}: {why}"))
                .with_hint(why.hint())
                .into(),
        ),
    }
}

/// What admits a page to `/mcp` is what admits it everywhere.
fn gateway(
    whole: &Outfitter,
    changes: watch::Receiver<()>,
) -> impl FnOnce(Arc<dyn CallHost>) -> GatewayOptions + use<> {
    let clock = whole.clock().clone();
    let allowed_origins = whole.config().server.allowed_origins.clone();
    move |calls| GatewayOptions {
        allowed_origins,
        changes: Some(changes),
        ..GatewayOptions::loopback(calls, clock)
    }
}

fn config(whole: &Outfitter) -> ServerConfig {
    let server = &whole.config().server;
    ServerConfig {
        allowed_origins: server.allowed_origins.clone(),
        cancel_on_disconnect: server.cancel_on_disconnect,
        heartbeat: Duration::from_secs(server.heartbeat_seconds.into()),
        connections: connections(),
        ..ServerConfig::default()
    }
}

/// Connections at once: as many as a server has by itself, and no more than leave half of the files
/// that may be open to the work that they ask for.
fn connections() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let half = files.map_or(usize::MAX, |files| {
        usize::try_from(files / 2).unwrap_or(usize::MAX)
    });
    half.clamp(1, ServerConfig::default().connections)
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
