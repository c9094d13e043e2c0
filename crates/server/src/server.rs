//! The server: its routes, and its life from the first look at the log to the last stream.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::app::App;
use crate::calls::Calls;
use crate::parts::ServerParts;
use crate::{connection, gate, recovery, routes};

/// Why a server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listener cannot be asked where it listens.
    #[error("look at the listener")]
    Listener(#[source] std::io::Error),
    /// Everybody who reaches the machine could use it.
    #[error("serve at {0}: it is not a loopback address")]
    NotLoopback(std::net::SocketAddr),
}

/// The HTTP surface of an agent and its sessions.
pub struct Server {
    app: Arc<App>,
    router: Router,
    stop_mounted: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Server {
    /// A server of these parts.
    #[must_use]
    pub fn new(mut parts: ServerParts) -> Self {
        let mount = parts.mcp.take();
        let app = Arc::new(App::new(parts));
        let mut router = routes::router();
        let mut stop_mounted = None;
        if let Some(mount) = mount {
            let mounted = mount(Arc::new(Calls::new(app.clone())));
            router = router.route_service("/mcp", mounted.router);
            stop_mounted = Some(mounted.stop);
        }
        let router = router
            .layer(middleware::from_fn_with_state(app.clone(), gate::gate))
            .with_state(app.clone());
        Self {
            app,
            router,
            stop_mounted,
        }
    }

    /// Serves until `shutdown`. Turns that broke off go on at once; what nobody answers expires.
    /// In the end nothing more is accepted, every run is interrupted and records its last event,
    /// and every stream ends with it. The turns of these runs go on when a server starts again.
    ///
    /// # Errors
    /// [`ServeError`]: nothing was served then.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr().map_err(ServeError::Listener)?;
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address));
        }
        let app = self.app;
        // The runs know the app, and it owns them: dropping this future must part them.
        let _dropped = DropRuns(app.clone());
        let (grace, most) = (app.config.grace, app.config.connections);
        let mut tasks = JoinSet::new();
        let stop = app.live.stop().clone();
        let served = connection::serve(most, listener, self.router, stop.clone(), grace);
        let mut served = std::pin::pin!(served);
        let mut recovering = JoinSet::new();
        {
            let app = app.clone();
            recovering.spawn(async move { recovery::recover(&app).await });
        }
        {
            let app = app.clone();
            tasks.spawn(async move { recovery::expire(&app).await });
        }
        tokio::select! {
            () = served.as_mut() => {}
            () = shutdown => {
                // Runs record their ends while their streams are still read, and those of an
                // earlier server that nobody has come to are ended too.
                let recovered = tokio::time::timeout(grace, recovering.join_next());
                let runs = async {
                    let cut_off = app.live.end_all(grace).await;
                    // What is mounted has answered the calls that these runs were.
                    if let Some(stop_mounted) = &self.stop_mounted {
                        stop_mounted();
                    }
                    cut_off
                };
                let (cut_off, (), recovered) = tokio::join!(runs, served, recovered);
                match recovered {
                    Ok(Some(Err(error))) => tracing::error!(%error, "the recovery broke down"),
                    Ok(Some(Ok(())) | None) => {}
                    Err(_) => tracing::warn!("sessions were left that broke off"),
                }
                let late = app.live.end_all(grace).await;
                recovery::end_each(&app, [cut_off, late].concat()).await;
            }
        }
        tasks.shutdown().await;
        Ok(())
    }
}

struct DropRuns(Arc<App>);

impl Drop for DropRuns {
    fn drop(&mut self) {
        self.0.live.drop_all();
    }
}
