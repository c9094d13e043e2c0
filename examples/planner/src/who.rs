//! Who calls.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use outfitter_auth::{Expected, Verifier, VerifyingKeys};
use outfitter_core::{Code, Principal, Role, SystemClock};

use crate::fault::Fault;

/// The credential.
pub const TOKEN: &str = "PROJECT_CLI_TOKEN";
/// The file of the keys it is checked with.
pub const JWKS_FILE: &str = "PROJECT_CLI_JWKS_FILE";
/// Whom it must be for.
pub const AUDIENCE: &str = "PROJECT_CLI_AUDIENCE";

/// Whoever asks for JSON is a program, and has to prove for whom it asks. Whoever does not, and has
/// no credential, sits at the terminal of this machine and is the person `local`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// A program.
    Program,
    /// Perhaps a person.
    Person,
}

/// Who calls, and by what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub who: Principal,
    /// The id of the credential; none for the person at the terminal.
    pub credential: Option<String>,
}

/// Who calls, if they may do this: `need` is the word in the scope of the credential.
///
/// # Errors
/// [`Fault`] with `unauthenticated`, or `not_permitted` for a good credential that is not for this.
pub fn caller(
    asks: Asks,
    need: &str,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Caller, Fault> {
    let variables = [TOKEN, JWKS_FILE, AUDIENCE].map(env);
    match (asks, &variables) {
        (Asks::Person, [None, None, None]) => Ok(Caller {
            who: local(),
            credential: None,
        }),
        (Asks::Person | Asks::Program, [token, jwks, audience]) => {
            let token = text(token.as_ref(), TOKEN)?;
            let jwks = jwks.as_ref().ok_or_else(|| missing(JWKS_FILE))?;
            let audience = text(audience.as_ref(), AUDIENCE)?;
            let keys = keys(Path::new(jwks))?;
            let verifier = Verifier::new(keys, Expected::audience(audience), Arc::new(SystemClock));
            let verified = verifier.verify(token)?;
            verified.demand(need)?;
            Ok(Caller {
                who: verified.principal("project-cli".into()),
                credential: Some(verified.claims().jti.clone()),
            })
        }
    }
}

fn local() -> Principal {
    Principal {
        tenant: "local".into(),
        subject: "local".into(),
        role: Role::User,
        channel: "terminal".into(),
        stream: None,
    }
}

fn text<'a>(value: Option<&'a OsString>, name: &str) -> Result<&'a str, Fault> {
    value
        .and_then(|value| value.to_str())
        .ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Fault {
    Fault::new(
        Code::Unauthenticated,
        format!("there is no credential to check: {name} is not set"),
    )
}

fn keys(path: &Path) -> Result<VerifyingKeys, Fault> {
    let unusable = |why: String| {
        Fault::new(
            Code::Unauthenticated,
            format!("the keys that credentials are checked with cannot be used: {why}"),
        )
    };
    let text = fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let jwks = serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
    VerifyingKeys::from_jwks(&jwks).map_err(|error| unusable(error.to_string()))
}
