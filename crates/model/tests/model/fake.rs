//! A server that sends exactly the bytes it is told to, over a real socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the server does in answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes these bytes in a write of its own.
    Send(Vec<u8>),
    /// Writes these bytes again and again until the client goes away.
    Drip(Vec<u8>),
    /// Sends nothing more until the client goes away.
    WaitForClose,
    /// Closes the connection.
    Close,
}

/// One request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Gives the answer to a request; none closes the connection.
type Answer = Box<dyn FnMut(&Received) -> Option<Vec<Step>> + Send>;

struct State {
    answer: Answer,
    received: Vec<Received>,
    connections: usize,
}

/// The server. Dropping it ends it.
pub(crate) struct Fake {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
    closed: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl Fake {
    /// Answers the first request with the first list of steps, and so on.
    pub(crate) async fn start(answers: impl IntoIterator<Item = Vec<Step>>) -> Self {
        let mut answers: VecDeque<Vec<Step>> = answers.into_iter().collect();
        Self::answering(move |_| answers.pop_front()).await
    }

    /// Answers each request as it is told to.
    pub(crate) async fn answering(
        answer: impl FnMut(&Received) -> Option<Vec<Step>> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(Mutex::new(State {
            answer: Box::new(answer),
            received: Vec::new(),
            connections: 0,
        }));
        let (closing, closed) = watch::channel(0);
        let mut tasks = JoinSet::new();
        let shared = state.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                shared.lock().unwrap().connections += 1;
                let (shared, closing) = (shared.clone(), closing.clone());
                connections.spawn(async move {
                    serve(socket, &shared).await;
                    closing.send_modify(|count| *count += 1);
                });
            }
        });
        Self {
            address,
            state,
            closed,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    /// Ends when `count` connections are over.
    pub(crate) async fn closed(&self, count: usize) {
        let mut closed = self.closed.clone();
        let over = closed.wait_for(|now| *now >= count);
        tokio::time::timeout(Duration::from_secs(60), over)
            .await
            .expect("the connection stays open")
            .unwrap();
    }
}

async fn serve(mut socket: TcpStream, state: &Mutex<State>) {
    socket.set_nodelay(true).unwrap();
    while let Some(received) = read_request(&mut socket).await {
        let steps = {
            let mut state = state.lock().unwrap();
            let steps = (state.answer)(&received);
            state.received.push(received);
            steps
        };
        let Some(steps) = steps else { return };
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Send(bytes) => {
                    if socket.write_all(&bytes).await.is_err() {
                        return;
                    }
                    // So that the client sees the pieces as pieces, most of the time; it must be
                    // right either way.
                    if at < 100 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    } else {
                        tokio::task::yield_now().await;
                    }
                }
                Step::Drip(bytes) => {
                    while socket.write_all(&bytes).await.is_ok() {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    return;
                }
                Step::WaitForClose => {
                    let mut rest = [0; 64];
                    while matches!(socket.read(&mut rest).await, Ok(n) if n > 0) {}
                    return;
                }
                Step::Close => return,
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut received = Received {
        path,
        headers,
        body: bytes.split_off(head + 4),
    };
    let length: usize = received.header("content-length")?.parse().unwrap();
    while received.body.len() < length {
        if socket.read_buf(&mut received.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(received)
}

pub(crate) fn send(text: impl AsRef<[u8]>) -> Step {
    Step::Send(text.as_ref().to_vec())
}

fn head(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}\r\n").into_bytes()
}

/// The head of a chunked stream of events.
pub(crate) fn stream_head() -> Step {
    Step::Send(head(
        "200 OK",
        "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-request-id: req-7\r\n",
    ))
}

/// The head of a stream of events that ends with its connection.
pub(crate) fn close_delimited_head() -> Step {
    Step::Send(head(
        "200 OK",
        "content-type: text/event-stream\r\nconnection: close\r\n",
    ))
}

/// One HTTP chunk.
pub(crate) fn chunk(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(framed(bytes.as_ref()))
}

/// The same HTTP chunk without end.
pub(crate) fn drip(bytes: impl AsRef<[u8]>) -> Step {
    Step::Drip(framed(bytes.as_ref()))
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

/// The last chunk.
pub(crate) fn last_chunk() -> Step {
    send("0\r\n\r\n")
}

/// A chunked stream in pieces of `size` bytes.
pub(crate) fn stream_in(size: usize, body: &str) -> Vec<Step> {
    let mut steps = vec![stream_head()];
    steps.extend(body.as_bytes().chunks(size).map(chunk));
    steps.push(last_chunk());
    steps
}

/// A chunked stream in one piece.
pub(crate) fn stream(body: &str) -> Vec<Step> {
    stream_in(usize::MAX, body)
}

/// A whole response.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let headers = format!("content-length: {}\r\n{headers}", body.len());
    let mut bytes = head(status, &headers);
    bytes.extend_from_slice(body.as_bytes());
    vec![Step::Send(bytes)]
}

/// A whole response of JSON.
pub(crate) fn json(status: &str, body: &str) -> Vec<Step> {
    whole(status, "content-type: application/json\r\n", body)
}
