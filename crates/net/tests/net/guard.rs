use std::net::SocketAddr;
use std::sync::Arc;

use outfitter_net::address::AddressClass;
use outfitter_net::reqwest::Url;
use outfitter_net::{
    AddressGuard, AddressRefused, Client, ClientOptions, NetError, Proxy, Resolver,
};
use rstest::rstest;

use crate::server::{Always, get, nobody, ok, serve};

fn guarded(answers: Vec<SocketAddr>) -> Client {
    Client::public_only(ClientOptions {
        resolver: Resolver::Custom(Arc::new(Always(answers))),
        ..ClientOptions::default()
    })
    .unwrap()
}

fn class_of(error: &NetError) -> AddressClass {
    let NetError::Refused(refused) = error else {
        unreachable!("not refused by the guard: {error:?}");
    };
    refused.class
}

#[rstest]
#[case::loopback("127.0.0.1", AddressClass::Loopback)]
#[case::short("127.1", AddressClass::Loopback)]
#[case::decimal("2130706433", AddressClass::Loopback)]
#[case::hexadecimal("0x7f.0x0.0x0.0x1", AddressClass::Loopback)]
#[case::octal("0177.0.0.1", AddressClass::Loopback)]
#[case::trailing_dot("127.0.0.1.", AddressClass::Loopback)]
#[case::full_width("１２７.０.０.１", AddressClass::Loopback)]
#[case::percent_encoded("%31%32%37.0.0.1", AddressClass::Loopback)]
#[case::zero("0", AddressClass::Unspecified)]
#[case::metadata("169.254.169.254", AddressClass::LinkLocal)]
#[case::v6_loopback("[::1]", AddressClass::Loopback)]
#[case::v6_mapped("[::ffff:127.0.0.1]", AddressClass::Loopback)]
#[case::v6_mapped_in_hex("[::ffff:a9fe:a9fe]", AddressClass::LinkLocal)]
#[case::nat64("[64:ff9b::10.0.0.1]", AddressClass::Private)]
#[tokio::test]
async fn no_spelling_of_an_address_passes(#[case] host: &str, #[case] class: AddressClass) {
    let url = Url::parse(&format!("http://{host}:{}/", nobody().port())).unwrap();
    let error = guarded(Vec::new()).execute(get(url)).await.unwrap_err();
    assert_eq!(class_of(&error), class);
}

#[tokio::test]
async fn a_name_for_a_refused_address_is_refused_before_anything_is_sent() {
    let server = serve(vec![ok("secret")]);
    let url = Url::parse(&format!(
        "http://innocent.example:{}/",
        server.address.port()
    ))
    .unwrap();
    let error = guarded(vec![server.address])
        .execute(get(url))
        .await
        .unwrap_err();
    assert_eq!(class_of(&error), AddressClass::Loopback);
    assert_eq!(error.to_string(), "fetch from innocent.example");
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "127.0.0.1 is a loopback address, and only public addresses may be fetched"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn localhost_is_refused_through_the_system_resolver_too() {
    let client = Client::public_only(ClientOptions::default()).unwrap();
    let url = Url::parse(&format!("http://localhost:{}/", nobody().port())).unwrap();
    let error = client.execute(get(url)).await.unwrap_err();
    assert_eq!(class_of(&error), AddressClass::Loopback);
}

#[tokio::test]
async fn a_hop_of_a_redirect_is_judged_like_the_first() {
    let server = serve(vec![ok("secret")]);
    let client = guarded(vec![server.address]);
    let location = Url::parse("https://public.example/").unwrap();
    let hop = location
        .join(&format!("http://{}/metadata", server.address))
        .unwrap();
    let error = client.execute(get(hop)).await.unwrap_err();
    assert_eq!(class_of(&error), AddressClass::Loopback);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn without_the_guard_the_same_resolver_connects() {
    let server = serve(vec![ok("hello")]);
    let client = Client::operator(ClientOptions {
        resolver: Resolver::Custom(Arc::new(Always(vec![server.address]))),
        ..ClientOptions::default()
    })
    .unwrap();
    assert_eq!(client.guard(), AddressGuard::Off);
    let url = Url::parse(&format!("http://model.example:{}/", server.address.port())).unwrap();
    let response = client.execute(get(url)).await.unwrap();
    assert_eq!(response.text().await.unwrap(), "hello");
}

#[test]
fn a_guard_behind_a_proxy_is_refused_because_it_could_not_hold() {
    let options = ClientOptions {
        proxy: Proxy::Url("http://127.0.0.1:3128".into()),
        ..ClientOptions::default()
    };
    assert!(matches!(
        Client::public_only(options),
        Err(NetError::GuardedProxy)
    ));
}

#[rstest]
#[case::amazon("169.254.169.254")]
#[case::containers("169.254.170.2")]
#[case::of_six("[fd00:ec2::254]")]
#[case::google("[fd20:ce::254]")]
#[case::link_local("[fe80::a9fe:a9fe]")]
#[case::mapped("[::ffff:169.254.169.254]")]
#[case::translated("[64:ff9b::a9fe:a9fe]")]
#[case::translated_here("[64:ff9b:1::a9fe:a9fe]")]
#[case::alibaba("100.100.100.200")]
#[case::azure("168.63.129.16")]
#[case::decimal("2852039166")]
#[case::octal("0251.0376.0251.0376")]
#[tokio::test]
async fn a_metadata_service_was_fetched_where_private_networks_are_open(#[case] host: &str) {
    let client = Client::without_metadata(ClientOptions::default()).unwrap();
    let url = Url::parse(&format!("http://{host}/latest/meta-data/")).unwrap();
    let error = client.execute(get(url)).await.unwrap_err();
    assert!(matches!(error, NetError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn a_name_of_a_metadata_service_is_refused_and_private_networks_are_not() {
    let server = serve(vec![ok("inside")]);
    let with = |addresses: Vec<SocketAddr>| {
        Client::without_metadata(ClientOptions {
            resolver: Resolver::Custom(Arc::new(Always(addresses))),
            ..ClientOptions::default()
        })
        .unwrap()
    };
    let url = Url::parse(&format!("http://in.example:{}/", server.address.port())).unwrap();
    let metadata = SocketAddr::new("169.254.169.254".parse().unwrap(), server.address.port());
    for answers in [vec![metadata], vec![server.address, metadata]] {
        let error = with(answers).execute(get(url.clone())).await.unwrap_err();
        assert_eq!(class_of(&error), AddressClass::LinkLocal);
    }
    assert_eq!(server.connections(), 0);
    let client = with(vec![server.address]);
    assert!(client.unguarded().is_none());
    let reply = client.execute(get(url)).await.unwrap();
    assert_eq!(reply.text().await.unwrap(), "inside");
}

#[test]
fn what_a_refusal_says_is_of_the_guard_that_refuses() {
    let of = |guard| {
        let refused = AddressRefused {
            host: "x".to_owned(),
            address: "169.254.169.254".parse().unwrap(),
            class: AddressClass::LinkLocal,
            guard,
        };
        refused.to_string()
    };
    assert_eq!(
        of(AddressGuard::PublicOnly),
        "169.254.169.254 is a link-local address, and only public addresses may be fetched"
    );
    assert_eq!(
        of(AddressGuard::NoMetadata),
        "169.254.169.254 is a link-local address, where metadata services live, and it is not named"
    );
}
