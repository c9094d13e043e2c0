use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use outfitter_net::reqwest::Url;
use outfitter_net::{CertificateDer, Client, ClientOptions, NetError, Resolver, Roots};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{Always, get, ok, read_head};

const CA: &[u8] = include_bytes!("fixtures/ca.pem");
const OTHER_CA: &[u8] = include_bytes!("fixtures/other-ca.pem");
const SERVER: &[u8] = include_bytes!("fixtures/server.pem");
const KEY: &[u8] = include_bytes!("fixtures/server.key");

fn certificate(pem: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).unwrap()
}

/// Serves one TLS connection. What goes wrong on it is the client's to report.
fn serve_tls() -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate(SERVER)],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut tls = StreamOwned::new(connection, stream);
        read_head(&mut tls);
        let _client_may_have_left = tls.write_all(&ok("secure")).and_then(|()| tls.flush());
        tls.conn.send_close_notify();
        let _client_may_have_left = tls.flush();
    });
    address
}

fn trusting(roots: Roots) -> Client {
    Client::operator(ClientOptions {
        roots,
        ..ClientOptions::default()
    })
    .unwrap()
}

fn https(address: SocketAddr) -> Url {
    Url::parse(&format!("https://localhost:{}/", address.port())).unwrap()
}

#[tokio::test]
async fn a_server_that_a_trusted_root_vouches_for_is_spoken_to() {
    let client = trusting(Roots::Only(vec![certificate(CA)]));
    let response = client.execute(get(https(serve_tls()))).await.unwrap();
    assert_eq!(response.text().await.unwrap(), "secure");
}

#[tokio::test]
async fn a_server_that_another_root_vouches_for_is_refused() {
    let client = trusting(Roots::Only(vec![certificate(OTHER_CA)]));
    let error = client.execute(get(https(serve_tls()))).await.unwrap_err();
    assert!(matches!(error, NetError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_under_another_name_is_refused() {
    let address = serve_tls();
    let client = Client::operator(ClientOptions {
        roots: Roots::Only(vec![certificate(CA)]),
        resolver: Resolver::Custom(Arc::new(Always(vec![address]))),
        ..ClientOptions::default()
    })
    .unwrap();
    let url = Url::parse(&format!("https://other.example:{}/", address.port())).unwrap();
    let error = client.execute(get(url)).await.unwrap_err();
    assert!(matches!(error, NetError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn the_platform_does_not_vouch_for_a_test_server() {
    let client = trusting(Roots::Platform);
    let error = client.execute(get(https(serve_tls()))).await.unwrap_err();
    assert!(matches!(error, NetError::Tls { .. }), "{error:?}");
}

#[test]
fn a_root_that_is_no_certificate_is_refused() {
    let options = ClientOptions {
        roots: Roots::Only(vec![CertificateDer::from(b"rubbish".to_vec())]),
        ..ClientOptions::default()
    };
    assert!(matches!(
        Client::operator(options),
        Err(NetError::TlsSetup(_))
    ));
}
