//! A server on this machine that keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::PATIENCE;

/// What was asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known == name)?;
        Some(value)
    }
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each request with what `reply` makes of it; nothing, and it never answers.
    pub(crate) fn new(reply: impl Fn(&Asked) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        let reply = Arc::new(reply);
        thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(one) = read(&stream) else { continue };
                kept.lock().unwrap().push(one.clone());
                match reply(&one) {
                    Some(bytes) => {
                        let _gone = stream.write_all(&bytes);
                    }
                    None => silent.push(stream),
                }
            }
        });
        Self { address, asked }
    }

    /// Answers everything with JSON.
    pub(crate) fn json(text: &'static str) -> Self {
        Self::new(move |_| Some(reply("200 OK", "application/json", text.as_bytes())))
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Asked {
        self.asked().last().cloned().unwrap_or_default()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

pub(crate) fn reply(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    with(status, &[("content-type", kind)], body)
}

pub(crate) fn with(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut reply = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in headers {
        reply.push_str(&format!("{name}: {value}\r\n"));
    }
    reply.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut reply = reply.into_bytes();
    reply.extend_from_slice(body);
    reply
}

fn read(stream: &TcpStream) -> Option<Asked> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let mut asked = Asked {
        line: lines.first()?.clone(),
        ..Asked::default()
    };
    for line in &lines[1..] {
        let (name, value) = line.split_once(": ")?;
        let pair = (name.to_ascii_lowercase(), value.to_owned());
        asked.headers.push(pair);
    }
    let length: usize = asked
        .header("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    asked.bytes = body;
    Some(asked)
}
