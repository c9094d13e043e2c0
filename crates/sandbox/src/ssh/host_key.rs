//! Who the other machine must be: the one whose key stands in a file of known hosts.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use russh::client::Handler;
use russh::keys::known_hosts::check_known_hosts_path;
use russh::keys::{HashAlg, PublicKeyOrCertificate};
use russh::keys::{PublicKey, PublicKeyBase64};

/// Looks a key up; what it has against one is left for who connects.
pub(super) struct HostKey {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) known_hosts: PathBuf,
    pub(super) refusal: Arc<Mutex<Option<String>>>,
}

impl HostKey {
    fn judge(&self, key: &PublicKey) -> Result<(), String> {
        let file = self.known_hosts.display();
        let fingerprint = key.fingerprint(HashAlg::Sha256);
        let text = std::fs::read_to_string(&self.known_hosts)
            .map_err(|error| format!("the known hosts {file} cannot be read: {error}"))?;
        let base64 = key.public_key_base64();
        let revoked = text
            .lines()
            .any(|line| line.trim_start().starts_with("@revoked") && line.contains(&base64));
        if revoked {
            return Err(format!("{file} says that the key {fingerprint} is revoked"));
        }
        match check_known_hosts_path(&self.host, self.port, key, &self.known_hosts) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!(
                "the host key {fingerprint} is not among the known hosts in {file}"
            )),
            Err(russh::keys::Error::KeyChanged { line }) => Err(format!(
                "the host key {fingerprint} is another than the one in line {line} of {file}"
            )),
            Err(error) => Err(format!("the known hosts {file} cannot be read: {error}")),
        }
    }
}

impl Handler for HostKey {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        let judged = match key {
            PublicKeyOrCertificate::PublicKey { key, .. } => self.judge(key),
            PublicKeyOrCertificate::Certificate(_) => {
                Err("it shows a certificate, which is not supported".to_owned())
            }
        };
        let fits = judged.is_ok();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = judged.err();
        Ok(fits)
    }
}
