//! Redirects of an API to what another call would be.

use std::sync::Arc;

use outfitter_core::{Code, Tool};
use rstest::rstest;
use serde_json::{Value, json};

use super::server::{Server, with};
use super::{admin, call, document, offered, settings, tool};

/// The operations on a shop; `admin` is on no allowlist, and its rules are its own.
fn shop(server: &Server) -> Vec<Arc<dyn Tool>> {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
    let q = json!({"name": "q", "in": "query", "schema": {"type": "string"}});
    let text = json!({
        "openapi": "3.1.0",
        "paths": {
            "/items": {
                "get": {"operationId": "list", "parameters": [q]},
                "post": {"operationId": "add"},
            },
            "/items/{id}": {"get": {"operationId": "item", "parameters": [id]}},
            "/items/{id}.json": {"get": {"operationId": "raw", "parameters": [id]}},
            "/admin/keys": {"get": {"operationId": "keys"}},
        },
    });
    let settings = settings("shop", Some(&server.url("/v1")));
    offered(&settings, document(&text.to_string())).0
}

fn leads(status: &'static str, to: &'static str) -> Server {
    Server::new(move |asked| {
        let first =
            asked.line.contains("/v1/items HTTP") || asked.line.contains("/v1/items/7 HTTP");
        let location = [("location", to)];
        Some(match first {
            true => with(status, &location, b""),
            false => with("200 OK", &[], b"there"),
        })
    })
}

#[rstest]
#[case::of_another_operation("item", json!({"id": "7"}), "/v1/admin/keys", "call_shop_keys")]
#[case::in_another_case("item", json!({"id": "7"}), "/v1/ADMIN/keys", "call_shop_keys")]
#[case::encoded("item", json!({"id": "7"}), "/v1/%61dmin//keys/", "call_shop_keys")]
#[case::of_other_values("item", json!({"id": "7"}), "/v1/items/8", "call_shop_item")]
#[case::of_another_query("list", json!({}), "/v1/items?q=secret", "call_shop_list")]
#[tokio::test]
async fn a_redirect_led_past_the_rules_of_the_operation_that_it_led_to(
    #[case] operation: &str,
    #[case] args: Value,
    #[case] to: &'static str,
    #[case] another: &str,
) {
    let server = leads("302 Found", to);
    let tool = tool(&shop(&server), &format!("call_shop_{operation}"));
    let error = call(&*tool, &admin(), args).await.unwrap_err();
    assert_eq!(error.code(), Code::Failed);
    let message = error.to_string();
    let path = to.split('?').next().unwrap();
    assert!(
        message.contains(path) && message.contains(another),
        "{message}"
    );
    assert_eq!(server.asked().len(), 1, "it is not asked there");
}

#[rstest]
#[case::a_slash_more("/v1/items/")]
#[case::of_no_operation("/v1/files/a.png")]
#[case::of_no_operation_of_the_method("/v1/admin")]
#[tokio::test]
async fn a_redirect_to_the_same_or_to_no_call_is_followed(#[case] to: &'static str) {
    let server = leads("307 Temporary Redirect", to);
    let list = tool(&shop(&server), "call_shop_list");
    let outcome = call(&*list, &admin(), json!({})).await.unwrap();
    assert_eq!(outcome.result["status"], 200);
    assert_eq!(server.last().line, format!("GET {to} HTTP/1.1"));
}

/// What it asked for was done: where the result is, is another call, and no fault.
#[tokio::test]
async fn a_call_that_was_done_and_leads_to_its_result_is_a_success() {
    let server = leads("303 See Other", "/v1/items/9");
    let add = tool(&shop(&server), "call_shop_add");
    let outcome = call(&*add, &admin(), json!({})).await.unwrap();
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
    assert_eq!(outcome.result["status"], 303);
    assert_eq!(outcome.result["location"], "/v1/items/9");
    assert_eq!(server.asked().len(), 1);
}
