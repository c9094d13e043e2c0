//! What is sent with every call of an API, with what the environment holds of it.

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Config, LastWord};
use crate::env::Environment;

/// A variable that holds a credential is not set. Reads on after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("send {header} with every call: the variable {variable} is not set")]
pub(super) struct NotSet {
    header: String,
    variable: String,
}

/// What is sent with every call, with what the environment holds of it.
pub(super) fn secrets(
    pairs: &std::collections::BTreeMap<String, String>,
    environment: &Environment,
) -> Result<Vec<(String, SecretString)>, NotSet> {
    let each = pairs.iter().map(|(name, text)| {
        let value = match LastWord::of(text) {
            LastWord::Plain | LastWord::Other(_) => SecretString::from(text.clone()),
            LastWord::Variable {
                before,
                name: variable,
            } => {
                let held = environment.secret(variable);
                let held = held.ok_or_else(|| NotSet {
                    header: name.clone(),
                    variable: variable.to_owned(),
                })?;
                SecretString::from(format!("{before}{}", held.expose_secret()))
            }
        };
        Ok((name.clone(), value))
    });
    each.collect()
}

/// The secrets among what is sent with every call: what the environment holds, and what stands under
/// a secret's name.
pub(in crate::outfit) fn secrets_of(
    config: &Config,
    environment: &Environment,
    is_secret: fn(&str) -> bool,
) -> Vec<SecretString> {
    let apis = config.plugin_api.apis.values();
    let pairs = apis.flat_map(|api| api.headers.iter().chain(&api.query));
    let of = |(name, text): (&String, &String)| match LastWord::of(text) {
        LastWord::Variable { name, .. } => environment.secret(name).into_iter().collect(),
        // `Bearer abc` is told as `abc`, too.
        LastWord::Plain | LastWord::Other(_) if is_secret(name) => {
            let last = text.rsplit(' ').next().unwrap_or_default();
            vec![text.clone().into(), last.to_owned().into()]
        }
        LastWord::Plain | LastWord::Other(_) => Vec::new(),
    };
    pairs.flat_map(of).collect()
}
