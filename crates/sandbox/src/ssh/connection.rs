//! One connection to the other machine, made when it is needed and again when it has dropped.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outfitter_core::SandboxError;
use russh::client::{Config, Handle, Msg, connect};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, load_secret_key};
use russh::{Channel, ChannelMsg};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::host_key::HostKey;
use super::script::MAX_LINE_BYTES;

/// How long connecting and proving who we are may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long one of our own scripts may take.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to wait before each further attempt to connect.
const BACKOFF: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
];

/// After this long without a word from the other machine it is asked whether it is there; it is
/// given up after three questions without an answer.
const KEEPALIVE: Duration = Duration::from_secs(15);

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
    /// The file of our private key, in OpenSSH's form. Ed25519 and ECDSA.
    pub key_file: PathBuf,
    /// What opens the key, where it is locked.
    pub passphrase: Option<String>,
    /// The file of keys of known hosts. A host that is not in it is refused.
    pub known_hosts: PathBuf,
    /// The directory of the session there, absolute.
    pub workspace: String,
}

pub(crate) struct Connection {
    remote: Remote,
    key: Arc<PrivateKey>,
    live: tokio::sync::Mutex<Option<Arc<Handle<HostKey>>>>,
    asking: Semaphore,
}

enum Failure {
    /// Trying again cannot help.
    Final(SandboxError),
    /// It may help.
    Passing(String),
}

impl Connection {
    pub(super) fn new(remote: Remote) -> Result<Self, SandboxError> {
        let passphrase = remote.passphrase.as_deref();
        let key = load_secret_key(&remote.key_file, passphrase).map_err(|error| {
            SandboxError::Unavailable {
                reason: format!(
                    "the key file {} cannot be used: {error}",
                    remote.key_file.display()
                ),
                hint: None,
            }
        })?;
        Ok(Self {
            remote,
            key: Arc::new(key),
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
        match timeout(CONNECT_TIMEOUT, answer).await {
            Ok(true) => Ok(channel),
            Ok(false) => Err(lost(format!("it has no server of files ({name})"))),
            Err(_) => Err(lost("it does not answer")),
        }
    }

    /// Whether there is a connection, as far as is known.
    pub(super) fn is_live(&self) -> bool {
        self.live
            .try_lock()
            .is_ok_and(|live| live.as_ref().is_some_and(|handle| !handle.is_closed()))
    }

    async fn channel(&self) -> Result<Channel<Msg>, SandboxError> {
        let handle = self.handle().await?;
        timeout(CONNECT_TIMEOUT, handle.channel_open_session())
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
        if let Some(handle) = live.as_ref().filter(|handle| !handle.is_closed()) {
            return Ok(Arc::clone(handle));
        }
        *live = None;
        let mut waits = BACKOFF.iter();
        loop {
            match self.connect().await {
                Ok(handle) => {
                    let handle = Arc::new(handle);
                    *live = Some(Arc::clone(&handle));
                    return Ok(handle);
                }
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(why)) => match waits.next() {
                    Some(wait) => sleep(*wait).await,
                    None => return Err(self.unreachable(&why)),
                },
            }
        }
    }

    async fn connect(&self) -> Result<Handle<HostKey>, Failure> {
        match timeout(CONNECT_TIMEOUT, self.connect_once()).await {
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
            keepalive_interval: Some(KEEPALIVE),
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
                    Some(why) => Failure::Final(SandboxError::Unavailable {
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
        let key = PrivateKeyWithHashAlg::new(Arc::clone(&self.key), None);
        let shown = handle
            .authenticate_publickey(self.remote.user.clone(), key)
            .await
            .map_err(|error| Failure::Passing(error.to_string()))?;
        if shown.success() {
            return Ok(handle);
        }
        Err(Failure::Final(SandboxError::Unavailable {
            reason: format!(
                "{} does not take the key {} for {}",
                self.name(),
                self.remote.key_file.display(),
                self.remote.user
            ),
            hint: Some("add its public half to the account's authorized_keys".to_owned()),
        }))
    }

    fn unreachable(&self, why: &str) -> SandboxError {
        SandboxError::Unavailable {
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
