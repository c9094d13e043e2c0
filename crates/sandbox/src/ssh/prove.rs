//! How we prove who we are: by a key, by a certificate of it, or by those of an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::SandboxError;
use outfitter_text::regular_file::{open_regular_file, read_regular_text};
use russh::client::{AuthResult, Handle};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{
    Algorithm, Certificate, HashAlg, PrivateKey, PrivateKeyWithHashAlg, load_secret_key,
};
use secrecy::ExposeSecret;

use super::connection::{Failure, NoConnection};
use super::host_key::{HostKey, MAX_KEYS_BYTES};
use super::remote::Identity;

/// How many keys of an agent are tried; servers take six before they hang up.
const MAX_AGENT_KEYS: usize = 5;

/// What the name of a certificate has more than that of its key.
const CERTIFICATE: &str = "-cert.pub";

/// A key that has been read, or where to find one.
pub(super) enum Prover {
    Key {
        key: Arc<PrivateKey>,
        certificate: Option<Box<Certificate>>,
        path: PathBuf,
    },
    Agent(PathBuf),
}

/// What was shown and not taken, in words.
pub(super) struct NotTaken(pub(super) String);

impl Prover {
    pub(super) fn of(identity: &Identity) -> Result<Self, SandboxError> {
        match identity {
            Identity::KeyFile { path, passphrase } => {
                let passphrase = passphrase.as_ref().map(ExposeSecret::expose_secret);
                let there = open_regular_file(path);
                there.map_err(|error| unusable("key file", path, &error.to_string()))?;
                let key = load_secret_key(path, passphrase);
                let key = key.map_err(|error| unusable("key file", path, &error.to_string()))?;
                Ok(Self::Key {
                    certificate: certificate_of(&key, path)?,
                    key: Arc::new(key),
                    path: path.clone(),
                })
            }
            Identity::Agent(socket) => Ok(Self::Agent(socket.clone())),
        }
    }

    /// Proves it for this account.
    pub(super) async fn prove(
        &self,
        user: &str,
        handle: &mut Handle<HostKey>,
    ) -> Result<Result<(), NotTaken>, Failure> {
        match self {
            Self::Key {
                key,
                certificate,
                path,
            } => {
                if let Some(certificate) = certificate {
                    let (key, certificate) = (Arc::clone(key), Certificate::clone(certificate));
                    let shown = handle.authenticate_openssh_cert(user, key, certificate);
                    if is_taken(shown.await)? {
                        return Ok(Ok(()));
                    }
                }
                let best = hash_for(&key.algorithm(), handle).await?;
                // A server may know the longer one and be told to take the shorter.
                let other = best.filter(|best| *best == HashAlg::Sha512);
                let hashes = [Some(best), other.map(|_| Some(HashAlg::Sha256))];
                for hash in hashes.into_iter().flatten() {
                    let key = PrivateKeyWithHashAlg::new(Arc::clone(key), hash);
                    if is_taken(handle.authenticate_publickey(user, key).await)? {
                        return Ok(Ok(()));
                    }
                }
                let with = if certificate.is_some() {
                    " or its certificate"
                } else {
                    ""
                };
                Ok(Err(NotTaken(format!("the key {}{with}", path.display()))))
            }
            Self::Agent(socket) => {
                let tried = show_keys_of(socket, user, handle).await?;
                Ok(match tried {
                    None => Ok(()),
                    Some(tried) => Err(NotTaken(format!(
                        "any of the {tried} keys of the agent at {}",
                        socket.display()
                    ))),
                })
            }
        }
    }
}

/// The certificate that lies beside a key, if one does.
fn certificate_of(key: &PrivateKey, path: &Path) -> Result<Option<Box<Certificate>>, SandboxError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(CERTIFICATE);
    let beside = PathBuf::from(beside);
    let text = match read_regular_text(&beside, MAX_KEYS_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable("certificate", &beside, &error.to_string())),
    };
    let certificate = Certificate::from_openssh(&text)
        .map_err(|error| unusable("certificate", &beside, &error.to_string()))?;
    if certificate.public_key() != key.public_key().key_data() {
        return Err(unusable("certificate", &beside, "it is of another key"));
    }
    if matches!(certificate.algorithm(), Algorithm::Rsa { .. }) {
        let why = "certificates of RSA keys are taken from an agent only";
        return Err(unusable("certificate", &beside, why));
    }
    Ok(Some(Box::new(certificate)))
}

fn unusable(what: &str, path: &Path, why: &str) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!("the {what} {} cannot be used: {why}", path.display()),
        hint: None,
    }
}

fn is_taken(shown: Result<AuthResult, russh::Error>) -> Result<bool, Failure> {
    match shown {
        Ok(shown) => Ok(shown.success()),
        Err(error) => Err(Failure::Passing(error.to_string())),
    }
}

/// The hash to sign with, where that is not a matter of the key: SHA-2 for RSA, the longer one that
/// the server takes, also of a server that does not say. Never SHA-1.
async fn hash_for(
    algorithm: &Algorithm,
    handle: &Handle<HostKey>,
) -> Result<Option<HashAlg>, Failure> {
    if !matches!(algorithm, Algorithm::Rsa { .. }) {
        return Ok(None);
    }
    match handle.best_supported_rsa_hash().await {
        Ok(Some(Some(hash))) => Ok(Some(hash)),
        Ok(Some(None)) => Err(Failure::Final(NoConnection {
            reason: "it takes RSA keys with SHA-1 only, which can be forged".to_owned(),
            hint: Some("take an Ed25519 key".to_owned()),
        })),
        Ok(None) => Ok(Some(HashAlg::Sha512)),
        Err(error) => Err(Failure::Passing(error.to_string())),
    }
}

/// Shows the keys and certificates of an agent, one after the other. Gives how many were tried, or
/// nothing once one was taken.
async fn show_keys_of(
    socket: &Path,
    user: &str,
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
        tried += 1;
        let shown = match identity {
            AgentIdentity::PublicKey { key, .. } => {
                let hash = hash_for(&key.algorithm(), handle).await?;
                let shown = handle.authenticate_publickey_with(user, key, hash, &mut agent);
                shown.await
            }
            AgentIdentity::Certificate { certificate, .. } => {
                let hash = hash_for(&certificate.algorithm(), handle).await?;
                let shown =
                    handle.authenticate_certificate_with(user, certificate, hash, &mut agent);
                shown.await
            }
        };
        // The next one may be taken, also where the agent will not sign with this one.
        if shown.is_ok_and(|shown| shown.success()) {
            return Ok(None);
        }
    }
    Ok(Some(tried))
}
