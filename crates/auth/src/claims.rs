//! What a token says.

use outfitter_core::{Role, Subject, Tenant, UnixMs};
use serde::{Deserialize, Serialize};

/// What acts for the subject (RFC 8693, `act`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Its name.
    pub sub: Subject,
}

/// What a token says. Times are seconds since 1970, UTC. Claims of other kinds are ignored; one of
/// these given twice is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Who signed it.
    pub iss: String,
    /// For whom.
    pub sub: Subject,
    /// In whose installation.
    pub tenant: Tenant,
    /// How much they may do.
    pub role: Role,
    /// Their telephone number, where the issuer knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Who may accept it.
    pub aud: String,
    /// What it may be used for: words with one space between them.
    pub scope: String,
    /// Its own id, never used again.
    pub jti: String,
    /// When it was issued.
    pub iat: u64,
    /// From when on nobody accepts it.
    pub exp: u64,
    /// What acts for the subject, an automation for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<Actor>,
}

impl Claims {
    /// Whether it may be used for this.
    #[must_use]
    pub fn allows(&self, word: &str) -> bool {
        self.scope.split(' ').any(|scope| scope == word)
    }

    /// From when on nobody accepts it.
    #[must_use]
    pub fn expires(&self) -> UnixMs {
        UnixMs(self.exp.saturating_mul(1000))
    }
}

/// Whether a word can stand in a scope (RFC 6749, section 3.3).
pub(crate) fn is_scope_word(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}
