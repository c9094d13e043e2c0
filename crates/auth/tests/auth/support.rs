//! A clock that is set by hand, a key that is known, and forged tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use outfitter_auth::{Expected, Issuer, Lifetime, SigningKey, Verifier, VerifyingKeys};
use outfitter_core::{Clock, CredentialIssuer, CredentialRequest, Principal, Role, UnixMs};
use ring::signature::Ed25519KeyPair;
use secrecy::{ExposeSecret, SecretBox};
use serde_json::{Value, json};

/// The seed of RFC 8037, appendix A.1.
pub(crate) const SEED: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

pub(crate) const NOW: u64 = 1_800_000_000;

/// Stands until it is moved. Seconds.
#[derive(Debug)]
pub(crate) struct Hand(pub(crate) AtomicU64);

impl Clock for Hand {
    fn now(&self) -> UnixMs {
        UnixMs(self.0.load(Ordering::SeqCst) * 1000)
    }
}

pub(crate) fn hand() -> Arc<Hand> {
    Arc::new(Hand(AtomicU64::new(NOW)))
}

pub(crate) fn seed() -> [u8; 32] {
    URL_SAFE_NO_PAD.decode(SEED).unwrap().try_into().unwrap()
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(&SecretBox::new(Box::new(seed()))).unwrap()
}

pub(crate) fn issuer(clock: Arc<Hand>) -> Issuer {
    Issuer::new("outfitter", key(), Lifetime::SHORTEST, clock)
}

pub(crate) fn verifier(clock: Arc<Hand>) -> Verifier {
    let jwks = json!({ "keys": [key().jwk()] });
    let keys = VerifyingKeys::from_jwks(&jwks).unwrap();
    Verifier::new(
        keys,
        Expected::audience("planner").issuer("outfitter"),
        clock,
    )
}

pub(crate) fn ada() -> Arc<Principal> {
    Arc::new(Principal {
        tenant: "acme".into(),
        subject: "ada".into(),
        role: Role::User,
        channel: "http".into(),
        stream: Some(outfitter_core::StreamId("s".into())),
    })
}

pub(crate) fn request() -> CredentialRequest {
    CredentialRequest {
        who: ada(),
        actor: None,
        audience: "planner".into(),
        scope: vec!["calendar:read".into()],
    }
}

pub(crate) async fn token(issuer: &Issuer, request: &CredentialRequest) -> String {
    let credential = issuer.issue(request).await.unwrap();
    credential.token.expose_secret().to_owned()
}

pub(crate) fn claims() -> Value {
    json!({
        "iss": "outfitter", "sub": "ada", "tenant": "acme", "role": "user", "aud": "planner",
        "scope": "calendar:read", "jti": "1", "iat": NOW, "exp": NOW + 300,
    })
}

pub(crate) fn header() -> Value {
    json!({ "alg": "EdDSA", "kid": key().id(), "typ": "JWT" })
}

/// A token with any header and payload, signed with the known key.
pub(crate) fn forged(header: &str, payload: &str) -> String {
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed()).unwrap();
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(payload)
    );
    let signature = URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}
