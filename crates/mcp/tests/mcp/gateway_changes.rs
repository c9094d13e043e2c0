//! Clients are told when there are other tools.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use outfitter_core::{Role, SystemClock};
use outfitter_mcp::{GatewayOptions, McpService};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::gateway_client::{Body, Client, Wire, request};
use crate::hosted::{Hosted, principal};
use crate::support::LONG;

/// The next message of a stream whose method is this.
async fn next(body: &mut Body, method: &str) -> Value {
    let mut text = String::new();
    let found = async {
        loop {
            let frame = body.frame().await.expect("the stream ends").unwrap();
            text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
            let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
            let mut messages = messages.filter_map(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(message) = messages.find(|message| message["method"] == method) {
                return message;
            }
        }
    };
    tokio::time::timeout(LONG, found).await.expect("it came")
}

const CHANGED: &str = "notifications/tools/list_changed";

fn service() -> (McpService, watch::Sender<()>) {
    let (tell, told) = watch::channel(());
    let options = GatewayOptions::loopback(Hosted::new(), Arc::new(SystemClock));
    let service = McpService::new(GatewayOptions {
        changes: Some(told),
        ..options
    });
    (service, tell)
}

#[tokio::test]
async fn a_session_was_never_told_of_other_tools() {
    let (service, tell) = service();
    let client = Client::connect(&service, principal("ann", Role::User), Wire::Legacy).await;
    let mut listens = request(Some(&client.who), &[], &Value::Null);
    *listens.method_mut() = Method::GET;
    let session = client.session.as_deref().unwrap().parse().unwrap();
    listens.headers_mut().insert("mcp-session-id", session);
    let stream = service.handle(listens).await;
    assert_eq!(stream.status(), StatusCode::OK);
    let mut stream = stream.into_body();
    for _ in 0..2 {
        tell.send_replace(());
        next(&mut stream, CHANGED).await;
        // What comes together is told of together.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // One that has gone keeps nobody else from being told.
    let other = Client::connect(&service, principal("bob", Role::User), Wire::Legacy).await;
    drop(other);
    tell.send_replace(());
    next(&mut stream, CHANGED).await;
}

#[tokio::test]
async fn a_subscription_is_told_of_other_tools_with_its_id() {
    let (service, tell) = service();
    let client = Client::connect(&service, principal("ann", Role::User), Wire::Modern).await;
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let stream = client.send("subscriptions/listen", params).await;
    assert_eq!(stream.status(), StatusCode::OK);
    let mut stream = stream.into_body();
    let known = next(&mut stream, "notifications/subscriptions/acknowledged").await;
    assert_eq!(
        known["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    tell.send_replace(());
    let told = next(&mut stream, CHANGED).await;
    let id = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*id, 7, "{told}");
}

#[tokio::test]
async fn what_cannot_be_told_of_is_not_announced() {
    let tools = async |service: &McpService| {
        let client = Client::connect(service, principal("ann", Role::User), Wire::Modern).await;
        let found = client.ask("server/discover", json!({})).await;
        found["result"]["capabilities"]["tools"].clone()
    };
    let (told, _tell) = service();
    assert_eq!(tools(&told).await, json!({"listChanged": true}));
    let untold = crate::gateway_client::service(&Hosted::new());
    assert_eq!(tools(&untold).await, json!({}));
}
