//! The environment of a program, built from nothing.

use std::ffi::OsString;
use std::path::Path;

use outfitter_core::{ToolContext, UnixMs};
use secrecy::{ExposeSecret, SecretString};

use crate::host::Host;
use crate::settings::ProgramSettings;

/// What the names of all variables begin with that are made for each call.
pub(crate) const OURS: &str = "PROJECT_CLI_";

/// What a program is given to know and to prove who calls it.
pub(crate) struct Proof<'a> {
    pub(crate) token: &'a SecretString,
    pub(crate) jwks_file: &'a Path,
    pub(crate) audience: &'a str,
}

type Variables = Vec<(OsString, OsString)>;

/// What every run has: also the one that only describes.
pub(crate) fn base(host: &Host, settings: &ProgramSettings, home: &Path) -> Variables {
    let mut env: Variables = vec![
        ("PATH".into(), host.path.clone()),
        ("HOME".into(), home.into()),
    ];
    for (name, value) in [("LANG", &host.lang), ("TZ", &host.tz)] {
        if let Some(value) = value {
            env.push((name.into(), value.clone()));
        }
    }
    for (name, value) in &settings.env {
        env.retain(|(known, _)| known != name.as_str());
        env.push((name.into(), value.into()));
    }
    env
}

/// What a call adds to it.
pub(crate) fn of_call(cx: &ToolContext, deadline: UnixMs, proof: Option<&Proof<'_>>) -> Variables {
    let mut env: Variables = Vec::new();
    let mut set = |name: &str, value: OsString| env.push((format!("{OURS}{name}").into(), value));
    // A provider may call a call anything, a variable may not hold everything.
    let call = cx.call.as_str().replace('\0', "");
    set("SESSION_ID", cx.session.as_str().into());
    set("TOOL_CALL_ID", call.into());
    set("DEADLINE_MS", deadline.0.to_string().into());
    if let Some(proof) = proof {
        set("TOKEN", proof.token.expose_secret().into());
        set("JWKS_FILE", proof.jwks_file.into());
        set("AUDIENCE", proof.audience.into());
    }
    env
}
