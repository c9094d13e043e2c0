//! Connections: accepted without delay, bounded in number and in patience, ended with the server.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use outfitter_core::Cancel;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::seats::{Answering, Seat, Seats};
use crate::watched::Watched;

/// How long a connection is idle at least before it has to give its place up.
const IDLE: Duration = Duration::from_secs(1);

/// How often it is looked whether one may be asked to leave, while none may.
const LOOK: Duration = Duration::from_millis(250);

/// How long the head of a request may take to arrive, and a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// The pause after an accept that failed, which is most often for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts a connection whose small writes leave at once.
pub(crate) async fn accept(listener: &TcpListener) -> std::io::Result<(TcpStream, SocketAddr)> {
    let (stream, from) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, from))
}

/// Serves connections until `stop`, then lets those under way end within `grace`. When there are
/// as many as there may be, the next takes the place of one that is idle, and waits while none is.
pub(crate) async fn serve(
    most: usize,
    listener: TcpListener,
    router: Router,
    stop: Cancel,
    grace: Duration,
) {
    let seats = Arc::<Seats>::default();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            Some(ended) = connections.join_next() => {
                report(ended);
                continue;
            }
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::select! {
                    () = room(most, &seats, &mut connections) => {}
                    () = stop.cancelled() => break,
                }
                let (router, stop, taken) = (router.clone(), stop.clone(), seats.take());
                connections.spawn(async move {
                    connection(stream, router, stop, &taken.seat).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Another may have what this one lacks.
                seats.ask_one_to_leave(IDLE);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    let all = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if tokio::time::timeout(grace, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// Waits until there are fewer connections than the most.
async fn room(most: usize, seats: &Seats, connections: &mut JoinSet<()>) {
    // There is always one: none would be waited for for ever.
    while connections.len() >= most.max(1) {
        seats.ask_one_to_leave(IDLE);
        if let Ok(Some(ended)) = tokio::time::timeout(LOOK, connections.join_next()).await {
            report(ended);
        }
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection broke down");
    }
}

/// Serves one connection. On `stop` the request under way is answered to its end.
pub(crate) async fn connection<I>(io: I, router: Router, stop: Cancel, seat: &Arc<Seat>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(Watched::new(io, seat.clone()));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(io, Answering::new(router, seat.clone()));
    let mut serving = Pin::new(&mut connection);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
        () = seat.asked_to_leave() => {
            serving.as_mut().graceful_shutdown();
            // What has come is looked at once more. The head of a request that has begun and does
            // not end is waited for no longer.
            match futures_util::poll!(serving.as_mut()) {
                Poll::Ready(ended) => ended,
                Poll::Pending if seat.is_idle() => Ok(()),
                Poll::Pending => serving.await,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    connection.into_parts().io.into_inner().end().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Context;

    use axum::body::Body;
    use axum::routing::get;
    use bytes::Bytes;
    use futures_util::StreamExt as _;
    use std::io::{self, IoSlice};
    use std::net::Ipv4Addr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadBuf};
    use tokio::sync::mpsc;

    /// Counts the writes that would be system calls. As on a socket, several slices are one.
    struct Counting {
        inner: DuplexStream,
        writes: Arc<AtomicUsize>,
    }

    impl AsyncRead for Counting {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_read(cx, buf)
        }
    }

    impl AsyncWrite for Counting {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.writes.fetch_add(1, Ordering::SeqCst);
            Pin::new(&mut self.inner).poll_write(cx, buf)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.writes.fetch_add(1, Ordering::SeqCst);
            let all: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
            Pin::new(&mut self.inner).poll_write(cx, &all)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_shutdown(cx)
        }
    }

    async fn read_until(stream: &mut DuplexStream, end: &str) {
        let mut seen = Vec::new();
        while !seen.ends_with(end.as_bytes()) {
            seen.push(stream.read_u8().await.unwrap());
        }
    }

    #[tokio::test]
    async fn every_event_leaves_in_one_write() {
        let (send, events) = mpsc::channel::<Bytes>(1);
        let events = Arc::new(std::sync::Mutex::new(Some(events)));
        let router = Router::new().route(
            "/",
            get(async move || {
                let events = events.lock().unwrap().take().unwrap();
                let frames = futures_util::stream::unfold(events, async |mut events| {
                    events.recv().await.map(|event| (event, events))
                });
                Body::from_stream(frames.map(Ok::<_, Infallible>))
            }),
        );
        let (mut client, server) = tokio::io::duplex(1024 * 1024);
        let writes = Arc::new(AtomicUsize::new(0));
        let io = Counting {
            inner: server,
            writes: writes.clone(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            connection(io, router, Cancel::new(), &Arc::new(Seat::new())).await;
        });
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        read_until(&mut client, "\r\n\r\n").await;
        for event in 0..50 {
            let before = writes.load(Ordering::SeqCst);
            // A small one and one that is larger than a packet.
            let text = format!(
                "{}\n\n",
                "x".repeat(if event % 2 == 0 { 20 } else { 20_000 })
            );
            send.send(Bytes::from(text)).await.unwrap();
            read_until(&mut client, "\n\n\r\n").await;
            assert_eq!(writes.load(Ordering::SeqCst) - before, 1, "event {event}");
        }
    }

    /// The whole answer, to the end of the connection.
    async fn ask(stream: &mut TcpStream, path: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_client_that_asks_takes_the_place_of_one_that_does_not_and_of_none_that_does() {
        const MOST: usize = 8;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let (go, gone) = (Cancel::new(), Cancel::new());
        let (begun, mut begins) = mpsc::channel::<()>(MOST);
        let router = Router::new().route("/now", get(async || "now")).route(
            "/later",
            get({
                let go = go.clone();
                async move || {
                    begun.send(()).await.unwrap();
                    go.cancelled().await;
                    "later"
                }
            }),
        );
        let mut tasks = JoinSet::new();
        let serving = serve(MOST, listener, router, gone.clone(), Duration::ZERO);
        tasks.spawn(serving);
        let mut answers = JoinSet::new();
        for _ in 0..MOST - 1 {
            let mut stream = TcpStream::connect(at).await.unwrap();
            answers.spawn(async move { ask(&mut stream, "/later").await });
            begins.recv().await.unwrap();
        }
        // One has begun to ask and does not go on; three more only connect.
        let mut half = TcpStream::connect(at).await.unwrap();
        half.write_all(b"GET /now HTTP/1.1\r\nx: ").await.unwrap();
        let mut idle = Vec::new();
        for _ in 0..3 {
            idle.push(TcpStream::connect(at).await.unwrap());
        }
        let mut asking = TcpStream::connect(at).await.unwrap();
        let answer = ask(&mut asking, "/now").await;
        assert!(answer.ends_with("now"), "{answer}");
        for stream in idle.iter_mut().chain([&mut half]) {
            let mut rest = Vec::new();
            // It may also be told that its half of a head will not be read.
            if stream.read_to_end(&mut rest).await.is_ok() {
                assert!(!rest.starts_with(b"HTTP/1.1 2"), "{rest:?}");
            }
        }
        go.cancel();
        while let Some(answer) = answers.join_next().await {
            assert!(answer.unwrap().ends_with("later"), "it was let end");
        }
        gone.cancel();
        tasks.join_next().await.unwrap().unwrap();
    }

    /// As many half heads as there are places kept the next client waiting a quarter of a second
    /// for each: now they go as fast as they can, those first that said something longest ago.
    #[tokio::test(start_paused = true)]
    async fn half_sent_requests_kept_their_places_one_after_the_other() {
        const MOST: usize = 64;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let stop = Cancel::new();
        let router = Router::new().route("/now", get(async || "now"));
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(MOST, listener, router, stop.clone(), Duration::ZERO));
        let begin = async || {
            let mut half = TcpStream::connect(at).await.unwrap();
            half.write_all(b"GET /now HTTP/1.1\r\nx: ").await.unwrap();
            half
        };
        let mut halves = Vec::new();
        for _ in 0..2 * MOST {
            halves.push(begin().await);
        }
        let begun = tokio::time::Instant::now();
        let mut asking = TcpStream::connect(at).await.unwrap();
        let answer = ask(&mut asking, "/now").await;
        assert!(answer.ends_with("now"), "{answer}");
        // The clock stands still while anything can be done: what has passed was waited for.
        let waited = begun.elapsed();
        assert!(waited <= 2 * IDLE + 2 * LOOK, "{waited:?}");
        stop.cancel();
        tasks.join_next().await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_is_accepted_sends_at_once() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let _client = TcpStream::connect(at).await.unwrap();
        let (accepted, _) = accept(&listener).await.unwrap();
        assert!(accepted.nodelay().unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_never_ends_ends_its_connection() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut tasks = JoinSet::new();
        let seat = Arc::new(Seat::new());
        tasks.spawn(async move {
            connection(server, Router::new(), Cancel::new(), &seat).await;
        });
        // Time passes as fast as it can: the next thing that happens is the end of its patience.
        tokio::time::advance(Duration::from_millis(1)).await;
        client.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("\"code\":\"timeout\""), "{answer}");
        tasks.join_next().await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_comes_ends_without_a_word() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let seat = Arc::new(Seat::new());
            connection(server, Router::new(), Cancel::new(), &seat).await;
        });
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "");
        tasks.join_next().await.unwrap().unwrap();
    }
}
