//! Who the other machine must be: the one whose key stands in a file of known hosts, or that has a
//! certificate of an authority that does.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use outfitter_text::regular_file::read_regular_text;
use russh::Preferred;
use russh::client::Handler;
use russh::keys::known_hosts::known_host_keys_path;
use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{
    Algorithm, Certificate, HashAlg, PublicKey, PublicKeyBase64, PublicKeyOrCertificate,
};

/// The longest file of known hosts, and of a certificate, in bytes.
pub(super) const MAX_KEYS_BYTES: u64 = 16 * 1024 * 1024;

/// A file of known hosts, as far as it is about one host.
#[derive(Debug, Default)]
pub(super) struct KnownHost {
    /// Its keys, with their lines.
    keys: Vec<(usize, PublicKey)>,
    /// The authorities for it.
    authorities: Vec<PublicKey>,
    /// The lines that revoke a key, whoever's that is.
    revoked: Vec<String>,
}

impl KnownHost {
    /// What a file says of a host. Names may be hashed; those of authorities may have `*` and `?`.
    pub(super) fn read(file: &Path, host: &str, port: u16) -> Result<Self, String> {
        let cannot = |error: &dyn std::fmt::Display| {
            let file = file.display();
            format!("the known hosts {file} cannot be read: {error}")
        };
        let text = read_regular_text(file, MAX_KEYS_BYTES).map_err(|error| cannot(&error))?;
        let keys = known_host_keys_path(host, port, file).map_err(|error| cannot(&error))?;
        let name = match port {
            22 => host.to_owned(),
            port => format!("[{host}]:{port}"),
        };
        let mut known = Self {
            keys,
            ..Self::default()
        };
        for line in text.lines() {
            match line.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["@cert-authority", patterns, kind, key, ..] if names(patterns, &name) => {
                    let key = PublicKey::from_openssh(&format!("{kind} {key}"));
                    known.authorities.push(key.map_err(|error| cannot(&error))?);
                }
                ["@revoked", ..] => known.revoked.push(line.to_owned()),
                _ => {}
            }
        }
        Ok(known)
    }

    /// What is asked of the host: the kinds of key first that are known of it, so that it shows one
    /// of them, and certificates where there is an authority. RSA with SHA-2 alone.
    pub(super) fn preferred(&self) -> Preferred {
        let all = Preferred::DEFAULT.key.iter();
        let strong = all.filter(|kind| **kind != Algorithm::Rsa { hash: None });
        let is_known = |kind: &&Algorithm| {
            let known = self.keys.iter();
            known
                .map(|(_, key)| key.algorithm())
                .any(|known| match kind {
                    Algorithm::Rsa { .. } => known.is_rsa(),
                    other => known == **other,
                })
        };
        let (known, others): (Vec<_>, Vec<_>) = strong.partition(is_known);
        let kinds: Vec<Algorithm> = known.into_iter().chain(others).cloned().collect();
        Preferred {
            host_key_certificates: match self.authorities.as_slice() {
                [] => Cow::Borrowed(&[]),
                _ => Cow::Owned(kinds.clone()),
            },
            key: Cow::Owned(kinds),
            ..Preferred::DEFAULT
        }
    }

    fn revokes(&self, key: &PublicKey) -> bool {
        let base64 = key.public_key_base64();
        self.revoked.iter().any(|line| line.contains(&base64))
    }
}

/// Whether a name is among patterns with commas between them; one behind a `!` takes it out.
fn names(patterns: &str, name: &str) -> bool {
    let mut found = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(not) if fits(not.as_bytes(), name.as_bytes()) => return false,
            Some(_) => {}
            None => found |= fits(pattern.as_bytes(), name.as_bytes()),
        }
    }
    found
}

/// `*` is any number of characters, `?` is one.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|from| fits(rest, &name[from..])),
        Some((wanted, rest)) => name.split_first().is_some_and(|(first, more)| {
            (*wanted == b'?' || wanted.eq_ignore_ascii_case(first)) && fits(rest, more)
        }),
    }
}

/// Looks a key up; what it has against one is left for who connects.
pub(super) struct HostKey {
    pub(super) host: String,
    pub(super) file: PathBuf,
    pub(super) known: KnownHost,
    pub(super) refusal: Arc<Mutex<Option<String>>>,
}

impl HostKey {
    fn judge(&self, key: &PublicKey) -> Result<(), String> {
        let file = self.file.display();
        let fingerprint = key.fingerprint(HashAlg::Sha256);
        if self.known.revokes(key) {
            return Err(format!("{file} says that the key {fingerprint} is revoked"));
        }
        let mut other = None;
        for (line, known) in &self.known.keys {
            if known.key_data() == key.key_data() {
                return Ok(());
            }
            if known.algorithm() == key.algorithm() {
                other = other.or(Some(line));
            }
        }
        Err(match other {
            Some(line) => format!(
                "the host key {fingerprint} is another than the one in line {line} of {file}"
            ),
            None if !self.file.exists() => {
                format!("the host key {fingerprint} is not known: there is no file {file}")
            }
            None => {
                format!("the host key {fingerprint} is not among the known hosts in {file}")
            }
        })
    }

    fn judge_certificate(&self, certificate: &Certificate) -> Result<(), String> {
        let file = self.file.display();
        let authority = PublicKey::from(certificate.signature_key().clone());
        let key = PublicKey::from(certificate.public_key().clone());
        let by = authority.fingerprint(HashAlg::Sha256);
        for key in [&authority, &key] {
            if self.known.revokes(key) {
                let fingerprint = key.fingerprint(HashAlg::Sha256);
                return Err(format!("{file} says that the key {fingerprint} is revoked"));
            }
        }
        let known = self.known.authorities.iter();
        let known: Vec<_> = known.map(|key| key.fingerprint(HashAlg::Sha256)).collect();
        if !known.contains(&by) {
            return Err(format!(
                "its certificate is of {by}, which is no authority for it in {file}"
            ));
        }
        if certificate.cert_type() != CertType::Host {
            return Err("its certificate is none of a host".to_owned());
        }
        if !certificate.valid_principals().contains(&self.host) {
            let host = &self.host;
            return Err(format!("its certificate is not of the name {host}"));
        }
        if !certificate.critical_options().is_empty() {
            return Err("its certificate has conditions that are not known".to_owned());
        }
        certificate
            .validate(known.iter())
            .map_err(|_| "its certificate is not valid: forged, or not of this time".to_owned())
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
            PublicKeyOrCertificate::Certificate(certificate) => self.judge_certificate(certificate),
        };
        let fits = judged.is_ok();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = judged.err();
        Ok(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("build.example.com", true)]
    #[case("other,build.example.com", true)]
    #[case("*.example.com", true)]
    #[case("BUILD.*", true)]
    #[case("buil?.example.com", true)]
    #[case("*", true)]
    #[case("*,!build.*", false)]
    #[case("!build.*,*", false)]
    #[case("example.com", false)]
    #[case("[build.example.com]:22", false)]
    #[case("", false)]
    fn an_authority_is_for_the_hosts_that_its_patterns_name(
        #[case] patterns: &str,
        #[case] named: bool,
    ) {
        assert_eq!(names(patterns, "build.example.com"), named);
    }

    #[test]
    fn the_kinds_of_key_that_are_known_are_asked_for_first_and_none_with_sha_1() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("known");
        let key = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=";
        std::fs::write(&file, format!("host,other {key}\n")).unwrap();
        let known = KnownHost::read(&file, "host", 22).unwrap();
        let preferred = known.preferred();
        assert_eq!(preferred.key[0], known.keys[0].1.algorithm());
        assert!(preferred.key.contains(&Algorithm::Ed25519));
        assert!(!preferred.key.contains(&Algorithm::Rsa { hash: None }));
        assert!(preferred.host_key_certificates.is_empty());
        let nobody = KnownHost::read(&file, "elsewhere", 22).unwrap();
        assert_eq!(nobody.preferred().key[0], Algorithm::Ed25519);
    }
}
