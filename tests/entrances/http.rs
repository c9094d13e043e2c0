//! A small HTTP client that waits, and can vanish.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use crate::world::HANGS;

/// Where a server is, and who speaks to it.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) address: String,
    /// The bearer token that is sent along.
    pub(crate) token: Option<&'static str>,
}

impl At {
    pub(crate) fn get(&self, path: &str) -> Whole {
        self.open("GET", path, &[], None).whole()
    }

    pub(crate) fn delete(&self, path: &str) -> Whole {
        self.open("DELETE", path, &[], None).whole()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Whole {
        self.open("POST", path, &[], Some(body)).whole()
    }

    /// A request whose answer is still coming.
    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        Reply::read(self.begin(method, path, headers, body))
    }

    /// A request of which not even an answer has begun to come. Dropping it hangs up.
    pub(crate) fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        if let Some(token) = self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            head += &format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            );
        }
        head += "\r\n";
        head += &body;
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }
}

/// An answer whose body is still coming.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    stream: BufReader<TcpStream>,
    chunked: bool,
    /// What has come and is not taken.
    buffer: Vec<u8>,
    over: bool,
}

impl Reply {
    /// Reads the head of the answer to a request that was begun.
    pub(crate) fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let first = line(&mut stream);
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = HashMap::new();
        loop {
            let line = line(&mut stream);
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let chunked = headers.contains_key("transfer-encoding");
        let length = headers.get("content-length");
        let length = length.map_or(0, |length| length.parse().unwrap());
        let mut buffer = Vec::new();
        if !chunked {
            buffer = vec![0; length];
            stream.read_exact(&mut buffer).unwrap();
        }
        Self {
            status,
            headers,
            stream,
            chunked,
            buffer,
            over: !chunked,
        }
    }

    fn more(&mut self) -> bool {
        if self.over || !self.chunked {
            return false;
        }
        let size = usize::from_str_radix(&line(&mut self.stream), 16).unwrap();
        let mut piece = vec![0; size + 2];
        self.stream.read_exact(&mut piece).unwrap();
        self.buffer.extend_from_slice(&piece[..size]);
        self.over = size == 0;
        !self.over
    }

    /// The next line of an NDJSON body.
    pub(crate) fn line(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// The lines up to and with the first one of this type.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            let found = line["type"] == kind;
            lines.push(line);
            if found {
                return lines;
            }
        }
        panic!("no {kind} in {lines:#?}");
    }

    /// Reads until a text has come.
    #[track_caller]
    pub(crate) fn until_text(&mut self, has: &str) {
        while !String::from_utf8_lossy(&self.buffer).contains(has) {
            assert!(self.more(), "no {has}");
        }
    }

    /// What has come until now and was not taken.
    pub(crate) fn taken(&self) -> String {
        String::from_utf8_lossy(&self.buffer).into_owned()
    }

    /// What remains, as text.
    pub(crate) fn whole(mut self) -> Whole {
        while self.more() {}
        Whole {
            status: self.status,
            headers: self.headers,
            text: String::from_utf8(self.buffer).unwrap(),
        }
    }

    /// Hangs up in the middle.
    pub(crate) fn vanish(self) {
        self.stream.get_ref().shutdown(Shutdown::Both).unwrap();
    }
}

fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.ends_with("\r\n"), "the connection broke off: {line:?}");
    line.trim_end().to_owned()
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) text: String,
}

impl Whole {
    /// Fails the test unless this is its status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Fails the test unless it is a problem document of this status and code.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.json()["code"], code, "{}", self.text);
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The data of server-sent events.
    #[track_caller]
    pub(crate) fn sse(&self) -> Vec<Value> {
        let data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        data.map(str::trim)
            .filter(|data| !data.is_empty())
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}
