//! Field case: a transport fails and its error prints the key that was in the URL or a header.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use outfitter_net::reqwest::dns::{Name, Resolve, Resolving};
use outfitter_net::reqwest::{Request, Url};
use outfitter_net::{Client, ClientOptions, NetError, Proxy, Resolver, secret_header};

use crate::server::{blurt, get, nobody, serve, silent};

const SENTINEL: &str = "SENTINEL";

struct NoSuchName;

impl Resolve for NoSuchName {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err(io::Error::new(io::ErrorKind::NotFound, "no such name").into()) })
    }
}

fn options() -> ClientOptions {
    ClientOptions {
        resolver: Resolver::Custom(Arc::new(NoSuchName)),
        ..ClientOptions::default()
    }
}

/// A request with a key wherever one can be.
fn loaded(origin: &str) -> Request {
    let url = format!("http://{SENTINEL}:{SENTINEL}@{origin}/{SENTINEL}?key={SENTINEL}#{SENTINEL}");
    let mut request = get(Url::parse(&url).unwrap());
    let key = secret_header("Bearer ", &SENTINEL.to_owned().into()).unwrap();
    request.headers_mut().insert("authorization", key);
    request
}

/// The error as any layer above could print it.
fn printed(error: &NetError) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    text
}

async fn failure(client: &Client, request: Request) -> NetError {
    match client.execute(request).await {
        Err(error) => error,
        Ok(response) => response.bytes().await.unwrap_err().into(),
    }
}

#[tokio::test]
async fn no_failing_transport_prints_a_key() {
    let client = Client::operator(options()).unwrap();
    let (silent, held) = silent();
    let slow = {
        let mut request = loaded(&silent.to_string());
        *request.timeout_mut() = Some(Duration::from_millis(50));
        request
    };
    let hung_up = serve(vec![Vec::new()]);
    let garbage = serve(vec![b"220 smtp ready\r\n\r\n".to_vec()]);
    let cut_off = serve(vec![
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx".to_vec(),
    ]);
    let not_tls = blurt(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let secure = {
        let mut request = loaded(&not_tls.to_string());
        request.url_mut().set_scheme("https").unwrap();
        request
    };
    let proxied = Client::operator(ClientOptions {
        proxy: Proxy::Url(format!("http://{SENTINEL}:{SENTINEL}@{}", nobody()).into()),
        ..options()
    })
    .unwrap();
    let guarded = Client::public_only(options()).unwrap();

    let failures = [
        (
            "refused",
            failure(&client, loaded(&nobody().to_string())).await,
        ),
        (
            "unknown name",
            failure(&client, loaded("host.example")).await,
        ),
        ("timeout", failure(&client, slow).await),
        (
            "hung up",
            failure(&client, loaded(&hung_up.address.to_string())).await,
        ),
        (
            "garbage",
            failure(&client, loaded(&garbage.address.to_string())).await,
        ),
        (
            "cut off",
            failure(&client, loaded(&cut_off.address.to_string())).await,
        ),
        ("not tls", failure(&client, secure).await),
        ("proxy", failure(&proxied, loaded("host.example")).await),
        (
            "guard",
            failure(&guarded, loaded(&nobody().to_string())).await,
        ),
    ];
    for (transport, error) in &failures {
        let text = printed(error);
        assert!(!text.contains(SENTINEL), "{transport}: {text}");
    }
    let kinds: Vec<bool> = vec![
        matches!(failures[0].1, NetError::Connect { .. }),
        matches!(failures[1].1, NetError::Lookup { .. }),
        matches!(failures[2].1, NetError::Timeout { .. }),
        matches!(failures[3].1, NetError::Exchange { .. }),
        matches!(failures[4].1, NetError::Exchange { .. }),
        matches!(failures[5].1, NetError::Body { .. }),
        matches!(failures[6].1, NetError::Tls { .. }),
        matches!(failures[7].1, NetError::Connect { .. }),
        matches!(failures[8].1, NetError::Refused(_)),
    ];
    assert!(kinds.iter().all(|&fits| fits), "{kinds:?} {failures:#?}");
    drop(held.join());
}

#[test]
fn options_and_clients_print_no_proxy_credentials() {
    let options = ClientOptions {
        proxy: Proxy::Url(format!("http://{SENTINEL}:{SENTINEL}@127.0.0.1:1").into()),
        ..options()
    };
    let client = Client::operator(options.clone()).unwrap();
    assert!(!format!("{options:?} {client:?}").contains(SENTINEL));
}
