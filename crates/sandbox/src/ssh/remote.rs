//! The other machine, and who we are there.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

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

/// How we prove who we are. Ed25519, ECDSA, and RSA with SHA-2; never a password.
#[derive(Debug, Clone)]
pub enum Identity {
    /// By a private key in a file, in OpenSSH's form. Where a certificate lies beside it, by name
    /// with `-cert.pub`, that is shown first.
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What opens the key, where it is locked.
        passphrase: Option<SecretString>,
    },
    /// By any key or certificate of the agent that listens at this socket.
    Agent(PathBuf),
}

impl Remote {
    /// How it is called in a message.
    pub(super) fn name(&self) -> String {
        format!("the host {} (port {})", self.host, self.port)
    }
}
