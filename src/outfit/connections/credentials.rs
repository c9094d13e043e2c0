//! What is sent with every call of an API, with what the environment holds of it.

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::Config;
use crate::env::Environment;

/// What stands before the name of a variable, as the last word of a header.
const FROM_ENVIRONMENT: &str = "env:";

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
        let value = match variable(text) {
            None => SecretString::from(text.clone()),
            Some((before, variable)) => {
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

/// The variable that a text names as its last word, and what stands before it.
fn variable(text: &str) -> Option<(&str, &str)> {
    let start = text.rfind(' ').map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    let name = word.strip_prefix(FROM_ENVIRONMENT)?;
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((before, name))
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
    let of = |(name, text): (&String, &String)| match variable(text) {
        Some((_, variable)) => environment.secret(variable).into_iter().collect(),
        // `Bearer abc` is told as `abc`, too.
        None if is_secret(name) => {
            let last = text.rsplit(' ').next().unwrap_or_default();
            vec![text.clone().into(), last.to_owned().into()]
        }
        None => Vec::new(),
    };
    pairs.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("env:KEY", Some(("", "KEY")))]
    #[case("Bearer env:MY_KEY_2", Some(("Bearer ", "MY_KEY_2")))]
    #[case("Bearer env:", None)]
    #[case("env:2", None)]
    #[case("env:A B", None)]
    #[case("xenv:A", None)]
    #[case("", None)]
    fn the_last_word_may_name_a_variable(#[case] text: &str, #[case] named: Option<(&str, &str)>) {
        assert_eq!(variable(text), named);
    }
}
