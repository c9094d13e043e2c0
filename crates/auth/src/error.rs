//! What can be wrong with a token or a key.

use std::io;
use std::path::PathBuf;

use outfitter_core::{Code, ErrorInfo};

/// Why a token is not accepted. No text of it is in the message. The texts read on after "failed
/// to".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is none.
    #[error("check the credential: there is none")]
    Missing,
    /// It is longer than a token can be.
    #[error("check the credential: it is longer than {limit} bytes")]
    TooLong {
        /// The bound.
        limit: usize,
    },
    /// It is not a signed token.
    #[error("check the credential: {0}")]
    Malformed(&'static str),
    /// It is signed by something other than Ed25519, or not at all.
    #[error("check the credential: its algorithm is not EdDSA")]
    Algorithm,
    /// It is signed with a key that is not known here.
    #[error("check the credential: its key is not known here")]
    UnknownKey,
    /// It was not signed with the key it names, or was changed since.
    #[error("check the credential: its signature is wrong")]
    Signature,
    /// It is for somebody else.
    #[error("check the credential: it is for another audience")]
    Audience,
    /// Somebody else issued it.
    #[error("check the credential: it comes from another issuer")]
    Issuer,
    /// Its time is over.
    #[error("check the credential: it has expired")]
    Expired,
    /// Its time has not come.
    #[error("check the credential: it is from the future")]
    NotYet,
    /// It is good, but not for this.
    #[error("use the credential: it is not for {wanted}")]
    Scope {
        /// The word that is missing in its scope.
        wanted: String,
    },
}

impl TokenError {
    /// The word of the closed table: a good token that does not reach far enough is
    /// `not_permitted`, anything else `unauthenticated`.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Missing
            | Self::TooLong { .. }
            | Self::Malformed(_)
            | Self::Algorithm
            | Self::UnknownKey
            | Self::Signature
            | Self::Audience
            | Self::Issuer
            | Self::Expired
            | Self::NotYet => Code::Unauthenticated,
            Self::Scope { .. } => Code::NotPermitted,
        }
    }
}

impl From<TokenError> for ErrorInfo {
    fn from(error: TokenError) -> Self {
        Self::new(error.code(), format!("failed to {error}"))
    }
}

/// Why a key cannot be used. The texts read on after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The system gave no randomness.
    #[error("make a key: there is no randomness to be had")]
    Random,
    /// What is there is no key of the right kind.
    #[error("read the key: {0}")]
    Invalid(&'static str),
    /// The file cannot be used.
    #[error("use the key file {}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Others than its owner may read or change it.
    #[error(
        "use the key file {}: its mode is {mode:03o}, others may read or change it",
        path.display()
    )]
    Exposed {
        /// Which one.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It belongs to somebody else.
    #[error("use the key file {}: it belongs to another user", path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
    },
    /// The set of public keys is wrong.
    #[error("read the public keys: {0}")]
    Jwks(String),
}
