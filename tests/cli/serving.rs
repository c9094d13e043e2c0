//! The program as a server, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::marker::PhantomData;
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::world::World;

/// A server that is killed if the test ends before it.
pub(crate) struct Serving<'w> {
    child: std::process::Child,
    /// The world it works in stays as long as it does.
    world: PhantomData<&'w World>,
    address: String,
    /// What it said when it was ready.
    pub(crate) said: Value,
}

/// What it answered.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }
}

impl<'w> Serving<'w> {
    /// Serves as the configuration says.
    pub(crate) fn start(world: &'w World) -> Self {
        #[expect(
            clippy::disallowed_types,
            reason = "a test runs the program as a person does"
        )]
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_outfitter"))
            .args(["serve", "--json"])
            .env_clear()
            .env("HOME", world.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(world.path("here"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut first).unwrap();
        let said: Value = serde_json::from_str(&first).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().to_owned();
        Self {
            child,
            world: PhantomData,
            address,
            said,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A request that is left in the middle, once `found` is in a line of the answer.
    pub(crate) fn leave<T>(&self, line: &str, body: &str, found: impl Fn(&str) -> Option<T>) -> T {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        self.send(&mut stream, line, "", body);
        let lines = BufReader::new(stream).lines();
        let mut lines = lines.map(Result::unwrap);
        let found = lines.find_map(|line| found(&line));
        found.unwrap_or_else(|| panic!("it is in no line of the answer to {line}"))
    }

    /// A request of these lines after the first, with this body.
    pub(crate) fn ask(&self, line: &str, headers: &str, body: &str) -> Answered {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        self.send(&mut stream, line, headers, body);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Answered {
            status,
            body: if chunked {
                joined(body)
            } else {
                body.to_owned()
            },
        }
    }

    fn send(&self, stream: &mut TcpStream, line: &str, headers: &str, body: &str) {
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
    }
}

/// A body in chunks, put together.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&rest[..size]);
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
