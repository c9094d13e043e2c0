//! Checking a token, and the principal it makes.

use std::fmt;
use std::sync::Arc;

use outfitter_core::{Channel, Clock, Principal};

use crate::claims::Claims;
use crate::error::TokenError;
use crate::jws;
use crate::keys::VerifyingKeys;

/// How far the clock of an issuer may be ahead of ours, in seconds. Nothing is given at the end.
const AHEAD: u64 = 30;

/// What a token must say to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    audience: String,
    issuer: Option<String>,
}

impl Expected {
    /// It is for this audience, whoever of those whose keys are known issued it.
    #[must_use]
    pub fn audience(audience: impl Into<String>) -> Self {
        Self {
            audience: audience.into(),
            issuer: None,
        }
    }

    /// And this issuer issued it.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }
}

/// Checks tokens.
pub struct Verifier {
    keys: VerifyingKeys,
    expected: Expected,
    clock: Arc<dyn Clock>,
}

impl Verifier {
    /// A verifier that trusts these keys.
    #[must_use]
    pub fn new(keys: VerifyingKeys, expected: Expected, clock: Arc<dyn Clock>) -> Self {
        Self {
            keys,
            expected,
            clock,
        }
    }

    /// Checks signature, issuer, audience and time. Each use of a token is told to `tracing` (target
    /// `outfitter::audit`).
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn verify(&self, token: &str) -> Result<Verified, TokenError> {
        let checked = self.check(token);
        match &checked {
            Ok(Verified(claims)) => tracing::info!(
                target: "outfitter::audit",
                jti = claims.jti,
                sub = claims.sub.as_str(),
                tenant = claims.tenant.as_str(),
                "accepted a credential"
            ),
            Err(error) => tracing::warn!(
                target: "outfitter::audit",
                audience = self.expected.audience,
                "refused a credential: failed to {error}"
            ),
        }
        checked
    }

    fn check(&self, token: &str) -> Result<Verified, TokenError> {
        let payload = jws::verify(&self.keys, token)?;
        let claims: Claims = outfitter_core::from_json_slice(&payload)
            .map_err(|_| TokenError::Malformed("its claims are not those of a credential"))?;
        if let Some(issuer) = &self.expected.issuer
            && claims.iss != *issuer
        {
            return Err(TokenError::Issuer);
        }
        if claims.aud != self.expected.audience {
            return Err(TokenError::Audience);
        }
        let now = self.clock.now().0 / 1000;
        if claims.exp <= now {
            return Err(TokenError::Expired);
        }
        if claims.iat > now.saturating_add(AHEAD) {
            return Err(TokenError::NotYet);
        }
        if claims.sub.as_str().is_empty() || claims.tenant.as_str().is_empty() {
            return Err(TokenError::Malformed("it names nobody"));
        }
        Ok(Verified(claims))
    }
}

/// Shows what it expects and not with which keys.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("expected", &self.expected)
            .finish_non_exhaustive()
    }
}

/// What a token says that was checked. Only a [`Verifier`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified(Claims);

impl Verified {
    /// What it says.
    #[must_use]
    pub fn claims(&self) -> &Claims {
        &self.0
    }

    /// Whether it may be used for this.
    ///
    /// # Errors
    /// [`TokenError::Scope`].
    pub fn demand(&self, word: &str) -> Result<(), TokenError> {
        if self.0.allows(word) {
            Ok(())
        } else {
            Err(TokenError::Scope {
                wanted: word.to_owned(),
            })
        }
    }

    /// Who acts, come by this way.
    #[must_use]
    pub fn principal(&self, channel: Channel) -> Principal {
        Principal {
            tenant: self.0.tenant.clone(),
            subject: self.0.sub.clone(),
            role: self.0.role,
            channel,
            stream: None,
        }
    }
}
