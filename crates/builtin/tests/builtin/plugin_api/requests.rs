//! What is sent.

use std::sync::Arc;

use outfitter_builtin::Offer;
use outfitter_core::{Code, Tool};
use outfitter_net::reqwest::Method;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;
use super::{LIBRARY, ORDERS, admin, call, document, offered, settings, tool};

fn of_library(server: &Server) -> Vec<Arc<dyn Tool>> {
    let mut settings = settings("library", Some(&server.url("/v2/")));
    settings
        .headers
        .push(("X-Library-Key".to_owned(), "k-12345".into()));
    settings
        .headers
        .push(("Cookie".to_owned(), "seen=1".into()));
    settings.query.push(("api_key".to_owned(), "q&1".into()));
    offered(&settings, document(LIBRARY)).0
}

#[rstest]
#[case("listBooks", json!({}), "GET /v2/books", "", "")]
#[case("listBooks", json!({"author": "A & B/c?=ü", "tag": ["x", "y z"], "fields": ["title", "year"], "page": 2}),
    "GET /v2/books?author=A%20%26%20B%2Fc%3F%3D%C3%BC&tag=x&tag=y%20z&fields=title,year&page=2", "", "")]
#[case("listBooks", json!({"tag": [], "fields": []}), "GET /v2/books", "", "")]
#[case("getBook", json!({"isbn": "978/0 ?#%41"}), "GET /v2/books/978%2F0%20%3F%23%2541", "", "")]
#[case("hasBook", json!({"isbn": "1"}), "HEAD /v2/books/1", "", "")]
#[case("removeBook", json!({"isbn": "a:b@c"}), "DELETE /v2/books/a%3Ab%40c", "", "")]
#[case("memberLoans", json!({"path_user_id": "me", "loan": 3, "format": "csv", "query_role": "x", "query_loan": "y"}),
    "GET /v2/members/me/loans/3.csv?role=x&loan=y", "", "")]
#[case("addBook", json!({"title": "T", "author": {"name": "N", "born": 1921}, "subtitle": null, "body_owner": "o"}),
    "POST /v2/books", "application/json",
    r#"{"author":{"born":1921,"name":"N"},"owner":"o","subtitle":null,"title":"T"}"#)]
#[case("changeBook", json!({"isbn": "1", "body": {"title": "T", "author": {"name": "N"}}}), "PATCH /v2/books/1",
    "application/merge-patch+json", r#"{"author":{"name":"N"},"title":"T"}"#)]
#[case("changeBook", json!({"isbn": "1"}), "PATCH /v2/books/1", "", "")]
#[case("lend", json!({"isbn": "1", "body_user_id": "a b&c", "days": 7, "notes": ["x", "y"], "place": {"desk": 1}}),
    "POST /v2/loans", "application/x-www-form-urlencoded",
    "isbn=1&user_id=a+b%26c&days=7&notes=x&notes=y&place=%7B%22desk%22%3A1%7D")]
#[case("setMotto", json!({"body": "Read,\nthen think."}), "PUT /v2/motto", "text/plain", "Read,\nthen think.")]
#[case("addNote", json!({}), "POST /v2/notes", "", "")]
#[case("orderShelves", json!({"name": "a", "inside": [{"name": "b"}]}), "PUT /v2/shelves",
    "application/json", r#"{"inside":[{"name":"b"}],"name":"a"}"#)]
#[tokio::test]
async fn arguments_go_where_the_document_says(
    #[case] operation: &str,
    #[case] args: Value,
    #[case] line: &str,
    #[case] kind: &str,
    #[case] body: &str,
) {
    let server = Server::json("{}");
    let tool = tool(&of_library(&server), &format!("call_library_{operation}"));
    let outcome = call(&*tool, &admin(), args).await.unwrap();
    assert_eq!(outcome.result["status"], 200);
    let asked = server.last();
    let separator = if line.contains('?') { '&' } else { '?' };
    // What is sent with every call is, and cannot be mistaken for more.
    assert_eq!(
        asked.line,
        format!("{line}{separator}api_key=q%261 HTTP/1.1")
    );
    assert_eq!(asked.header("x-library-key"), Some("k-12345"));
    assert_eq!(asked.header("cookie"), Some("seen=1"));
    assert_eq!(asked.header("content-type").unwrap_or_default(), kind);
    assert_eq!(asked.body, body);
}

#[tokio::test]
async fn the_styles_of_3_1_are_written() {
    let server = Server::json("{}");
    let settings = settings("orders", Some(&server.url("/api/v1")));
    let (tools, _) = offered(&settings, document(ORDERS));
    let list = tool(&tools, "call_orders_get_orders");
    let args = json!({
        "states": ["new", "paid"], "where": {"total": null}, "point": {"x": 1, "y": -2},
        "_top": 5, "X-Trace": ["a", "b"], "lang": "de; x=y",
    });
    call(&*list, &admin(), args).await.unwrap();
    let asked = server.last();
    assert_eq!(
        asked.line,
        "GET /api/v1/orders?states=new%7Cpaid&where=%7B%22total%22%3Anull%7D&x=1&y=-2&%24top=5 HTTP/1.1"
    );
    assert_eq!(asked.header("x-trace"), Some("a,b"));
    assert_eq!(asked.header("cookie"), Some("lang=de%3B%20x%3Dy"));
    let read = tool(&tools, "call_orders_orders_read");
    call(&*read, &admin(), json!({"order_ids": [1, 22, 333]}))
        .await
        .unwrap();
    assert_eq!(server.last().line, "GET /api/v1/orders/1,22,333 HTTP/1.1");
    let batch = tool(&tools, "call_orders_batch");
    let body =
        json!({"body": [{"kind": "order", "lines": [{"sku": "A", "parts": [{"sku": "B"}]}]}]});
    call(&*batch, &admin(), body).await.unwrap();
    assert_eq!(
        server.last().body,
        r#"[{"kind":"order","lines":[{"parts":[{"sku":"B"}],"sku":"A"}]}]"#
    );
}

#[tokio::test]
async fn a_form_of_parts_has_one_for_each_text() {
    let server = Server::json("{}");
    let tool = tool(&of_library(&server), "call_library_addNote");
    let args = json!({"text": "a \r\n--\"b\"", "about": ["x", "y"]});
    call(&*tool, &admin(), args).await.unwrap();
    let asked = server.last();
    let kind = asked.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    assert!(boundary.len() <= 72, "{boundary}");
    let part = |name: &str, text: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let body = [
        part("text", "a \r\n--\"b\""),
        part("about", "x"),
        part("about", "y"),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(asked.body, body.concat());
    // Some of a body that need not be there is none.
    let error = call(&*tool, &admin(), json!({"about": ["x"]}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn the_one_operation_of_an_api_gets_its_arguments() {
    let server = Server::json("{}");
    let schema = json!({ "properties": { "q": {}, "tags": { "type": "array" } } });
    for (method, line, body) in [
        (Method::GET, "GET /do?q=a%20b&tags=1&tags=2 HTTP/1.1", ""),
        (
            Method::POST,
            "POST /do HTTP/1.1",
            r#"{"q":"a b","tags":[1,2]}"#,
        ),
    ] {
        let offer = Offer::One {
            method,
            schema: schema.clone(),
        };
        let (tools, _) = offered(&settings("one", Some(&server.url("/do"))), offer);
        let args = json!({"q": "a b", "tags": [1, 2]});
        call(&*tool(&tools, "call_one"), &admin(), args)
            .await
            .unwrap();
        assert_eq!(
            (server.last().line.as_str(), server.last().body.as_str()),
            (line, body)
        );
    }
}

#[rstest]
#[case("getBook", json!({"isbn": ""}))]
#[case("getBook", json!({"isbn": "."}))]
#[case("getBook", json!({"isbn": ".."}))]
#[case("getBook", json!({"isbn": "../admin"}))]
#[case("getBook", json!({"isbn": "a/../../admin"}))]
#[case("getBook", json!({"isbn": "..\\admin"}))]
#[case("getBook", json!({"isbn": "a\u{0}b"}))]
#[case("memberLoans", json!({"path_user_id": "..", "loan": 1, "format": "csv"}))]
#[tokio::test]
async fn a_path_that_would_lead_elsewhere_is_not_sent(
    #[case] operation: &str,
    #[case] args: Value,
) {
    let server = Server::json("{}");
    let tool = tool(&of_library(&server), &format!("call_library_{operation}"));
    let error = call(&*tool, &admin(), args).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments, "{error}");
    assert!(server.asked().is_empty());
}

#[rstest]
#[case(json!({"X-Request-Id": "a\r\nX-Evil: 1"}), "/X-Request-Id")]
#[case(json!({"X-Request-Id": "ü"}), "/X-Request-Id")]
#[tokio::test]
async fn a_header_of_several_lines_is_not_sent(#[case] args: Value, #[case] path: &str) {
    let server = Server::json("{}");
    let tool = tool(&of_library(&server), "call_library_listBooks");
    let error = call(&*tool, &admin(), args).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some(path));
    assert!(server.asked().is_empty());
}

/// Fields that stand for themselves in a query are not names that are set for every call.
#[tokio::test]
async fn what_is_set_for_every_call_cannot_be_set_beside_it() {
    let server = Server::json("{}");
    let mut settings = settings("orders", Some(&server.url("")));
    settings.query.push(("x".to_owned(), "1".into()));
    let (tools, _) = offered(&settings, document(ORDERS));
    let list = tool(&tools, "call_orders_get_orders");
    let error = call(&*list, &admin(), json!({"point": {"x": 2}}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.to_string(), "x is set for every call");
    assert!(server.asked().is_empty());
}

#[test]
fn what_is_printed_of_the_settings_has_no_credentials() {
    let mut settings = settings("a", None);
    settings
        .headers
        .push(("authorization".to_owned(), "Bearer k-12345".into()));
    settings.query.push(("key".to_owned(), "k-12345".into()));
    let text = format!("{settings:?}");
    assert!(!text.contains("k-12345"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever a segment is filled with, the server sees one segment that says exactly that, or
    /// nothing is sent.
    #[test]
    fn what_is_filled_in_stays_in_its_segment(
        isbn in prop_oneof![
            ".{1,20}",
            "[./\\\\%?#;&=a2eE5fF]{1,12}",
            "(\\.|%2e|%2E|/|%2f|\\\\){1,6}",
        ],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = Server::json("{}");
        let tool = tool(&of_library(&server), "call_library_getBook");
        let sent = runtime.block_on(call(&*tool, &admin(), json!({"isbn": isbn})));
        match sent {
            Err(error) => {
                prop_assert_eq!(error.code(), Code::InvalidArguments);
                prop_assert!(server.asked().is_empty());
                let escapes = isbn.contains('\0')
                    || isbn.split(['/', '\\']).any(|part| part == "." || part == "..");
                prop_assert!(escapes, "{isbn:?} was refused");
            }
            Ok(_) => {
                let line = server.last().line;
                let path = line.strip_prefix("GET /v2/books/").unwrap();
                let path = path.strip_suffix("?api_key=q%261 HTTP/1.1").unwrap();
                prop_assert!(!path.contains(['/', '?', '#', '\\']), "{path}");
                let mut bytes = Vec::new();
                let mut rest = path.bytes();
                while let Some(byte) = rest.next() {
                    if byte == b'%' {
                        let digits = [rest.next().unwrap(), rest.next().unwrap()];
                        let digits = std::str::from_utf8(&digits).unwrap().to_owned();
                        bytes.push(u8::from_str_radix(&digits, 16).unwrap());
                    } else {
                        bytes.push(byte);
                    }
                }
                prop_assert_eq!(String::from_utf8(bytes).unwrap(), isbn);
            }
        }
    }
}

#[rstest]
#[case("getBook", json!({"isbn": ".."}), "/isbn")]
#[case("getBook", json!({"isbn": "a/../b"}), "/isbn")]
#[case("getBook", json!({"isbn": ""}), "/isbn")]
#[case("getBook", json!({}), "/isbn")]
#[case("memberLoans", json!({"path_user_id": "..", "loan": 3, "format": "csv"}), "/path_user_id")]
#[case("memberLoans", json!({"loan": 3, "format": "csv"}), "/path_user_id")]
#[case("setMotto", json!({"body": 1}), "/body")]
#[tokio::test]
async fn a_fault_of_one_argument_was_told_as_one_of_all(
    #[case] operation: &str,
    #[case] args: Value,
    #[case] path: &str,
) {
    let server = Server::json("{}");
    let tool = tool(&of_library(&server), &format!("call_library_{operation}"));
    // Some of it no schema would let through.
    let error = tool.call(&admin(), args).await.err().unwrap().into_info();
    assert_eq!(error.code, Code::InvalidArguments);
    assert_eq!(error.path.as_deref(), Some(path), "{}", error.message);
}
