//! As much of an HTTP server as a client of ours needs: one request after the other, bodies by
//! length, responses in chunks. The real one is of another crate.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use outfitter_core::Principal;
use outfitter_mcp::McpService;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Serves on an address of its own until it is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    _tasks: JoinSet<()>,
}

pub(crate) async fn serve(service: McpService, who: Arc<Principal>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let (service, who) = (service.clone(), who.clone());
            connections.spawn(async move { while_it_lasts(stream, &service, &who).await });
        }
    });
    Served {
        address,
        _tasks: tasks,
    }
}

async fn while_it_lasts(stream: TcpStream, service: &McpService, who: &Arc<Principal>) {
    let mut stream = BufReader::new(stream);
    while let Some(mut request) = read(&mut stream).await {
        request.extensions_mut().insert(who.clone());
        let response = service.handle(request).await;
        let status = response.status();
        let mut head = format!(
            "HTTP/1.1 {}\r\ntransfer-encoding: chunked\r\n",
            status.as_u16()
        );
        for (name, value) in response.headers() {
            if name != "content-length" {
                head += &format!("{name}: {}\r\n", value.to_str().unwrap());
            }
        }
        head += "\r\n";
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        let mut body = response.into_body();
        while let Some(Ok(frame)) = body.frame().await {
            let data = frame.into_data().unwrap_or_default();
            if data.is_empty() {
                continue;
            }
            let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
            chunk.extend_from_slice(&data);
            chunk.extend_from_slice(b"\r\n");
            if stream.write_all(&chunk).await.is_err() {
                return;
            }
        }
        if stream.write_all(b"0\r\n\r\n").await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request<Full<Bytes>>> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?, words.next()?);
    let mut request = Request::builder().method(method).uri(path);
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        request = request.header(name, value.trim());
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    request.body(Full::from(body)).ok()
}
