//! One connection to the other machine, made when it is needed and again when it has dropped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use outfitter_core::SandboxError;
use russh::client::{Config, Handle, Msg, connect};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, load_secret_key};
use russh::{Channel, ChannelMsg};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::host_key::HostKey;
use super::script::MAX_LINE_BYTES;

/// How long the other machine may take to open a channel, once it is connected.
const CHANNEL_TIMEOUT: Duration = Duration::from_secs(20);

/// How many keys of an agent are tried; servers take six before they hang up.
const MAX_AGENT_KEYS: usize = 5;

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

/// The other machine, and who we are there.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The account.
    pub user: String,
    /// How we prove that we may.
    pub identity: Identity,
    /// The file of keys of known hosts. A host that is not in it is refused.
    pub known_hosts: PathBuf,
    /// The directory of the session there, absolute.
    pub workspace: String,
    /// How long connecting and proving who we are may take.
    pub connect_timeout: Duration,
    /// After this long without a word from the other machine it is asked whether it is there; it is
    /// given up after three questions without an answer.
    pub keepalive: Duration,
}

/// How we prove who we are. Ed25519 and ECDSA; never a password.
#[derive(Debug, Clone)]
pub enum Identity {
    /// By a private key in a file, in OpenSSH's form.
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What opens the key, where it is locked.
        passphrase: Option<SecretString>,
    },
    /// By any key of the agent that listens at this socket.
    Agent(PathBuf),
}

/// A key that has been read, or where to find one.
enum Prover {
    Key(Arc<PrivateKey>, PathBuf),
    Agent(PathBuf),
}

pub(crate) struct Connection {
    remote: Remote,
    prover: Prover,
    live: tokio::sync::Mutex<Live>,
    asking: Semaphore,
}

/// The connection, as far as there is one.
#[derive(Default)]
struct Live {
    handle: Option<Arc<Handle<HostKey>>>,
    /// Why the last attempts failed, and when.
    failed: Option<(NoConnection, Instant)>,
}

/// Why there is no connection.
#[derive(Clone)]
struct NoConnection {
    reason: String,
    hint: Option<String>,
}

impl From<NoConnection> for SandboxError {
    fn from(NoConnection { reason, hint }: NoConnection) -> Self {
        Self::Unavailable { reason, hint }
    }
}

enum Failure {
    /// Trying again cannot help.
    Final(NoConnection),
    /// It may help.
    Passing(String),
}

impl Connection {
    pub(super) fn new(remote: Remote) -> Result<Self, SandboxError> {
        let prover = match &remote.identity {
            Identity::KeyFile { path, passphrase } => {
                let passphrase = passphrase.as_ref().map(ExposeSecret::expose_secret);
                let key = load_secret_key(path, passphrase);
                let key = key.map_err(|error| SandboxError::Unavailable {
                    reason: format!("the key file {} cannot be used: {error}", path.display()),
                    hint: None,
                })?;
                Prover::Key(Arc::new(key), path.clone())
            }
            Identity::Agent(socket) => Prover::Agent(socket.clone()),
        };
        Ok(Self {
            remote,
            prover,
            live: tokio::sync::Mutex::default(),
            asking: Semaphore::new(MAX_ASKING),
        })
    }

    pub(super) fn workspace(&self) -> &str {
        &self.remote.workspace
    }

    /// Starts a line on a channel of its own.
    pub(super) async fn start(&self, line: String) -> Result<Channel<Msg>, SandboxError> {
        if line.len() > MAX_LINE_BYTES {
            return Err(SandboxError::Invalid(format!(
                "the command and its environment are longer than {MAX_LINE_BYTES} bytes"
            )));
        }
        let channel = self.channel().await?;
        channel
            .exec(true, line)
            .await
            .map_err(|error| lost(error.to_string()))?;
        Ok(channel)
    }

    /// A channel to one of the machine's own servers.
    pub(super) async fn subsystem(&self, name: &str) -> Result<Channel<Msg>, SandboxError> {
        let mut channel = self.channel().await?;
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
            Err(_) => Err(lost("it does not answer")),
        }
    }

    /// Whether there is a connection, as far as is known.
    pub(super) fn is_live(&self) -> bool {
        self.live.try_lock().is_ok_and(|live| {
            live.handle
                .as_ref()
                .is_some_and(|handle| !handle.is_closed())
        })
    }

    async fn channel(&self) -> Result<Channel<Msg>, SandboxError> {
        let handle = self.handle().await?;
        timeout(CHANNEL_TIMEOUT, handle.channel_open_session())
            .await
            .map_err(|_| lost("it does not answer"))?
            .map_err(|error| lost(error.to_string()))
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
        let verifier = HostKey {
            host: self.remote.host.clone(),
            port: self.remote.port,
            known_hosts: self.remote.known_hosts.clone(),
            refusal: Arc::clone(&refusal),
        };
        let config = Config {
            keepalive_interval: Some(self.remote.keepalive),
            keepalive_max: 3,
            nodelay: true,
            ..Config::default()
        };
        let address = (self.remote.host.as_str(), self.remote.port);
        let mut handle = connect(Arc::new(config), address, verifier)
            .await
            .map_err(|error| {
                let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner);
                match refused.as_ref() {
                    Some(why) => Failure::Final(NoConnection {
                        reason: format!("{}: {why}", self.name()),
                        hint: Some(
                            "compare the fingerprint with the host's own and add its key to \
                             the known_hosts of [sandbox] ssh"
                                .to_owned(),
                        ),
                    }),
                    None => Failure::Passing(error.to_string()),
                }
            })?;
        let with = match &self.prover {
            Prover::Key(key, path) => {
                let key = PrivateKeyWithHashAlg::new(Arc::clone(key), None);
                let shown = handle
                    .authenticate_publickey(self.remote.user.clone(), key)
                    .await
                    .map_err(|error| Failure::Passing(error.to_string()))?;
                if shown.success() {
                    return Ok(handle);
                }
                format!("the key {}", path.display())
            }
            Prover::Agent(socket) => {
                let tried = self.show_keys_of(socket, &mut handle).await?;
                let Some(tried) = tried else {
                    return Ok(handle);
                };
                format!(
                    "any of the {tried} keys of the agent at {}",
                    socket.display()
                )
            }
        };
        Err(Failure::Final(NoConnection {
            reason: format!(
                "{} does not take {with} for {}",
                self.name(),
                self.remote.user
            ),
            hint: Some("add its public half to the account's authorized_keys".to_owned()),
        }))
    }

    /// Shows the keys of an agent, one after the other. Gives how many were tried, or nothing once
    /// one was taken.
    async fn show_keys_of(
        &self,
        socket: &Path,
        handle: &mut Handle<HostKey>,
    ) -> Result<Option<usize>, Failure> {
        let no_agent = |error: russh::keys::Error| {
            Failure::Final(NoConnection {
                reason: format!("the agent at {} cannot be asked: {error}", socket.display()),
                hint: None,
            })
        };
        let mut agent = AgentClient::connect_uds(socket).await.map_err(no_agent)?;
        let keys = agent.request_identities().await.map_err(no_agent)?;
        let mut tried = 0;
        for identity in keys.into_iter().take(MAX_AGENT_KEYS) {
            let AgentIdentity::PublicKey { key, .. } = identity else {
                continue;
            };
            tried += 1;
            let user = self.remote.user.clone();
            match handle
                .authenticate_publickey_with(user, key, None, &mut agent)
                .await
            {
                Ok(shown) if shown.success() => return Ok(None),
                // The next one may be taken, also where the agent will not sign with this one.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(Some(tried))
    }

    fn unreachable(&self, why: &str) -> NoConnection {
        NoConnection {
            reason: format!("{} cannot be reached: {why}", self.name()),
            hint: None,
        }
    }

    fn name(&self) -> String {
        format!("the host {} (port {})", self.remote.host, self.remote.port)
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn those_who_wait_for_a_dead_host_share_one_series_of_attempts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let remote = Remote {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            user: "nobody".to_owned(),
            identity: Identity::Agent("/nowhere".into()),
            known_hosts: "/nowhere".into(),
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
