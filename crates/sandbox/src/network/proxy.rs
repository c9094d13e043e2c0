//! The way out of one command: connections are accepted, looked at, and passed on or refused.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outfitter_core::{Refusal, Refused};
use outfitter_net::address;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::request::{Kind, MAX_HEAD, Request, parse};
use outfitter_net::{Allowed, AllowedHosts};

/// Connections of one command at a time; more wait.
const MAX_CONNECTIONS: usize = 64;

/// How long a command may take to say what it wants, and a server to answer the call.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Refusals that are told; more say nothing new.
const MAX_REFUSALS: usize = 16;

/// What a command was refused, as it is told afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<BTreeSet<Noted>>>);

/// Why, and the key that would allow it.
type Noted = (String, Option<&'static str>);

/// The name of the rule, and its key.
const RULE: &str = "network";
const KEY: &str = "[sandbox] network";

impl Refusals {
    fn note(&self, text: String, key: Option<&'static str>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < MAX_REFUSALS {
            noted.insert((text, key));
        }
    }

    /// Each host once.
    pub(crate) fn told(&self) -> Vec<Refusal> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = noted.iter().map(|(why, key)| Refusal {
            refused: Refused::Rule(RULE),
            allow: key.map(str::to_owned),
            why: why.clone(),
        });
        told.collect()
    }
}

/// Serves a command's way out for as long as it is awaited.
pub(crate) async fn serve(listener: TcpListener, hosts: Arc<AllowedHosts>, refusals: Refusals) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(one(stream, hosts.clone(), refusals.clone()));
            }
            // Out of descriptors, say: later there may be some.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// A connection that ends badly is between the command and the server.
async fn one(mut command: TcpStream, hosts: Arc<AllowedHosts>, refusals: Refusals) {
    let _ = command.set_nodelay(true);
    let Ok(Ok((head, rest))) = timeout(HEAD_TIMEOUT, read_head(&mut command)).await else {
        return;
    };
    let answer = match parse(&head) {
        Some(request) => match pass_on(&mut command, request, &rest, &hosts).await {
            Ok(()) => return,
            Err(no) => no,
        },
        None => No::NotUnderstood,
    };
    match &answer {
        No::Refused(why) => refusals.note(why.clone(), Some(KEY)),
        No::Never(why) => refusals.note(why.clone(), None),
        No::NotUnderstood | No::NotReached(_) => {}
    }
    let _ = command.write_all(answer.response().as_bytes()).await;
    let _ = command.shutdown().await;
}

/// Why nothing was passed on.
enum No {
    NotUnderstood,
    Refused(String),
    /// Whatever the configuration says.
    Never(String),
    NotReached(String),
}

impl No {
    fn response(&self) -> String {
        let (status, text) = match self {
            Self::NotUnderstood => (
                "400 Bad Request",
                "this proxy takes CONNECT, and requests with a whole http URL".to_owned(),
            ),
            Self::Refused(why) | Self::Never(why) => ("403 Forbidden", why.clone()),
            Self::NotReached(why) => ("502 Bad Gateway", why.clone()),
        };
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}\n",
            text.len() + 1
        )
    }
}

/// The head up to its empty line, and what came behind it.
async fn read_head(stream: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 || bytes.len() + count > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // The end may lie across two reads.
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(end) = bytes[from..]
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
        {
            let rest = bytes.split_off(from + end + 4);
            return Ok((bytes, rest));
        }
    }
}

async fn pass_on(
    command: &mut TcpStream,
    request: Request,
    rest: &[u8],
    hosts: &AllowedHosts,
) -> Result<(), No> {
    let Request { host, port, kind } = request;
    let Some(allowed) = hosts.allow(&host, port) else {
        return Err(No::Refused(format!(
            "{host}:{port} is not in [sandbox] network"
        )));
    };
    let mut server = connect(&host, port, allowed, hosts).await?;
    let _ = server.set_nodelay(true);
    let begun = match kind {
        Kind::Tunnel => {
            command
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await
        }
        Kind::Forward(head) => server.write_all(head.as_bytes()).await,
    };
    // From here on an error is the end of the connection and nothing that could be answered.
    if begun.is_ok() && server.write_all(rest).await.is_ok() {
        let _ = copy_bidirectional(command, &mut server).await;
    }
    Ok(())
}

/// Connects to an address that was looked at: the name is not resolved again.
async fn connect(
    host: &str,
    port: u16,
    allowed: Allowed,
    hosts: &AllowedHosts,
) -> Result<TcpStream, No> {
    let not_reached = |why: &str| No::NotReached(format!("{host}:{port} was not reached: {why}"));
    let found = timeout(CONNECT_TIMEOUT, lookup_host((host, port))).await;
    let found: Vec<SocketAddr> = match found {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) => return Err(not_reached(&error.to_string())),
        Err(_elapsed) => return Err(not_reached("its name took too long to resolve")),
    };
    if found.iter().any(|found| hosts.is_own(*found)) {
        return Err(No::Never(format!(
            "{host}:{port} is where this program listens itself, which no command reaches"
        )));
    }
    match allowed {
        Allowed::AsItIs => {}
        Allowed::IfPublic => {
            let is_closed = |found: &&SocketAddr| {
                !address::is_public(found.ip()) && !hosts.name_address(**found)
            };
            if let Some(other) = found.iter().find(is_closed) {
                return Err(No::Refused(format!(
                    "{host} leads to {}, which is not public: beside the name, \"{other}\" in \
                     [sandbox] network would open it",
                    other.ip()
                )));
            }
        }
    }
    match timeout(CONNECT_TIMEOUT, TcpStream::connect(&*found)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(not_reached(&error.to_string())),
        Err(_elapsed) => Err(not_reached("nobody answered")),
    }
}
