//! The smallest servers that will do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use outfitter_net::reqwest::dns::{Addrs, Name, Resolve, Resolving};
use outfitter_net::reqwest::{Method, Request, Url};
use tokio::net::TcpSocket;

/// Ends a test that would otherwise wait for ever; never reached when things work.
const LIVENESS: Duration = Duration::from_secs(60);

pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    heads: JoinHandle<Vec<String>>,
}

impl Served {
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The request heads that came, in order.
    pub(crate) fn heads(self) -> Vec<String> {
        self.heads.join().unwrap()
    }
}

/// Answers as many connections as there are replies, each with its own bytes, and closes them.
pub(crate) fn serve(replies: Vec<Vec<u8>>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let heads = thread::spawn(move || {
        let mut heads = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            stream.set_read_timeout(Some(LIVENESS)).unwrap();
            heads.push(read_head(&mut stream));
            stream.write_all(&reply).unwrap();
        }
        heads
    });
    Served {
        address,
        connections,
        heads,
    }
}

/// A server that accepts and never says anything, until the returned stream is dropped.
pub(crate) fn silent() -> (SocketAddr, JoinHandle<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (address, thread::spawn(move || listener.accept().unwrap().0))
}

/// Says `words` to the first who connects, whatever they wanted.
pub(crate) fn blurt(words: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.accept().unwrap().0.write_all(words));
    address
}

/// Answers every name with the same addresses.
pub(crate) struct Always(pub(crate) Vec<SocketAddr>);

impl Resolve for Always {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses = self.0.clone();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

/// An address where nobody listens, now or later: it is held, or another test would be given it.
pub(crate) fn nobody() -> SocketAddr {
    static HELD: OnceLock<TcpSocket> = OnceLock::new();
    let held = HELD.get_or_init(|| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    });
    held.local_addr().unwrap()
}

pub(crate) fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn get(url: Url) -> Request {
    let mut request = Request::new(Method::GET, url);
    *request.timeout_mut() = Some(LIVENESS);
    request
}
