//! Redirects by hand, and bodies to a bound.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use outfitter_net::address::AddressClass;
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::dns::{Addrs, Name, Resolve, Resolving};
use outfitter_net::reqwest::header::HeaderMap;
use outfitter_net::{
    Body, Client, ClientOptions, MAX_REDIRECTS, NetError, OwnAddresses, Resolver, get_following,
    read_body,
};
use rstest::rstest;

use crate::server::{Always, get, ok, serve};

fn anywhere(_: &Url, _: &Url) -> Result<(), NetError> {
    Ok(())
}

fn open() -> Client {
    Client::operator(ClientOptions::default()).unwrap()
}

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .into_bytes()
}

#[tokio::test]
async fn a_redirect_is_followed_to_where_it_leads() {
    let server = serve(vec![to("/b?x=1"), to("c"), ok("here")]);
    let found = get_following(&open(), server.url("/a"), &HeaderMap::new(), anywhere)
        .await
        .unwrap();
    assert_eq!(found.url.path(), "/c");
    assert_eq!(found.response.text().await.unwrap(), "here");
}

#[tokio::test]
async fn redirects_without_an_end_are_given_up() {
    let server = serve(vec![to("/again"); MAX_REDIRECTS + 1]);
    let error = get_following(&open(), server.url("/"), &HeaderMap::new(), anywhere)
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        NetError::Redirects {
            limit: MAX_REDIRECTS,
            ..
        }
    ));
    assert_eq!(server.connections(), MAX_REDIRECTS + 1);
}

#[rstest]
#[case::file("file:///etc/passwd")]
#[case::gopher("gopher://127.0.0.1:6379/_x")]
#[case::data("data:text/plain,x")]
#[tokio::test]
async fn a_redirect_leaves_the_web_nowhere(#[case] location: &str) {
    let server = serve(vec![to(location)]);
    let error = get_following(&open(), server.url("/"), &HeaderMap::new(), anywhere)
        .await
        .unwrap_err();
    assert!(matches!(error, NetError::Scheme { .. }), "{error:?}");
}

#[tokio::test]
async fn credentials_of_a_redirect_are_not_sent() {
    let second = serve(vec![ok("x")]);
    let first = serve(vec![to(&format!("http://me:secret@{}/b", second.address))]);
    let found = get_following(&open(), first.url("/"), &HeaderMap::new(), anywhere)
        .await
        .unwrap();
    assert_eq!(found.url.username(), "");
    assert!(
        !second.heads()[0]
            .to_ascii_lowercase()
            .contains("authorization")
    );
}

/// Gives one answer after the other, and the last for ever.
struct Flips(Vec<Vec<SocketAddr>>, AtomicUsize);

impl Resolve for Flips {
    fn resolve(&self, _: Name) -> Resolving {
        let at = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len() - 1);
        let addresses = self.0[at].clone();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

fn guarded(answers: Vec<Vec<SocketAddr>>) -> Client {
    Client::public_only(ClientOptions {
        resolver: Resolver::Custom(Arc::new(Flips(answers, AtomicUsize::new(0)))),
        ..ClientOptions::default()
    })
    .unwrap()
}

#[tokio::test]
async fn a_name_that_turns_inward_between_look_ups_is_refused_then() {
    let server = serve(vec![ok("secret")]);
    // Public and unreachable here (nothing leaves this machine in a test), then inward for ever.
    let client = guarded(vec![Vec::new(), vec![server.address]]);
    let url = Url::parse(&format!("http://flips.example:{}/", server.address.port())).unwrap();
    let first = client.execute(get(url.clone())).await.unwrap_err();
    assert!(!matches!(first, NetError::Refused(_)), "{first:?}");
    for _ in 0..3 {
        let error = client.execute(get(url.clone())).await.unwrap_err();
        let NetError::Refused(refused) = error else {
            panic!("{error:?}");
        };
        assert_eq!(refused.class, AddressClass::Loopback);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn one_bad_address_of_a_name_spoils_the_others() {
    let server = serve(vec![ok("secret")]);
    let public: SocketAddr = "93.184.215.14:0".parse().unwrap();
    for answer in [vec![public, server.address], vec![server.address, public]] {
        let url = Url::parse(&format!("http://mixed.example:{}/", server.address.port())).unwrap();
        let error = guarded(vec![answer]).execute(get(url)).await.unwrap_err();
        assert!(matches!(error, NetError::Refused(_)), "{error:?}");
    }
    assert_eq!(server.connections(), 0);
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let mut reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    reply.extend_from_slice(body);
    reply
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

async fn fetch(reply: Vec<u8>, max: usize) -> Result<Body, NetError> {
    let server = serve(vec![reply]);
    read_body(open().execute(get(server.url("/"))).await.unwrap(), max).await
}

#[tokio::test]
async fn a_body_is_unpacked_as_it_says() {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(b"hello").unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(b"hello").unwrap();
    let two = [gzip(b"hel"), gzip(b"lo")].concat();
    for (encoding, body) in [
        ("identity", b"hello".to_vec()),
        ("gzip", gzip(b"hello")),
        ("X-GZIP", two),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
    ] {
        let body = fetch(packed(encoding, &body), 100).await.unwrap();
        assert_eq!(body.bytes, b"hello", "{encoding}");
        assert!(!body.cut);
    }
    let empty = fetch(packed("gzip", b""), 100).await.unwrap();
    assert!(empty.bytes.is_empty() && !empty.cut);
}

#[tokio::test]
async fn a_small_body_that_unpacks_to_a_large_one_stops_at_the_bound() {
    let bomb = gzip(&vec![0; 64 << 20]);
    assert!(bomb.len() < 100_000);
    let body = fetch(packed("gzip", &bomb), 1000).await.unwrap();
    assert_eq!(body.bytes.len(), 1000);
    assert!(body.cut);
}

#[rstest]
#[case::exact(5, 5, false)]
#[case::one_less(4, 4, true)]
#[case::room(6, 5, false)]
#[tokio::test]
async fn a_body_is_cut_where_it_is_too_long(
    #[case] max: usize,
    #[case] len: usize,
    #[case] cut: bool,
) {
    let body = fetch(ok("hello"), max).await.unwrap();
    assert_eq!((body.bytes.len(), body.cut), (len, cut));
}

#[rstest]
#[case::unasked("br")]
#[case::twice("gzip, gzip")]
#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_said(#[case] encoding: &str) {
    let error = fetch(packed(encoding, b"xx"), 100).await.unwrap_err();
    assert!(matches!(error, NetError::Encoding { .. }), "{error:?}");
}

#[tokio::test]
async fn what_does_not_unpack_is_said() {
    for body in [b"not gzip".to_vec(), gzip(b"hello")[..12].to_vec()] {
        let error = fetch(packed("gzip", &body), 100).await.unwrap_err();
        assert!(matches!(error, NetError::Unpack { .. }), "{error:?}");
    }
}

#[rstest]
#[case::number("127.0.0.1", "127.0.0.1")]
#[case::mapped("[::ffff:127.0.0.1]", "127.0.0.1")]
#[case::unspecified("0.0.0.0", "127.0.0.1")]
#[case::name("api.example", "127.0.0.1")]
#[case::all("127.0.0.1", "0.0.0.0")]
#[case::all_by_another("127.9.8.7", "0.0.0.0")]
#[case::all_by_name("api.example", "0.0.0.0")]
#[tokio::test]
async fn where_this_process_listens_nothing_is_fetched_from(
    #[case] host: &str,
    #[case] listens: &str,
) {
    let server = serve(vec![ok("own")]);
    let port = server.address.port();
    let own = OwnAddresses::default();
    own.add(SocketAddr::new(listens.parse().unwrap(), port));
    let client = Client::operator(ClientOptions {
        own,
        resolver: Resolver::Custom(Arc::new(Always(vec![server.address]))),
        ..ClientOptions::default()
    })
    .unwrap();
    let url = Url::parse(&format!("http://{host}:{port}/v1/tools")).unwrap();
    let error = client.execute(get(url)).await.unwrap_err();
    let NetError::Refused(refused) = error else {
        panic!("{error:?}");
    };
    assert_eq!(refused.class, AddressClass::Own);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn beside_where_this_process_listens_all_is_reached() {
    let server = serve(vec![ok("another")]);
    let own = OwnAddresses::default();
    own.add("127.0.0.1:1".parse().unwrap());
    own.add(SocketAddr::new(
        "127.0.0.2".parse().unwrap(),
        server.address.port(),
    ));
    let client = Client::operator(ClientOptions {
        own,
        ..ClientOptions::default()
    })
    .unwrap();
    let reply = client.execute(get(server.url("/"))).await.unwrap();
    assert_eq!(reply.text().await.unwrap(), "another");
}

/// The first server may be reached and what it leads to may not: each hop is judged where it
/// connects, however its address is written.
#[rstest]
#[case::number("127.0.0.1")]
#[case::another_spelling("2130706433")]
#[case::a_short_one("0x7f.1")]
#[case::mapped("[::ffff:127.0.0.1]")]
#[case::name("localhost")]
#[tokio::test]
async fn a_redirect_that_leads_inward_is_refused_where_it_leads(#[case] host: &str) {
    let inside = serve(vec![ok("secret")]);
    let own = OwnAddresses::default();
    own.add(inside.address);
    let client = Client::operator(ClientOptions {
        own,
        ..ClientOptions::default()
    })
    .unwrap();
    let inward = to(&format!("http://{host}:{}/", inside.address.port()));
    let first = serve(vec![to("/once-more"), inward]);
    let error = get_following(&client, first.url("/"), &HeaderMap::new(), anywhere)
        .await
        .unwrap_err();
    let NetError::Refused(refused) = error else {
        panic!("{error:?}");
    };
    assert_eq!(refused.class, AddressClass::Own);
    assert_eq!((first.connections(), inside.connections()), (2, 0));
}
