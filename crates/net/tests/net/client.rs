use std::time::Duration;

use outfitter_net::reqwest::{StatusCode, Url};
use outfitter_net::{Client, ClientOptions, NetError, Proxy, secret_header};
use rstest::rstest;
use secrecy::SecretString;

use crate::server::{get, nobody, ok, serve, silent};

fn client() -> Client {
    Client::operator(ClientOptions::default()).unwrap()
}

#[tokio::test]
async fn an_operator_client_reaches_loopback_and_says_who_it_is() {
    let server = serve(vec![ok("hello")]);
    let response = client().execute(get(server.url("/x?y=1"))).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.text().await.unwrap(), "hello");

    let head = server.heads().remove(0);
    assert!(head.starts_with("GET /x?y=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("user-agent: outfitter/"), "{head}");
    assert!(!head.contains("accept-encoding"), "{head}");
    assert!(!head.contains("referer"), "{head}");
}

#[tokio::test]
async fn a_redirect_is_a_reply_and_is_not_followed() {
    let target = serve(vec![ok("should not be asked")]);
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        target.url("/")
    );
    let server = serve(vec![redirect.into_bytes()]);
    let response = client().execute(get(server.url("/"))).await.unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_broken_exchange_is_not_tried_again() {
    let server = serve(vec![b"".to_vec(), ok("second try")]);
    let error = client().execute(get(server.url("/"))).await.unwrap_err();
    assert!(matches!(error, NetError::Exchange { .. }), "{error:?}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error_of_its_body() {
    let server = serve(vec![
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this".to_vec(),
    ]);
    let response = client().execute(get(server.url("/"))).await.unwrap();
    let error = NetError::from(response.bytes().await.unwrap_err());
    assert!(matches!(error, NetError::Body { .. }), "{error:?}");
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "error reading a body from connection: end of file before message length reached"
    );
}

#[tokio::test]
async fn a_deadline_of_the_caller_is_a_timeout() {
    let (address, held) = silent();
    let mut request = get(Url::parse(&format!("http://{address}/")).unwrap());
    *request.timeout_mut() = Some(Duration::from_millis(50));
    let error = client().execute(request).await.unwrap_err();
    assert!(matches!(error, NetError::Timeout { .. }), "{error:?}");
    drop(held.join());
}

#[tokio::test]
async fn nobody_listening_is_a_failure_to_connect() {
    let address = nobody();
    let error = client()
        .execute(get(Url::parse(&format!("http://{address}/")).unwrap()))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("connect to http://{address}"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("refused"), "{cause}");
}

#[rstest]
#[case("file:///etc/passwd", "file")]
#[case("ftp://example.com/x", "ftp")]
#[case("data:text/plain,x", "data")]
#[tokio::test]
async fn only_http_is_spoken(#[case] url: &str, #[case] expected: &str) {
    let error = client()
        .execute(get(Url::parse(url).unwrap()))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, NetError::Scheme { scheme } if scheme == expected),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_named_proxy_is_used_with_its_credentials() {
    let proxy = serve(vec![ok("from the proxy")]);
    let client = Client::operator(ClientOptions {
        proxy: Proxy::Url(format!("http://me:pass@{}", proxy.address).into()),
        ..ClientOptions::default()
    })
    .unwrap();
    let target = Url::parse("http://model.invalid/v1").unwrap();
    let response = client.execute(get(target)).await.unwrap();
    assert_eq!(response.text().await.unwrap(), "from the proxy");

    let head = proxy.heads().remove(0);
    assert!(
        head.starts_with("GET http://model.invalid/v1 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("proxy-authorization: Basic bWU6cGFzcw=="),
        "{head}"
    );
}

#[rstest]
#[case("not a url")]
#[case("socks5://127.0.0.1:1080")]
#[case("file:///tmp/proxy")]
fn a_proxy_that_cannot_be_used_is_refused(#[case] url: &str) {
    let options = ClientOptions {
        proxy: Proxy::Url(url.into()),
        ..ClientOptions::default()
    };
    assert!(matches!(Client::operator(options), Err(NetError::ProxyUrl)));
}

#[test]
fn a_credential_becomes_a_header_that_does_not_print() {
    let secret = SecretString::from("sk-sentinel");
    let value = secret_header("Bearer ", &secret).unwrap();
    assert_eq!(value.as_bytes(), b"Bearer sk-sentinel");
    assert!(value.is_sensitive());
    assert_eq!(format!("{value:?}"), "Sensitive");

    let error = secret_header("", &SecretString::from("sk-sentinel\n")).unwrap_err();
    assert!(matches!(error, NetError::Credential));
    assert!(!format!("{error} {error:?}").contains("sentinel"));
}

#[test]
fn a_library_gets_the_client_beneath_only_without_a_guard() {
    assert!(client().unguarded().is_some());
    let guarded = Client::public_only(ClientOptions::default()).unwrap();
    assert!(guarded.unguarded().is_none());
}
