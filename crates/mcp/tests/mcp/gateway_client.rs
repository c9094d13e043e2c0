//! A client of the gateway, over both wires.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use outfitter_core::{CallHost, Principal, SystemClock};
use outfitter_mcp::{GatewayOptions, McpService};
use serde_json::{Value, json};

use crate::hosted::Hosted;

pub(crate) type Body = BoxBody<Bytes, std::convert::Infallible>;

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Legacy,
    Modern,
}

/// A client of somebody's.
pub(crate) struct Client {
    pub(crate) service: McpService,
    pub(crate) who: Arc<Principal>,
    pub(crate) wire: Wire,
    pub(crate) session: Option<String>,
}

pub(crate) fn service(host: &Arc<Hosted>) -> McpService {
    service_of(host.clone())
}

pub(crate) fn service_of(host: Arc<dyn CallHost>) -> McpService {
    McpService::new(GatewayOptions::loopback(host, Arc::new(SystemClock)))
}

pub(crate) fn request(
    who: Option<&Arc<Principal>>,
    headers: &[(&str, &str)],
    body: &Value,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", "127.0.0.1:8470")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Full::from(body.to_string())).unwrap();
    if let Some(who) = who {
        request.extensions_mut().insert(who.clone());
    }
    request
}

/// Every message of a response, whichever of the two forms it has.
pub(crate) async fn messages(response: Response<Body>) -> Vec<Value> {
    assert!(response.status().is_success(), "{:?}", response.status());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = std::str::from_utf8(&bytes).unwrap();
    if text.starts_with('{') {
        return vec![serde_json::from_str(text).unwrap()];
    }
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter(|data| !data.trim().is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

impl Client {
    pub(crate) async fn connect(service: &McpService, who: Arc<Principal>, wire: Wire) -> Self {
        let mut client = Self {
            service: service.clone(),
            who,
            wire,
            session: None,
        };
        match wire {
            Wire::Modern => {
                let found = client.ask("server/discover", json!({})).await;
                assert_eq!(found["result"]["serverInfo"], Value::Null);
            }
            Wire::Legacy => {
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
                let response = client.send("initialize", params).await;
                let session = response.headers().get("mcp-session-id");
                client.session = session.map(|session| session.to_str().unwrap().to_owned());
                assert!(client.session.is_some());
                let agreed = messages(response).await.pop().unwrap();
                assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25");
                assert_eq!(agreed["result"]["serverInfo"]["name"], "outfitter");
                let told = client
                    .post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                    .await;
                assert_eq!(told.status(), StatusCode::ACCEPTED);
            }
        }
        client
    }

    pub(crate) async fn send(&self, method: &str, params: Value) -> Response<Body> {
        self.post(&self.request(7, method, params)).await
    }

    pub(crate) fn request(&self, id: usize, method: &str, mut params: Value) -> Value {
        if self.wire == Wire::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    pub(crate) async fn post(&self, message: &Value) -> Response<Body> {
        let mut headers = Vec::new();
        let method = message["method"].as_str().unwrap_or_default();
        let name = message["params"]["name"].as_str();
        match self.wire {
            Wire::Modern => {
                headers.push(("mcp-protocol-version", "2026-07-28"));
                headers.push(("mcp-method", method));
                headers.extend(name.map(|name| ("mcp-name", name)));
            }
            Wire::Legacy => {
                headers.push(("mcp-protocol-version", "2025-11-25"));
                headers.extend(
                    self.session
                        .as_deref()
                        .map(|session| ("mcp-session-id", session)),
                );
            }
        }
        self.service
            .handle(request(Some(&self.who), &headers, message))
            .await
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        messages(self.send(method, params).await)
            .await
            .pop()
            .unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self
            .ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        assert_eq!(reply["id"], 7, "{reply}");
        reply["result"].clone()
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}
