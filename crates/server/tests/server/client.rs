//! A small HTTP client that shows what is on the wire, and can vanish.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// So long that only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A request under construction.
pub(crate) struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

pub(crate) fn get(path: impl Into<String>) -> Ask {
    Ask::new("GET", path.into())
}

pub(crate) fn delete(path: impl Into<String>) -> Ask {
    Ask::new("DELETE", path.into())
}

pub(crate) fn post(path: impl Into<String>, body: &Value) -> Ask {
    Ask::new("POST", path.into())
        .header("content-type", "application/json")
        .body(body.to_string())
}

impl Ask {
    pub(crate) fn new(method: &'static str, path: String) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body: None,
        }
    }

    /// Sets a header; an empty value takes it out.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn by(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) async fn open(self, at: SocketAddr) -> Reply {
        Reply::read(BufReader::new(self.ask(at).await)).await
    }

    /// Asks, and reads nothing. Who drops what this gives hangs up.
    pub(crate) async fn ask(self, at: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            head.push_str(&format!("host: {at}\r\n"));
        }
        for (name, value) in self.headers.iter().filter(|(_, value)| !value.is_empty()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses a large body may hang up before it has read all of it.
        let _ = stream
            .write_all(self.body.as_deref().unwrap_or_default())
            .await;
        stream
    }

    /// The whole answer.
    pub(crate) async fn send(self, at: SocketAddr) -> Whole {
        let mut reply = self.open(at).await;
        let mut body = Vec::new();
        while let Some(piece) = reply.piece().await {
            body.extend(piece);
        }
        Whole {
            status: reply.status,
            headers: reply.headers,
            body,
        }
    }
}

/// An answer whose body is still coming.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    stream: BufReader<TcpStream>,
    left: Left,
    buffer: Vec<u8>,
}

enum Left {
    Chunks,
    Bytes(usize),
}

impl Reply {
    async fn read(mut stream: BufReader<TcpStream>) -> Self {
        let first = line(&mut stream).await;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = HashMap::new();
        loop {
            let line = line(&mut stream).await;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let left = match headers.get("content-length") {
            Some(length) => Left::Bytes(length.parse().unwrap()),
            None if headers.contains_key("transfer-encoding") => Left::Chunks,
            None => Left::Bytes(0),
        };
        Self {
            status,
            headers,
            stream,
            left,
            buffer: Vec::new(),
        }
    }

    /// The next piece of the body; none at its proper end.
    pub(crate) async fn piece(&mut self) -> Option<Vec<u8>> {
        match self.left {
            Left::Bytes(0) => None,
            Left::Bytes(length) => {
                let mut bytes = vec![0; length];
                self.stream.read_exact(&mut bytes).await.unwrap();
                self.left = Left::Bytes(0);
                Some(bytes)
            }
            Left::Chunks => {
                let size = patient(line(&mut self.stream)).await;
                let size = usize::from_str_radix(&size, 16).unwrap();
                let mut bytes = vec![0; size + 2];
                self.stream.read_exact(&mut bytes).await.unwrap();
                bytes.truncate(size);
                (size > 0).then_some(bytes)
            }
        }
    }

    /// The next line of an NDJSON body.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let piece = self.piece().await?;
            self.buffer.extend(piece);
        }
    }

    /// The lines up to and with the first one of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            let found = line["type"] == kind;
            lines.push(line);
            if found {
                return lines;
            }
        }
        panic!("no {kind} in {lines:#?}");
    }

    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        lines
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    patient(stream.read_line(&mut line)).await.unwrap();
    assert!(line.ends_with("\r\n"), "the connection broke off: {line:?}");
    line.trim_end().to_owned()
}

pub(crate) async fn patient<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.unwrap()
}

/// A whole answer.
pub(crate) struct Whole {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Whole {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Asserts that it is a problem document of this status and code.
    pub(crate) fn is_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status);
    }

    /// The events of a server-sent stream.
    pub(crate) fn sse(&self) -> Vec<Value> {
        self.text()
            .split("\n\n")
            .filter_map(|frame| frame.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}
