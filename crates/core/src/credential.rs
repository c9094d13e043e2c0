//! Credentials that are issued for one call of a program of the operator's.
//!
//! Who runs such programs and who signs for them meet here and nowhere else.

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;

use crate::{Code, Principal, Subject, UnixMs};

/// What a credential is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRequest {
    /// For whom: the owner, also where something acts for them.
    pub who: Arc<Principal>,
    /// What acts for the owner, an automation for one.
    pub actor: Option<Subject>,
    /// Who may accept it, and nobody else.
    pub audience: Arc<str>,
    /// What it may be used for: words without spaces.
    pub scope: Vec<Arc<str>>,
}

/// A credential for one call. Its text is never shown.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The text that the program checks.
    pub token: SecretString,
    /// From when on nobody accepts it.
    pub expires: UnixMs,
}

/// Why there is no credential. The texts read on after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The owner may not have one any more.
    #[error("issue a credential: {why}")]
    Refused {
        /// Why, one fragment.
        why: String,
    },
    /// It cannot be found out whether the owner may, or nothing can be signed.
    #[error("issue a credential: {why}")]
    Unavailable {
        /// Why, one fragment.
        why: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
}

impl CredentialError {
    /// The word of the closed table.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused { .. } => Code::Unauthenticated,
            Self::Unavailable { .. } => Code::Unavailable,
        }
    }
}

/// Signs for principals. Each call gets its own credential.
#[async_trait]
pub trait CredentialIssuer: Send + Sync {
    /// Issues one, after the owner was checked again.
    ///
    /// # Errors
    /// [`CredentialError`].
    async fn issue(&self, request: &CredentialRequest) -> Result<Credential, CredentialError>;

    /// The public keys that its credentials are checked with: a JWK Set (RFC 7517).
    fn jwks(&self) -> Arc<Value>;
}
