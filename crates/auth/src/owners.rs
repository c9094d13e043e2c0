//! Whether an owner still is who they were.

use std::error::Error as StdError;

use async_trait::async_trait;
use outfitter_core::{CredentialError, Principal, Role};

/// What is known of an owner now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// How much they may do now. A credential never says more than this, nor more than the session.
    pub role: Role,
    /// Their telephone number.
    pub phone: Option<String>,
}

/// Why an owner gets no credential.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// They are gone, or shut out.
    #[error("the owner may not act any more")]
    Refused,
    /// It cannot be found out.
    #[error("the owner cannot be looked up")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
}

impl From<OwnerError> for CredentialError {
    fn from(error: OwnerError) -> Self {
        let why = error.to_string();
        match error {
            OwnerError::Refused => Self::Refused { why },
            OwnerError::Unavailable(source) => Self::Unavailable {
                why,
                source: Some(source),
            },
        }
    }
}

/// Looks owners up. It is asked before each credential: a session may be older than a dismissal.
#[async_trait]
pub trait Owners: Send + Sync {
    /// What is known of this owner now.
    ///
    /// # Errors
    /// [`OwnerError`]; then there is no credential.
    async fn check(&self, who: &Principal) -> Result<Owner, OwnerError>;
}

/// Takes principals as their transport made them: for an installation that knows no users.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustedOwners;

#[async_trait]
impl Owners for TrustedOwners {
    async fn check(&self, who: &Principal) -> Result<Owner, OwnerError> {
        Ok(Owner {
            role: who.role,
            phone: None,
        })
    }
}
