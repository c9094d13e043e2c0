//! `serve`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use outfitter_agent::Host;
use outfitter_core::{CallHost, Cancel, Code, chain};
use outfitter_mcp::{GatewayOptions, McpService};
use outfitter_server::{Mounted, Server, ServerConfig, ServerParts};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Invocation;
use super::args::ServeArgs;
use super::documents::{self, Serving};
use super::failure::{Failure, Stop};
use super::session::{Signals, runtime, until_stopped_by};
use crate::config::ConfigError;
use crate::outfit::{Outfitter, Served, ServedPrincipals};

/// Runs `serve`, until it is told to stop.
pub(crate) fn run(at: &Invocation<'_>, args: &ServeArgs) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(args.flags())?;
    let address = address(&whole.config().server.bind)?;
    let whole = Arc::new(whole);
    runtime()?.block_on(async {
        // Before anybody is told that it serves: by default the signal ends a process.
        let hangup =
            signal(SignalKind::hangup()).map_err(|error| Failure::of(Code::Unavailable, &error))?;
        whole.connect().await?;
        let served = Arc::new(Served::new(whole.clone()));
        let host = Host::new(Arc::new(whole.served_agent()), served.clone());
        let gateway = gateway(&whole);
        let server = Server::new(ServerParts {
            log: whole.log().clone(),
            artifacts: host.agent().parts().artifacts.clone(),
            host,
            principals: Arc::new(ServedPrincipals::new(whole.clone())),
            directory: served.clone(),
            holds: Some(served),
            mcp: Some(Box::new(move |calls| {
                mounted(McpService::new(gateway(calls)))
            })),
            config: config(&whole),
        });
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(|error| {
                Failure::new(Code::Unavailable, format!("listen on {address}: {error}"))
                    .with_hint("`--bind 127.0.0.1:0` takes any free port")
            })?;
        let bound = listener
            .local_addr()
            .map_err(|error| Failure::of(Code::Internal, &error))?;
        say(at, &whole, bound)?;
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let serving = server.serve(listener, async move { stop.cancelled().await });
        let serving = reloading(at, args, (&whole, hangup), serving);
        let ended = until_stopped_by(Signals::to_a_server()?, &cancel, serving).await?;
        whole.disconnect().await;
        ended?.map_err(|error| Failure::of(Code::Unavailable, &error))?;
        Ok(ExitCode::SUCCESS)
    })
}

fn say(at: &Invocation<'_>, whole: &Outfitter, bound: SocketAddr) -> Result<(), Stop> {
    if at.global.json {
        let serving = Serving {
            v: 1,
            url: format!("http://{bound}"),
            started_ms: whole.clock().now().0,
        };
        return documents::write_line(at, &serving);
    }
    at.out.tell(&format!(
        "serving on http://{bound} (role {}); Ctrl-C ends it\n",
        whole.config().permissions.http_role
    ));
    Ok(())
}

pub(super) fn address(bind: &str) -> Result<SocketAddr, Stop> {
    let address: SocketAddr = bind.parse().map_err(|_| {
        Failure::new(
            Code::Usage,
            format!("listen on {bind:?}: it is not ADDRESS:PORT"),
        )
        .with_hint("as `127.0.0.1:8470` or `[::1]:8470`")
    })?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(Failure::new(
        Code::Usage,
        format!("listen on {address}: without authentication only this machine may call"),
    )
    .with_hint("use 127.0.0.1 or [::1]")
    .into())
}

/// Serves, and takes the configuration anew with each SIGHUP.
async fn reloading<T>(
    at: &Invocation<'_>,
    args: &ServeArgs,
    (whole, mut hangup): (&Outfitter, Signal),
    serving: impl Future<Output = T>,
) -> Result<T, Stop> {
    let mut serving = std::pin::pin!(serving);
    loop {
        tokio::select! {
            end = &mut serving => return Ok(end),
            heard = hangup.recv() => match heard {
                Some(()) => at.out.tell(&reloaded(at, args, whole)),
                None => return Ok(serving.await),
            },
        }
    }
}

/// Reloads, and says what came of it: what changed, or everything that is wrong.
fn reloaded(at: &Invocation<'_>, args: &ServeArgs, whole: &Outfitter) -> String {
    let refused = |problems: Vec<String>| {
        let lines: String = problems.iter().map(|one| format!("  {one}\n")).collect();
        format!("error: failed to reload the configuration; everything stays as it was\n{lines}")
    };
    let loaded = match at.load(args.flags()) {
        Ok(loaded) => loaded,
        Err(ConfigError::Problems(problems)) => {
            return refused(problems.iter().map(ToString::to_string).collect());
        }
        Err(error) => return refused(vec![chain(&error)]),
    };
    let bind = match address(&loaded.config.server.bind) {
        Ok(_) => None,
        Err(Stop::Failed(failure) | Stop::Abandoned(failure)) => Some(failure.message),
        Err(Stop::StdoutClosed) => None,
    };
    if let Some(problem) = bind {
        return refused(vec![problem]);
    }
    let plan = match whole.reload(&loaded.config) {
        Ok(plan) => plan,
        Err(error) => return refused(error.problems.iter().map(|one| chain(one)).collect()),
    };
    if plan.is_empty() {
        return "reloaded the configuration: nothing has changed\n".to_owned();
    }
    let list = |what: &str, keys: &[String]| match keys {
        [] => String::new(),
        keys => format!("  {what}: {}\n", keys.join(", ")),
    };
    format!(
        "reloaded the configuration\n{}{}",
        list("at once", &plan.hot),
        list("after a restart", &plan.restart)
    )
}

/// What admits a page to `/mcp` is what admits it everywhere.
fn gateway(whole: &Outfitter) -> impl FnOnce(Arc<dyn CallHost>) -> GatewayOptions + use<> {
    let clock = whole.clock().clone();
    let allowed_origins = whole.config().server.allowed_origins.clone();
    move |calls| GatewayOptions {
        allowed_origins,
        ..GatewayOptions::loopback(calls, clock)
    }
}

fn config(whole: &Outfitter) -> ServerConfig {
    let server = &whole.config().server;
    ServerConfig {
        allowed_origins: server.allowed_origins.clone(),
        cancel_on_disconnect: server.cancel_on_disconnect,
        heartbeat: Duration::from_secs(server.heartbeat_seconds.into()),
        ..ServerConfig::default()
    }
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
