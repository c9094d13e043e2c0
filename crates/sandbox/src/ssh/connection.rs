//! One connection to the other machine, made when it is needed and again when it has dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use outfitter_core::SandboxError;
use russh::client::{Config, Handle, Msg, connect};
use russh::{Channel, ChannelMsg};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::host_key::{HostKey, KnownHost};
use super::prove::{NotTaken, Prover};
use super::remote::Remote;
use super::script::MAX_LINE_BYTES;

/// How long the other machine may take to open a channel, once it is connected.
const CHANNEL_TIMEOUT: Duration = Duration::from_secs(20);

/// How long one of our own scripts may take.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to wait before each further attempt to connect.
const BACKOFF: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
];

/// How long a failure to connect is the answer to all who ask, before it is tried again.
const FAILURE_SHARED: Duration = Duration::from_secs(3);

/// How many of our own scripts run at once.
const MAX_ASKING: usize = 2;

/// The most that one of our own scripts may say.
const MAX_SAID_BYTES: usize = 64 * 1024;

pub(crate) struct Connection {
    remote: Remote,
    prover: Prover,
    live: tokio::sync::Mutex<Live>,
    /// How many connections there have been.
    made: AtomicU64,
    asking: Semaphore,
}

/// The connection, as far as there is one.
#[derive(Default)]
struct Live {
    handle: Option<Arc<Handle<HostKey>>>,
    /// Why the last attempts failed, and when.
    failed: Option<(NoConnection, Instant)>,
}

/// A channel on which nothing has been asked yet.
pub(super) struct Opened(Channel<Msg>);

impl Opened {
    /// Starts a line on it.
    pub(super) async fn start(self, line: String) -> Result<Channel<Msg>, SandboxError> {
        if line.len() > MAX_LINE_BYTES {
            return Err(SandboxError::Invalid(format!(
                "the command and its environment are longer than {MAX_LINE_BYTES} bytes"
            )));
        }
        let started = self.0.exec(true, line).await;
        started.map_err(|error| lost(error.to_string()))?;
        Ok(self.0)
    }
}

/// Opens a channel; the inner error is one of the connection.
async fn open_on(handle: &Handle<HostKey>) -> Result<Result<Opened, russh::Error>, SandboxError> {
    let opened = timeout(CHANNEL_TIMEOUT, handle.channel_open_session()).await;
    let opened = opened.map_err(|_| silent(CHANNEL_TIMEOUT))?;
    Ok(opened.map(Opened))
}

/// A server that is there and says nothing, as one that was stopped.
fn silent(after: Duration) -> SandboxError {
    lost(format!("it did not answer within {} s", after.as_secs()))
}

/// Why there is no connection.
#[derive(Clone)]
pub(super) struct NoConnection {
    pub(super) reason: String,
    pub(super) hint: Option<String>,
}

impl From<NoConnection> for SandboxError {
    fn from(NoConnection { reason, hint }: NoConnection) -> Self {
        Self::Unavailable { reason, hint }
    }
}

pub(super) enum Failure {
    /// Trying again cannot help.
    Final(NoConnection),
    /// It may help.
    Passing(String),
}

impl Connection {
    pub(super) fn new(remote: Remote) -> Result<Self, SandboxError> {
        let prover = Prover::of(&remote.identity)?;
        Ok(Self {
            remote,
            prover,
            live: tokio::sync::Mutex::default(),
            made: AtomicU64::new(0),
            asking: Semaphore::new(MAX_ASKING),
        })
    }

    pub(super) fn workspace(&self) -> &str {
        &self.remote.workspace
    }

    /// Starts a line on a channel of its own.
    pub(super) async fn start(&self, line: String) -> Result<Channel<Msg>, SandboxError> {
        self.channel().await?.start(line).await
    }

    /// A channel to one of the machine's own servers.
    pub(super) async fn subsystem(&self, name: &str) -> Result<Channel<Msg>, SandboxError> {
        let Opened(mut channel) = self.channel().await?;
        channel
            .request_subsystem(true, name)
            .await
            .map_err(|error| lost(error.to_string()))?;
        // Until then nothing may be sent.
        let answer = async {
            loop {
                match channel.wait().await {
                    Some(ChannelMsg::Success) => return true,
                    Some(ChannelMsg::Failure) | None => return false,
                    Some(_) => {}
                }
            }
        };
        match timeout(CHANNEL_TIMEOUT, answer).await {
            Ok(true) => Ok(channel),
            Ok(false) => Err(lost(format!("it has no server of files ({name})"))),
            Err(_) => Err(silent(CHANNEL_TIMEOUT)),
        }
    }

    /// Connects where there is no connection, and gives the number of the one there is.
    pub(super) async fn number(&self) -> Result<u64, SandboxError> {
        self.handle().await?;
        Ok(self.made.load(Ordering::Relaxed))
    }

    /// Whether there is a connection, as far as is known.
    pub(super) fn is_live(&self) -> bool {
        self.live.try_lock().is_ok_and(|live| {
            live.handle
                .as_ref()
                .is_some_and(|handle| !handle.is_closed())
        })
    }

    /// A channel, on which nothing has been asked yet. That a connection is gone may show only here,
    /// and then one more is made.
    pub(super) async fn channel(&self) -> Result<Opened, SandboxError> {
        let handle = self.handle().await?;
        match open_on(&handle).await? {
            Ok(channel) => return Ok(channel),
            // It is there, and has as many as it takes.
            Err(error @ russh::Error::ChannelOpenFailure(_)) => {
                return Err(lost(error.to_string()));
            }
            Err(_) => {}
        }
        let mut live = self.live.lock().await;
        live.handle.take_if(|live| Arc::ptr_eq(live, &handle));
        drop(live);
        let handle = self.handle().await?;
        let again = open_on(&handle).await?;
        again.map_err(|error| lost(error.to_string()))
    }

    /// Runs one of our own lines and gives what it said. Few at a time: a connection has ten
    /// channels with OpenSSH.
    pub(super) async fn ask(&self, line: String) -> Result<String, SandboxError> {
        let _one_of_few = self.asking.acquire().await;
        let mut channel = self.start(line).await?;
        let said = timeout(SCRIPT_TIMEOUT, async {
            let mut said = Vec::new();
            while let Some(message) = channel.wait().await {
                match message {
                    ChannelMsg::Data { data } if said.len() + data.len() <= MAX_SAID_BYTES => {
                        said.extend_from_slice(&data);
                    }
                    ChannelMsg::Failure => return Err(lost("it runs no commands")),
                    _ => {}
                }
            }
            Ok(said)
        });
        let said = said.await.map_err(|_| lost("it does not answer"))??;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    async fn handle(&self) -> Result<Arc<Handle<HostKey>>, SandboxError> {
        // Held while connecting: whoever comes meanwhile shares what comes of it.
        let mut live = self.live.lock().await;
        if let Some(handle) = live.handle.as_ref().filter(|handle| !handle.is_closed()) {
            return Ok(Arc::clone(handle));
        }
        live.handle = None;
        if let Some((why, at)) = &live.failed
            && at.elapsed() < FAILURE_SHARED
        {
            return Err(why.clone().into());
        }
        match self.connect_in_a_few_attempts().await {
            Ok(handle) => {
                self.made.fetch_add(1, Ordering::Relaxed);
                let handle = Arc::new(handle);
                *live = Live {
                    handle: Some(Arc::clone(&handle)),
                    failed: None,
                };
                Ok(handle)
            }
            Err(why) => {
                live.failed = Some((why.clone(), Instant::now()));
                Err(why.into())
            }
        }
    }

    async fn connect_in_a_few_attempts(&self) -> Result<Handle<HostKey>, NoConnection> {
        let mut waits = BACKOFF.iter();
        loop {
            match self.connect().await {
                Ok(handle) => return Ok(handle),
                Err(Failure::Final(why)) => return Err(why),
                Err(Failure::Passing(why)) => match waits.next() {
                    Some(wait) => sleep(*wait).await,
                    None => return Err(self.unreachable(&why)),
                },
            }
        }
    }

    async fn connect(&self) -> Result<Handle<HostKey>, Failure> {
        match timeout(self.remote.connect_timeout, self.connect_once()).await {
            Ok(connected) => connected,
            Err(_) => Err(Failure::Passing("it does not answer".to_owned())),
        }
    }

    async fn connect_once(&self) -> Result<Handle<HostKey>, Failure> {
        let refusal = Arc::new(Mutex::new(None));
        let (host, port) = (self.remote.host.as_str(), self.remote.port);
        let known = KnownHost::read(&self.remote.known_hosts, host, port);
        let known = known.map_err(|why| self.not_known(&why))?;
        let config = Config {
            keepalive_interval: Some(self.remote.keepalive),
            keepalive_max: 3,
            nodelay: true,
            preferred: known.preferred(),
            ..Config::default()
        };
        let verifier = HostKey {
            host: host.to_owned(),
            file: self.remote.known_hosts.clone(),
            known,
            refusal: Arc::clone(&refusal),
        };
        let mut handle = connect(Arc::new(config), (host, port), verifier)
            .await
            .map_err(|error| {
                let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner);
                match refused.as_ref() {
                    Some(why) => self.not_known(why),
                    None => Failure::Passing(error.to_string()),
                }
            })?;
        let user = &self.remote.user;
        match self.prover.prove(user, &mut handle).await? {
            Ok(()) => Ok(handle),
            Err(NotTaken(shown)) => Err(Failure::Final(NoConnection {
                reason: format!("{} does not take {shown} for {user}", self.remote.name()),
                hint: Some("add its public half to the account's authorized_keys".to_owned()),
            })),
        }
    }

    fn not_known(&self, why: &str) -> Failure {
        Failure::Final(NoConnection {
            reason: format!("{}: {why}", self.remote.name()),
            hint: Some(
                "compare the fingerprint with the host's own and add its key to the known_hosts \
                 of [sandbox] ssh"
                    .to_owned(),
            ),
        })
    }

    fn unreachable(&self, why: &str) -> NoConnection {
        NoConnection {
            reason: format!("{} cannot be reached: {why}", self.remote.name()),
            hint: None,
        }
    }
}

pub(super) const FAILED: &str = "the connection to the other machine failed: ";

pub(super) fn lost(why: impl Into<String>) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!("{FAILED}{}", why.into()),
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;
    use crate::ssh::Identity;

    #[tokio::test]
    async fn those_who_wait_for_a_dead_host_share_one_series_of_attempts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let known_hosts = tempfile::NamedTempFile::new().unwrap();
        let remote = Remote {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            user: "nobody".to_owned(),
            identity: Identity::Agent("/nowhere".into()),
            known_hosts: known_hosts.path().to_owned(),
            workspace: "/".to_owned(),
            connect_timeout: Duration::from_secs(60),
            keepalive: Duration::from_secs(15),
        };
        let connection = Arc::new(Connection::new(remote).unwrap());
        let attempts = Arc::new(AtomicUsize::new(0));
        let mut host = JoinSet::new();
        let counted = Arc::clone(&attempts);
        host.spawn(async move {
            while let Ok((hung_up, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                drop(hung_up);
            }
        });
        let mut asking = JoinSet::new();
        for _ in 0..5 {
            let connection = Arc::clone(&connection);
            asking.spawn(async move { connection.handle().await.map(drop) });
        }
        for answer in asking.join_all().await {
            let error = answer.unwrap_err().to_string();
            assert!(error.contains("cannot be reached"), "{error}");
        }
        assert_eq!(attempts.load(Ordering::Relaxed), 1 + BACKOFF.len());
    }
}
