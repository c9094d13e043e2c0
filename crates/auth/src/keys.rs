//! Keys: the one that signs, and the public ones.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use outfitter_core::canonical;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use secrecy::{ExposeSecret, SecretBox};
use serde_json::{Value, json};

use crate::error::{KeyError, TokenError};
use crate::jws::ALGORITHM;
use crate::{base64url, key_file, pem};

/// Bytes of a seed and of a public key.
const KEY_BYTES: usize = 32;

/// The private key that signs.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    id: String,
}

impl SigningKey {
    /// A new one, in memory only.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn generate() -> Result<Self, KeyError> {
        Self::from_der(fresh()?.expose_secret())
    }

    /// The key of a seed (RFC 8032).
    ///
    /// # Errors
    /// [`KeyError::Invalid`].
    pub fn from_seed(seed: &SecretBox<[u8; KEY_BYTES]>) -> Result<Self, KeyError> {
        Ed25519KeyPair::from_seed_unchecked(seed.expose_secret())
            .map(Self::of)
            .map_err(|_| KeyError::Invalid("it is no seed of an Ed25519 key"))
    }

    /// The key in a PKCS #8 PEM text, as `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    /// [`KeyError::Invalid`], also for a key of another kind.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_der(pem::decode(text)?.expose_secret())
    }

    /// The key in a file: PKCS #8 PEM, or the 32 bytes of a seed. Nobody but its owner, who is us
    /// or root, may have any right to the file.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let content = key_file::read(path)?;
        let bytes = content.expose_secret();
        if pem::is_pem(bytes) {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| KeyError::Invalid("it is PEM that is no text"))?;
            return Self::from_pem(text);
        }
        let seed: [u8; KEY_BYTES] = bytes.as_slice().try_into().map_err(|_| {
            KeyError::Invalid("it is neither PEM nor the 32 bytes of an Ed25519 seed")
        })?;
        Self::from_seed(&SecretBox::new(Box::new(seed)))
    }

    /// The key in a file, which is made with a new one if it is not there.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        let der = fresh()?;
        let text = SecretBox::new(Box::new(pem::encode(der.expose_secret())));
        match key_file::write_new(path, text.expose_secret().as_bytes()) {
            Ok(()) => Self::from_der(der.expose_secret()),
            // Another process was first; its key counts.
            Err(KeyError::File { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(path)
            }
            Err(error) => Err(error),
        }
    }

    /// Its id: the thumbprint of the public key (RFC 7638).
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public key as a JWK.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let mut jwk = thumbprinted(self.pair.public_key().as_ref());
        jwk["alg"] = json!(ALGORITHM);
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(crate) fn sign(&self, message: &[u8]) -> impl AsRef<[u8]> + use<> {
        self.pair.sign(message)
    }

    fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
            .map(Self::of)
            .map_err(|_| KeyError::Invalid("it is no Ed25519 private key in PKCS #8"))
    }

    fn of(pair: Ed25519KeyPair) -> Self {
        let id = id_of(pair.public_key().as_ref());
        Self { pair, id }
    }
}

/// Shows which key it is and nothing of it.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.id).finish()
    }
}

/// The public keys that tokens are checked with, by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyingKeys(BTreeMap<String, [u8; KEY_BYTES]>);

impl VerifyingKeys {
    /// The Ed25519 keys of a JWK Set (RFC 7517). Keys of other kinds are passed over, as the
    /// standard wants it.
    ///
    /// # Errors
    /// [`KeyError::Jwks`] when there is none, when two have one id, or when a private key is in it.
    pub fn from_jwks(jwks: &Value) -> Result<Self, KeyError> {
        let wrong = |why: String| Err(KeyError::Jwks(why));
        let Some(keys) = jwks.get("keys").and_then(Value::as_array) else {
            return wrong("there is no list of keys".to_owned());
        };
        let mut known = BTreeMap::new();
        for key in keys {
            if key.get("d").is_some() {
                return wrong("there is a private key among them".to_owned());
            }
            let is = |name: &str, value: &str| key.get(name).is_none_or(|is| is == value);
            if key["kty"] != "OKP" || key["crv"] != "Ed25519" || !is("alg", ALGORITHM) {
                continue;
            }
            if !is("use", "sig") {
                continue;
            }
            let bytes = key["x"].as_str().and_then(base64url::decode);
            let (Some(id), Some(Ok(bytes))) = (key["kid"].as_str(), bytes.map(TryInto::try_into))
            else {
                return wrong("an Ed25519 key has no kid or no x of 32 bytes".to_owned());
            };
            if known.insert(id.to_owned(), bytes).is_some() {
                return wrong(format!("the id {id} is there twice"));
            }
        }
        if known.is_empty() {
            return wrong("there is no Ed25519 key among them".to_owned());
        }
        Ok(Self(known))
    }

    pub(crate) fn verify(
        &self,
        id: &str,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), TokenError> {
        let key = self.0.get(id).ok_or(TokenError::UnknownKey)?;
        UnparsedPublicKey::new(&ED25519, key)
            .verify(message, signature)
            .map_err(|_| TokenError::Signature)
    }
}

/// A new private key as PKCS #8.
fn fresh() -> Result<SecretBox<Vec<u8>>, KeyError> {
    let document =
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Random)?;
    Ok(SecretBox::new(Box::new(document.as_ref().to_vec())))
}

/// The members that a thumbprint is made of.
fn thumbprinted(public: &[u8]) -> Value {
    json!({ "crv": "Ed25519", "kty": "OKP", "x": base64url::encode(public) })
}

fn id_of(public: &[u8]) -> String {
    let text = canonical(&thumbprinted(public));
    base64url::encode(digest(&SHA256, text.as_bytes()))
}
