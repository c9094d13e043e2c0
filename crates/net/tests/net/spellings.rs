//! Every way of writing an address that must not be reached. Each is tried against the guard, with
//! a resolver that would give a public address to whatever is taken for a name.

use std::net::SocketAddr;
use std::sync::Arc;

use outfitter_net::reqwest::Url;
use outfitter_net::{Client, ClientOptions, NetError, Resolver};

use crate::server::{Always, get, nobody};

/// The host as it stands in a URL.
const REFUSED: &[&str] = &[
    // Loopback.
    "127.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0X7F.0.0.1",
    "0x7f.1",
    "0177.0.0.1",
    "0177.0000.00.01",
    "127.0.0.1.",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "public.example@127.0.0.1",
    "public.example:80@127.0.0.1",
    "public.example%40x@127.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::0.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:127.0.0.1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:7f00:0001::1]",
    // Unspecified.
    "0",
    "0.0.0.0",
    "0x0",
    "0.1.2.3",
    "[::]",
    "[::ffff:0.0.0.0]",
    // Private.
    "10.0.0.1",
    "10.1",
    "167772161",
    "0x0a.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "3232235521",
    "0300.0250.0.1",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::192.168.0.1]",
    "[2002:c0a8:1::]",
    "[2002:0a00:0001::]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fec0::1]",
    // Carrier-grade NAT.
    "100.64.0.1",
    "100.127.255.255",
    "[::ffff:100.64.0.1]",
    // Link-local and metadata.
    "169.254.169.254",
    "169.254.170.2",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fe80::1]",
    "[febf::1]",
    "[fd00:ec2::254]",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    // Multicast, broadcast and reserved.
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "4294967295",
    "240.0.0.1",
    "[ff02::1]",
    "[ff0e::1]",
    // Documentation and benchmarking.
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "[2001:db8::1]",
    "[3fff::1]",
    // Tunnels.
    "[2001::1]",
    "192.88.99.1",
];

/// What is no URL at all.
const NO_URL: &[&str] = &[
    "256.0.0.1",
    "127.0.0.1.5",
    "0x100000000",
    "[fe80::1%25eth0]",
    "[::1%251]",
    "[::g]",
    "127.0.0.1 ",
];

#[tokio::test]
async fn no_spelling_of_a_refused_address_is_connected_to() {
    let elsewhere: SocketAddr = "93.184.215.14:0".parse().unwrap();
    let client = Client::public_only(ClientOptions {
        resolver: Resolver::Custom(Arc::new(Always(vec![elsewhere]))),
        ..ClientOptions::default()
    })
    .unwrap();
    assert!(REFUSED.len() >= 60);
    let port = nobody().port();
    for host in REFUSED {
        let url = Url::parse(&format!("http://{host}:{port}/"))
            .unwrap_or_else(|error| panic!("{host}: {error}"));
        let error = client.execute(get(url)).await.unwrap_err();
        assert!(matches!(error, NetError::Refused(_)), "{host}: {error:?}");
    }
}

#[test]
fn what_is_no_host_is_no_url() {
    for host in NO_URL {
        assert!(Url::parse(&format!("http://{host}:80/")).is_err(), "{host}");
    }
}
