//! The styles of parameters, byte for byte: those of RFC 6570, by its own examples but that a dot
//! alone is refused in a path.

use std::sync::Arc;

use outfitter_core::{Code, Tool};
use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;
use super::{admin, call, document, offered, settings, tool};

/// An operation whose one parameter is in this place and style.
fn with(server: &Server, place: &str, style: &str, explode: Option<bool>) -> Arc<dyn Tool> {
    let mut parameter =
        json!({"name": "keys", "in": place, "required": true, "style": style, "schema": {}});
    if let Some(explode) = explode {
        parameter["explode"] = json!(explode);
    }
    let path = if place == "path" { "/a{keys}/b" } else { "/a" };
    let text = json!({
        "openapi": "3.1.0",
        "paths": {path: {"get": {"operationId": "get", "parameters": [parameter]}}},
    });
    let (tools, faults) = offered(
        &settings("s", Some(&server.url("/"))),
        document(&text.to_string()),
    );
    assert!(faults.is_empty(), "{faults:?}");
    tool(&tools, "call_s_get")
}

fn text() -> Value {
    json!("value")
}

fn list() -> Value {
    json!(["red", "green", "blue"])
}

fn keys() -> Value {
    json!({"semi": ";", "dot": "a.", "comma": ","})
}

#[rstest]
#[case("label", false, text(), "/a.value/b")]
#[case("label", true, text(), "/a.value/b")]
#[case("label", false, json!("50%/ü"), "/a.50%25%2F%C3%BC/b")]
#[case("label", false, json!(""), "/a./b")]
#[case("label", false, json!(true), "/a.true/b")]
#[case("label", false, list(), "/a.red,green,blue/b")]
#[case("label", true, list(), "/a.red.green.blue/b")]
#[case("label", false, keys(), "/a.semi,%3B,dot,a.,comma,%2C/b")]
#[case("label", true, keys(), "/a.semi=%3B.dot=a..comma=%2C/b")]
#[case("matrix", false, text(), "/a;keys=value/b")]
#[case("matrix", true, text(), "/a;keys=value/b")]
#[case("matrix", false, json!(""), "/a;keys/b")]
#[case("matrix", false, json!(-1.5), "/a;keys=-1.5/b")]
#[case("matrix", false, list(), "/a;keys=red,green,blue/b")]
#[case("matrix", true, list(), "/a;keys=red;keys=green;keys=blue/b")]
#[case("matrix", false, keys(), "/a;keys=semi,%3B,dot,a.,comma,%2C/b")]
#[case("matrix", true, keys(), "/a;semi=%3B;dot=a.;comma=%2C/b")]
#[case("matrix", true, json!({"a;b=c/d": ""}), "/a;a%3Bb%3Dc%2Fd/b")]
#[case("simple", false, list(), "/ared,green,blue/b")]
#[case("simple", true, keys(), "/asemi=%3B,dot=a.,comma=%2C/b")]
#[tokio::test]
async fn a_path_has_its_parameter_in_the_style_that_the_document_says(
    #[case] style: &str,
    #[case] explode: bool,
    #[case] value: Value,
    #[case] path: &str,
) {
    let server = Server::json("{}");
    let tool = with(&server, "path", style, Some(explode));
    call(&*tool, &admin(), json!({ "keys": value }))
        .await
        .unwrap();
    assert_eq!(server.last().line, format!("GET {path} HTTP/1.1"));
}

#[rstest]
#[case(json!({"role": "admin", "firstName": "Alex"}), "?keys%5Brole%5D=admin&keys%5BfirstName%5D=Alex")]
#[case(json!({"a b": "c&d=e", "n": 2, "no": false}), "?keys%5Ba%20b%5D=c%26d%3De&keys%5Bn%5D=2&keys%5Bno%5D=false")]
#[case(json!({"]x[": ""}), "?keys%5B%5Dx%5B%5D=")]
#[case(json!({}), "")]
#[tokio::test]
async fn a_deep_object_has_a_pair_for_each_of_its_fields(
    #[case] value: Value,
    #[case] query: &str,
) {
    for explode in [None, Some(true), Some(false)] {
        let server = Server::json("{}");
        let tool = with(&server, "query", "deepObject", explode);
        let args = json!({ "keys": value });
        call(&*tool, &admin(), args).await.unwrap();
        assert_eq!(server.last().line, format!("GET /a{query} HTTP/1.1"));
    }
}

#[rstest]
#[case("query", "deepObject", json!("text"))]
#[case("query", "deepObject", json!(["a"]))]
#[case("query", "deepObject", json!({"a": {"b": 1}}))]
#[case("query", "deepObject", json!({"a": [1, 2]}))]
#[case("path", "label", json!([["a"]]))]
#[case("path", "label", json!([]))]
#[case("path", "label", json!(".."))]
#[case("path", "matrix", json!({"dot": "."}))]
#[case("path", "label", json!("../x"))]
#[case("path", "matrix", json!({}))]
#[case("path", "matrix", json!({"a": {"b": 1}}))]
#[case("path", "matrix", json!({"a": ".."}))]
#[case("path", "matrix", json!({"../x": "a"}))]
#[tokio::test]
async fn what_a_style_has_no_form_for_is_told_and_not_sent(
    #[case] place: &str,
    #[case] style: &str,
    #[case] value: Value,
) {
    let server = Server::json("{}");
    let tool = with(&server, place, style, Some(true));
    let error = call(&*tool, &admin(), json!({ "keys": value })).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some("/keys"));
    assert!(server.asked().is_empty());
}

#[rstest]
#[case("query", "label")]
#[case("query", "matrix")]
#[case("header", "deepObject")]
#[case("path", "deepObject")]
#[case("cookie", "matrix")]
fn a_style_stands_only_where_it_has_a_form(#[case] place: &str, #[case] style: &str) {
    let path = if place == "path" { "/a/{keys}" } else { "/a" };
    let parameter =
        json!({"name": "keys", "in": place, "required": true, "style": style, "schema": {}});
    let text = json!({
        "openapi": "3.1.0",
        "paths": {path: {"get": {"operationId": "get", "parameters": [parameter]}}},
    });
    let (tools, faults) = offered(
        &settings("s", Some("http://127.0.0.1:9/")),
        document(&text.to_string()),
    );
    assert!(tools.is_empty());
    let why = format!("its parameter \"keys\": the style {style:?} is not written in a {place}");
    assert_eq!(faults[0].why, why);
}
