//! What comes back, and what does not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{Api, ApiError, fetch_document};
use outfitter_core::{
    Cancel, Code, Outcome, OutcomeState, Tool, ToolContext, ToolError, ToolSource as _,
};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::dns::{Addrs, Name, Resolve, Resolving};
use outfitter_net::{Client, ClientOptions, OwnAddresses, Resolver};
use rstest::rstest;
use serde_json::{Value, json};

use super::server::{Asked, Server, reply, with};
use super::{LIBRARY, admin, call, client, document, offering, settings, tool};
use crate::support::{PATIENCE, Shelf};

fn at(url: &str, client: &Client) -> Vec<Arc<dyn Tool>> {
    let mut settings = settings("library", Some(url));
    settings
        .headers
        .push(("authorization".to_owned(), "Bearer k-12345".into()));
    let api = Api::read(&settings, document(LIBRARY), client).unwrap();
    offering(api).snapshot().tools.clone()
}

async fn get(server: &Server) -> Result<Outcome, ToolError> {
    let tools = at(&server.url(""), &client());
    call(
        &*tool(&tools, "call_library_getBook"),
        &admin(),
        json!({"isbn": "1"}),
    )
    .await
}

async fn lend(server: &Server) -> Result<Outcome, ToolError> {
    let tools = at(&server.url(""), &client());
    let args = json!({"isbn": "1", "body_user_id": "me"});
    call(&*tool(&tools, "call_library_lend"), &admin(), args).await
}

fn serve(status: &'static str, kind: &'static str, body: &'static [u8]) -> Server {
    Server::new(move |_| Some(reply(status, kind, body)))
}

#[rstest]
#[case::json("application/json", b"\xef\xbb\xbf{\"a\": [1, 2.5, null]}", json!({"a": [1, 2.5, null]}))]
#[case::a_kind_of_json("application/hal+json; charset=utf-8", b"[]", json!([]))]
#[case::text("text/plain", b"two\nlines", json!("two\nlines"))]
#[case::html("text/html", b"<p>as it came</p>", json!("<p>as it came</p>"))]
#[case::csv_of_another_encoding("text/csv; charset=latin1", b"h\xe9,1", json!("h\u{e9},1"))]
#[case::xml("application/xml", b"<a/>", json!("<a/>"))]
#[case::untyped("", b"{\"a\":1}", json!("{\"a\":1}"))]
// What would lose something as a value stays text.
#[case::long_number("application/json", b"{\"n\": 123456789012345678901234567890}", json!("{\"n\": 123456789012345678901234567890}"))]
#[case::key_twice("application/json", b"{\"n\": 1, \"n\": 2}", json!("{\"n\": 1, \"n\": 2}"))]
#[tokio::test]
async fn a_body_is_what_it_says(
    #[case] kind: &'static str,
    #[case] body: &'static [u8],
    #[case] told: Value,
) {
    let outcome = get(&serve("200 OK", kind, body)).await.unwrap();
    assert_eq!(outcome.failed, None);
    assert_eq!(outcome.result["status"], 200);
    assert_eq!(outcome.result["body"], told);
    assert_eq!(outcome.state, OutcomeState::Complete);
}

#[tokio::test]
async fn a_reply_without_a_body_is_its_status() {
    let server = Server::new(|_| Some(with("201 Created", &[("location", "/books/7")], b"")));
    let outcome = get(&server).await.unwrap();
    assert_eq!(
        outcome.result,
        json!({"status": 201, "location": "/books/7"})
    );
    let server = Server::new(|_| Some(with("204 No Content", &[], b"")));
    assert_eq!(lend(&server).await.unwrap().result, json!({"status": 204}));
}

#[tokio::test]
async fn what_is_no_text_is_kept_as_an_artifact() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    let server = serve("200 OK", "image/png", PNG);
    let tools = at(&server.url(""), &client());
    let shelf = Arc::new(Shelf::default());
    let mut cx = admin();
    cx.artifacts = shelf.clone();
    let tool = tool(&tools, "call_library_getBook");
    let outcome = call(&*tool, &cx, json!({"isbn": "1"})).await.unwrap();
    let [id] = outcome.artifacts.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        outcome.result,
        json!({"status": 200, "content_type": "image/png", "size": PNG.len(), "artifact": id.as_str()})
    );
    {
        let kept = shelf.kept.lock().unwrap();
        assert_eq!(kept[0].start, PNG);
        assert_eq!(kept[0].new.mime, "image/png");
    }
    // And where it cannot be kept, that is said.
    let nowhere = ToolContext::detached();
    let outcome = call(&*tool, &nowhere, json!({"isbn": "1"})).await.unwrap();
    assert_eq!(outcome.failed.unwrap().code, Code::Unavailable);
}

#[tokio::test]
async fn what_says_it_is_json_and_is_none_is_told_with_its_text() {
    let outcome = get(&serve("200 OK", "application/json", b"<html>oops"))
        .await
        .unwrap();
    assert_eq!(outcome.result["body"], "<html>oops");
    assert_eq!(outcome.failed.unwrap().code, Code::ProtocolError);
    // An error is an error, whatever its body is.
    let outcome = get(&serve("404 Not Found", "application/json", b"<html>oops"))
        .await
        .unwrap();
    assert_eq!(outcome.failed.unwrap().code, Code::NotFound);
}

#[tokio::test]
async fn a_reply_over_the_bound_is_cut_and_says_so() {
    let long = Server::new(|_| {
        let body = "a".repeat(11 * 1024 * 1024);
        Some(reply("200 OK", "application/json", body.as_bytes()))
    });
    let outcome = get(&long).await.unwrap();
    assert_eq!(outcome.state, OutcomeState::Partial);
    assert_eq!(outcome.result["truncated"], true);
    let text = outcome.result["body"].as_str().unwrap();
    assert_eq!(text.len(), 10 * 1024 * 1024);
    let long = Server::new(|_| {
        Some(reply(
            "200 OK",
            "application/zip",
            &vec![0; 11 * 1024 * 1024],
        ))
    });
    let outcome = get(&long).await.unwrap();
    assert_eq!(outcome.failed.unwrap().code, Code::TooLarge);
    assert!(outcome.artifacts.is_empty());
}

#[rstest]
#[case("400 Bad Request", Code::InvalidArguments, false)]
#[case("401 Unauthorized", Code::Unauthenticated, false)]
#[case("403 Forbidden", Code::NotPermitted, false)]
#[case("404 Not Found", Code::NotFound, false)]
#[case("405 Method Not Allowed", Code::Failed, false)]
#[case("408 Request Timeout", Code::Timeout, true)]
#[case("409 Conflict", Code::Conflict, false)]
#[case("410 Gone", Code::NotFound, false)]
#[case("412 Precondition Failed", Code::Conflict, false)]
#[case("413 Content Too Large", Code::TooLarge, false)]
#[case("418 I'm a teapot", Code::Failed, false)]
#[case("422 Unprocessable Content", Code::InvalidArguments, false)]
#[case("429 Too Many Requests", Code::RateLimited, true)]
#[case("500 Internal Server Error", Code::Unavailable, true)]
#[case("502 Bad Gateway", Code::ProtocolError, false)]
#[case("503 Service Unavailable", Code::Unavailable, true)]
#[case("504 Gateway Timeout", Code::Timeout, true)]
#[case("304 Not Modified", Code::Failed, false)]
#[tokio::test]
async fn a_status_is_one_of_our_codes(
    #[case] status: &'static str,
    #[case] code: Code,
    #[case] retryable: bool,
) {
    let number: u16 = status[..3].parse().unwrap();
    let server = serve(status, "application/json", br#"{"detail":"why"}"#);
    let outcome = get(&server).await.unwrap();
    assert_eq!(outcome.result["status"], number);
    if number != 304 {
        assert_eq!(outcome.result["body"], json!({"detail": "why"}));
    }
    let error = outcome.failed.unwrap();
    assert_eq!((error.code, error.retryable), (code, retryable));
    // What may have been done is not simply done again.
    let error = lend(&server).await.unwrap().failed.unwrap();
    let never_done = matches!(number, 429 | 503);
    assert_eq!(
        (error.code, error.retryable),
        (code, retryable && never_done)
    );
}

#[tokio::test]
async fn when_to_try_again_is_told() {
    let server = Server::new(|_| {
        Some(with(
            "429 Too Many Requests",
            &[("retry-after", "120")],
            b"",
        ))
    });
    let error = get(&server).await.unwrap().failed.unwrap();
    assert_eq!(error.hint.unwrap(), "it says to try again after 120");
}

fn moving(status: &'static str, to: &'static str) -> Server {
    Server::new(move |asked: &Asked| {
        if asked.line.contains("/moved") {
            return Some(reply("200 OK", "application/json", b"\"there\""));
        }
        Some(with(status, &[("location", to)], b""))
    })
}

#[rstest]
#[case("301 Moved Permanently", "GET", "")]
#[case("302 Found", "GET", "")]
#[case("303 See Other", "GET", "GET /moved")]
#[case("307 Temporary Redirect", "GET", "POST /moved")]
#[case("308 Permanent Redirect", "GET", "POST /moved")]
#[tokio::test]
async fn a_redirect_at_the_origin_is_followed_where_it_keeps_what_was_asked(
    #[case] status: &'static str,
    #[case] reads: &str,
    #[case] writes: &str,
) {
    let server = moving(status, "/moved");
    assert_eq!(get(&server).await.unwrap().result["body"], "there");
    let asked = server.last();
    assert_eq!(asked.line, format!("{reads} /moved HTTP/1.1"));
    assert_eq!(asked.header("authorization"), Some("Bearer k-12345"));
    let outcome = lend(&server).await.unwrap();
    let asked = server.last();
    if writes.is_empty() {
        assert_eq!(outcome.failed.unwrap().code, Code::Failed);
        assert_eq!(outcome.result["location"], "/moved");
        assert_eq!(asked.line, "POST /loans HTTP/1.1");
    } else {
        assert_eq!(outcome.result["body"], "there");
        assert_eq!(asked.line, format!("{writes} HTTP/1.1"));
        let sent_again = writes.starts_with("POST");
        assert_eq!(!asked.body.is_empty(), sent_again);
        assert_eq!(asked.header("content-type").is_some(), sent_again);
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = Server::json("{}");
    let to = other.url("/moved?key=secret");
    let server =
        Server::new(move |_| Some(with("307 Temporary Redirect", &[("location", &to)], b"")));
    for asked in [get(&server).await, lend(&server).await] {
        let error = asked.unwrap_err();
        assert_eq!(error.code(), Code::Failed);
        let message = error.to_string();
        assert!(
            message.contains(&format!("leads on to http://{}", other.address)),
            "{message}"
        );
        assert!(!message.contains("secret"), "{message}");
    }
    assert!(other.asked().is_empty(), "nothing of it went there");
}

#[tokio::test]
async fn a_redirect_that_never_ends_ends() {
    let server = Server::new(|_| Some(with("302 Found", &[("location", "/forever")], b"")));
    let error = get(&server).await.unwrap_err();
    assert!(error.to_string().contains("redirects"), "{error}");
    assert!(server.asked().len() <= 11);
}

struct Everywhere(SocketAddr);

impl Resolve for Everywhere {
    fn resolve(&self, _: Name) -> Resolving {
        let address = self.0;
        Box::pin(async move { Ok(Box::new([address].into_iter()) as Addrs) })
    }
}

/// An administrator's model that calls our own server through an API would be an administrator
/// there.
#[tokio::test]
async fn the_endpoints_of_this_process_are_never_reached() {
    let ours = Server::json("{}");
    let own = OwnAddresses::default();
    own.add(ours.address);
    let options = ClientOptions {
        own,
        resolver: Resolver::Custom(Arc::new(Everywhere(ours.address))),
        ..ClientOptions::default()
    };
    let client = Client::operator(options).unwrap();
    let port = ours.address.port();
    let aliases = [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "localhost",
        "api.example.com",
    ];
    for host in aliases {
        let tools = at(&format!("http://{host}:{port}/v1"), &client);
        let tool = tool(&tools, "call_library_getBook");
        let error = call(&*tool, &admin(), json!({"isbn": "1"}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::NotPermitted, "{host}: {error}");
        assert!(
            error.to_string().contains("this server listens itself"),
            "{error}"
        );
    }
    // Nor by a redirect.
    let url = ours.url("/");
    let leads = Server::new(move |_| Some(with("302 Found", &[("location", &url)], b"")));
    let tools = at(&leads.url(""), &client);
    let tool = tool(&tools, "call_library_getBook");
    assert!(call(&*tool, &admin(), json!({"isbn": "1"})).await.is_err());
    assert!(ours.asked().is_empty());
}

#[tokio::test]
async fn nobody_there_can_be_tried_again() {
    // Held, so that no other test is given it.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = held.local_addr().unwrap();
    let tools = at(&format!("http://{gone}"), &client());
    let args = json!({"isbn": "1", "body_user_id": "me"});
    let tool = tool(&tools, "call_library_lend");
    let error = call(&*tool, &admin(), args).await.unwrap_err();
    assert_eq!(
        (error.code(), error.info().retryable),
        (Code::Unavailable, true)
    );
}

#[tokio::test]
async fn an_api_that_says_nothing_is_not_waited_for() {
    let server = Server::new(|_| None);
    let mut settings = settings("library", Some(&server.url("")));
    settings.timeout = Duration::from_millis(200);
    let api = Api::read(&settings, document(LIBRARY), &client()).unwrap();
    let tools = offering(api).snapshot().tools.clone();
    for (name, args, again) in [
        ("call_library_getBook", json!({"isbn": "1"}), true),
        (
            "call_library_lend",
            json!({"isbn": "1", "body_user_id": "me"}),
            false,
        ),
    ] {
        let error = call(&*tool(&tools, name), &admin(), args)
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.info().retryable),
            (Code::Timeout, again)
        );
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_ends() {
    let server = Server::new(|_| None);
    let tools = at(&server.url(""), &client());
    let mut cx = admin();
    cx.cancel = Cancel::new();
    let tool = tool(&tools, "call_library_getBook");
    let stop = async {
        while server.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cx.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(call(&*tool, &cx, json!({"isbn": "1"})), stop);
    assert_eq!(ended.unwrap_err().code(), Code::Cancelled);
}

#[tokio::test]
async fn a_document_is_fetched_from_its_origin() {
    let server = Server::new(|asked| {
        Some(match asked.line.split(' ').nth(1).unwrap() {
            "/openapi.yaml" => reply("200 OK", "application/yaml", LIBRARY.as_bytes()),
            "/old" => with("301 Moved", &[("location", "/openapi.yaml")], b""),
            "/away" => with("301 Moved", &[("location", "http://other.invalid/")], b""),
            "/long" => reply("200 OK", "text/plain", &vec![b' '; 17 * 1024 * 1024]),
            "/bytes" => reply("200 OK", "text/plain", b"\xff\xfe\xfd"),
            _ => reply("404 Not Found", "text/plain", b"no"),
        })
    });
    let fetch = |path: &str| {
        let url = Url::parse(&server.url(path)).unwrap();
        async move { fetch_document(&client(), &url, PATIENCE).await }
    };
    assert_eq!(fetch("/openapi.yaml").await.unwrap(), LIBRARY);
    assert_eq!(fetch("/old").await.unwrap(), LIBRARY);
    assert!(matches!(
        fetch("/away").await,
        Err(ApiError::NotThere { .. })
    ));
    assert!(matches!(
        fetch("/gone").await,
        Err(ApiError::NotThere { .. })
    ));
    assert!(matches!(
        fetch("/long").await,
        Err(ApiError::TooLarge { .. })
    ));
    assert!(matches!(
        fetch("/bytes").await,
        Err(ApiError::Unreadable { .. })
    ));
}
