//! Signing for one call.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Clock, Credential, CredentialError, CredentialIssuer, CredentialRequest, canonical,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use crate::claims::{Actor, Claims, is_scope_word};
use crate::keys::SigningKey;
use crate::lifetime::Lifetime;
use crate::owners::{Owners, TrustedOwners};
use crate::{base64url, jws};

/// Random bytes of a token's id.
const ID_BYTES: usize = 16;

/// Takes a record of each credential: what it says, never its text.
pub trait Issuances: Send + Sync {
    /// A credential with these claims was issued.
    fn issued(&self, claims: &Claims);
}

/// Issues credentials: one for each call, signed with the one key.
pub struct Issuer {
    name: Arc<str>,
    key: SigningKey,
    jwks: Arc<Value>,
    lifetime: Lifetime,
    clock: Arc<dyn Clock>,
    owners: Arc<dyn Owners>,
    issuances: Option<Arc<dyn Issuances>>,
}

impl Issuer {
    /// An issuer of this name (`iss`). Owners are taken as they come, and each issuance is told to
    /// `tracing` (target `outfitter::audit`).
    #[must_use]
    pub fn new(
        name: impl Into<Arc<str>>,
        key: SigningKey,
        lifetime: Lifetime,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let jwks = Arc::new(json!({ "keys": [key.jwk()] }));
        Self {
            name: name.into(),
            key,
            jwks,
            lifetime,
            clock,
            owners: Arc::new(TrustedOwners),
            issuances: None,
        }
    }

    /// Asks these about each owner.
    #[must_use]
    pub fn with_owners(mut self, owners: Arc<dyn Owners>) -> Self {
        self.owners = owners;
        self
    }

    /// Tells these of each credential, beside `tracing`.
    #[must_use]
    pub fn with_issuances(mut self, issuances: Arc<dyn Issuances>) -> Self {
        self.issuances = Some(issuances);
        self
    }

    async fn claims(&self, request: &CredentialRequest) -> Result<Claims, CredentialError> {
        let who = &request.who;
        let owner = self.owners.check(who).await?;
        if let Some(word) = request.scope.iter().find(|word| !is_scope_word(word)) {
            return Err(unavailable(format!("{word:?} cannot stand in a scope")));
        }
        let iat = self.clock.now().0 / 1000;
        let mut id = [0; ID_BYTES];
        SystemRandom::new()
            .fill(&mut id)
            .map_err(|_| unavailable("there is no randomness to be had"))?;
        Ok(Claims {
            iss: self.name.to_string(),
            sub: who.subject.clone(),
            tenant: who.tenant.clone(),
            role: who.role.min(owner.role),
            phone: owner.phone,
            aud: request.audience.to_string(),
            scope: request.scope.join(" "),
            jti: base64url::encode(id),
            iat,
            exp: iat.saturating_add(self.lifetime.as_seconds()),
            act: request.actor.clone().map(|sub| Actor { sub }),
        })
    }

    fn record(&self, claims: &Claims) {
        tracing::info!(
            target: "outfitter::audit",
            jti = claims.jti,
            sub = claims.sub.as_str(),
            tenant = claims.tenant.as_str(),
            role = claims.role.as_str(),
            aud = claims.aud,
            scope = claims.scope,
            exp = claims.exp,
            act = claims.act.as_ref().map(|actor| actor.sub.as_str()),
            "issued a credential"
        );
        if let Some(issuances) = &self.issuances {
            issuances.issued(claims);
        }
    }
}

#[async_trait]
impl CredentialIssuer for Issuer {
    async fn issue(&self, request: &CredentialRequest) -> Result<Credential, CredentialError> {
        let claims = self.claims(request).await?;
        let token = serde_json::to_value(&claims)
            .ok()
            .and_then(|claims| jws::sign(&self.key, canonical(&claims).as_bytes()))
            .ok_or_else(|| unavailable("the claims cannot be written"))?;
        // Before it is out of our hands.
        self.record(&claims);
        Ok(Credential {
            token: token.into(),
            expires: claims.expires(),
        })
    }

    fn jwks(&self) -> Arc<Value> {
        self.jwks.clone()
    }
}

/// Shows its name and which key it has.
impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("name", &self.name)
            .field("key", &self.key)
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

fn unavailable(why: impl Into<String>) -> CredentialError {
    CredentialError::Unavailable {
        why: why.into(),
        source: None,
    }
}
