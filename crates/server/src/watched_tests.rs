//! Answers that look like what is replaced, and are not.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse as _;
use axum::routing::get;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{StatusCode, header};
use outfitter_core::Cancel;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::connection::connection;
use crate::seats::Seat;

/// As the library writes it.
const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";

/// A connection to a router, whose writes wait for the reader beyond so many bytes.
fn connected(router: Router, room: usize) -> (DuplexStream, JoinSet<()>) {
    let (client, server) = tokio::io::duplex(room);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        connection(server, router, Cancel::new(), &Arc::new(Seat::new())).await;
    });
    (client, tasks)
}

async fn until(client: &mut DuplexStream, end: &str) -> String {
    let mut seen = Vec::new();
    while !seen.ends_with(end.as_bytes()) {
        seen.push(client.read_u8().await.unwrap());
    }
    String::from_utf8(seen).unwrap()
}

/// Everything up to the end of the connection.
async fn rest(client: &mut DuplexStream) -> String {
    let mut seen = Vec::new();
    client.read_to_end(&mut seen).await.unwrap();
    String::from_utf8(seen).unwrap()
}

/// Each piece of a body leaves in a write of its own, which begins with it or with its length.
#[tokio::test]
async fn a_piece_of_an_answer_that_looked_like_a_refusal_was_replaced() {
    for length in [None, Some(3 * BARE.len())] {
        let (send, pieces) = mpsc::channel::<Bytes>(1);
        let pieces = Arc::new(Mutex::new(Some(pieces)));
        let answer = async move || {
            let pieces = pieces.lock().unwrap().take().unwrap();
            let frames = futures_util::stream::unfold(pieces, async |mut pieces| {
                pieces.recv().await.map(|piece| (piece, pieces))
            });
            let body = Body::from_stream(frames.map(Ok::<_, Infallible>));
            let mut answer = body.into_response();
            if let Some(length) = length {
                let headers = answer.headers_mut();
                headers.insert(header::CONTENT_LENGTH, length.into());
            }
            answer
        };
        let (mut client, _serving) = connected(Router::new().route("/", get(answer)), 64 * 1024);
        let ask = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        client.write_all(ask.as_bytes()).await.unwrap();
        until(&mut client, "\r\n\r\n").await;
        for _ in 0..3 {
            send.send(Bytes::from_static(BARE.as_bytes()))
                .await
                .unwrap();
            let piece = match length {
                Some(_) => BARE.to_owned(),
                None => format!("{:X}\r\n{BARE}\r\n", BARE.len()),
            };
            assert_eq!(until(&mut client, &piece).await, piece);
        }
        drop(send);
        // What comes then is no request, and told of.
        if length.is_none() {
            assert_eq!(until(&mut client, "0\r\n\r\n").await, "0\r\n\r\n");
        }
        client.write_all(b"nonsense\r\n\r\n").await.unwrap();
        let told = rest(&mut client).await;
        assert!(told.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{told}");
        assert!(told.contains("cannot be read"), "{told}");
    }
}

/// Several requests at once, whose answers are bare, and what is no request behind them.
#[tokio::test]
async fn a_bare_answer_of_ours_was_replaced() {
    for room in [64 * 1024, 7] {
        let bare = async || StatusCode::URI_TOO_LONG;
        let (mut client, _serving) = connected(Router::new().route("/", get(bare)), room);
        let ask = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        let asked = [ask, ask, ask, "nonsense\r\n\r\n"].concat();
        let (mut read, mut write) = tokio::io::split(&mut client);
        let mut seen = String::new();
        let (sent, read) = tokio::join!(
            write.write_all(asked.as_bytes()),
            read.read_to_string(&mut seen),
        );
        sent.unwrap();
        read.unwrap();
        let bare = seen.matches("HTTP/1.1 414 URI Too Long\r\ncontent-length: 0\r\n");
        assert_eq!(bare.count(), 3, "{seen}");
        assert_eq!(
            seen.matches("HTTP/1.1 400 Bad Request").count(),
            1,
            "{seen}"
        );
        if room > 7 {
            assert!(
                seen.contains("the head of the request cannot be read"),
                "{seen}"
            );
        }
    }
}
