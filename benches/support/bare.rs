//! The library's own server of MCP over HTTP, with a tool that does what `echo` does and nothing
//! around it.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ErrorData, Implementation,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::Fallible;
use super::world::Said;

/// How the tool gives its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The first time that it is asked, which no tool does that waits for anything.
    AtOnce,
    /// The second time.
    Later,
}

#[derive(Clone)]
struct Echo(Answers);

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let refused = |error: serde_json::Error| {
            ErrorData::new(ErrorCode::INVALID_PARAMS, error.to_string(), None)
        };
        if self.0 == Answers::Later {
            tokio::task::yield_now().await;
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let said: Said = serde_json::from_value(arguments).map_err(refused)?;
        let result = serde_json::to_value(said).map_err(refused)?;
        Ok(CallToolResult::structured(result).into())
    }
}

/// What answers at `/mcp`.
pub(crate) fn router(answers: Answers) -> Router {
    let service = StreamableHttpService::new(
        move || Ok(Echo(answers)),
        Arc::<LocalSessionManager>::default(),
        StreamableHttpServerConfig::default(),
    );
    Router::new().fallback_service(service)
}

/// Serves it over connections like those of our server.
pub(crate) async fn serve(listener: TcpListener, answers: Answers) -> Fallible<()> {
    let router = router(answers);
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(router.clone());
        connections.spawn(async move {
            // A client that goes away ends its connection.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(30))
                .max_buf_size(64 * 1024)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
