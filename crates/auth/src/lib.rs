//! Credentials, and the principals they make.
//!
//! A credential is a compact JWS (RFC 7515) over the claims of [`Claims`], signed with Ed25519
//! (`alg` `EdDSA`, RFC 8037) by ring, which is here for TLS already. There is one algorithm and each
//! token names its key, so there is nothing that a token could talk a verifier into.
//!
//! * [`Issuer`]: signs for one call at a time, after the owner was checked again ([`Owners`]); each
//!   issuance leaves an audit record.
//! * [`SigningKey`]: made in memory, or kept in a file that only we can read. [`VerifyingKeys`]: the
//!   public ones, as a JWK Set.
//! * [`Verifier`]: signature, audience, issuer, time and scope. Only what it has [`Verified`] makes
//!   a principal.
//!
//! ```
//! use std::sync::Arc;
//! use outfitter_auth::{Expected, Issuer, Lifetime, SigningKey, Verifier, VerifyingKeys};
//! use outfitter_core::{CredentialIssuer, CredentialRequest, SystemClock, ToolContext};
//! use secrecy::ExposeSecret;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Arc::new(SystemClock);
//! let issuer = Issuer::new("outfitter", SigningKey::generate()?, Lifetime::SHORTEST, clock.clone());
//! let credential = issuer
//!     .issue(&CredentialRequest {
//!         who: ToolContext::detached().who,
//!         actor: None,
//!         audience: "planner".into(),
//!         scope: vec!["calendar:read".into()],
//!     })
//!     .await?;
//!
//! let keys = VerifyingKeys::from_jwks(&issuer.jwks())?;
//! let verifier = Verifier::new(keys, Expected::audience("planner").issuer("outfitter"), clock);
//! let verified = verifier.verify(credential.token.expose_secret())?;
//! verified.demand("calendar:read")?;
//! assert_eq!(verified.principal("cli".into()).subject.as_str(), "local");
//! # Ok(())
//! # }
//! ```

mod base64url;
mod claims;
mod error;
mod issuer;
mod jws;
mod key_file;
mod keys;
mod lifetime;
mod owners;
mod pem;
mod verifier;

pub use claims::{Actor, Claims};
pub use error::{KeyError, TokenError};
pub use issuer::{Issuances, Issuer};
pub use keys::{SigningKey, VerifyingKeys};
pub use lifetime::{InvalidLifetime, Lifetime};
pub use owners::{Owner, OwnerError, Owners, TrustedOwners};
pub use verifier::{Expected, Verified, Verifier};
