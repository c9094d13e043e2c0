//! Compact JWS (RFC 7515): `header.payload.signature`.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::base64url;
use crate::error::TokenError;
use crate::keys::{SigningKey, VerifyingKeys};

/// The one algorithm (RFC 8037).
pub(crate) const ALGORITHM: &str = "EdDSA";

/// The longest token that is looked at.
const MAX_TOKEN_BYTES: usize = 8192;

#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    kid: &'a str,
    typ: &'a str,
}

/// What counts of somebody's header. Keys that a header brings along are nobody's business.
#[derive(Deserialize)]
struct Claimed {
    alg: String,
    kid: Option<String>,
    crit: Option<IgnoredAny>,
}

pub(crate) fn sign(key: &SigningKey, payload: &[u8]) -> Option<String> {
    let header = serde_json::to_vec(&Header {
        alg: ALGORITHM,
        kid: key.id(),
        typ: "JWT",
    })
    .ok()?;
    let mut token = base64url::encode(header);
    token.push('.');
    token.push_str(&base64url::encode(payload));
    let signature = key.sign(token.as_bytes());
    token.push('.');
    token.push_str(&base64url::encode(signature));
    Some(token)
}

/// The payload of a token that one of the keys signed.
pub(crate) fn verify(keys: &VerifyingKeys, token: &str) -> Result<Vec<u8>, TokenError> {
    if token.is_empty() {
        return Err(TokenError::Missing);
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::TooLong {
            limit: MAX_TOKEN_BYTES,
        });
    }
    let malformed = || TokenError::Malformed("it is no signed token");
    let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
    let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
    let header = base64url::decode(header).ok_or_else(malformed)?;
    let header: Claimed = outfitter_core::from_json_slice(&header).map_err(|_| malformed())?;
    if header.alg != ALGORITHM {
        return Err(TokenError::Algorithm);
    }
    if header.crit.is_some() {
        return Err(TokenError::Malformed("its header asks for an extension"));
    }
    let id = header
        .kid
        .ok_or(TokenError::Malformed("its header names no key"))?;
    // A payload with a dot in it does not decode either, so there are exactly three parts.
    let payload = base64url::decode(payload).ok_or_else(malformed)?;
    let signature = base64url::decode(signature).ok_or_else(malformed)?;
    keys.verify(&id, signed.as_bytes(), &signature)?;
    Ok(payload)
}
