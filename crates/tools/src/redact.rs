//! What must not be shown is taken out before anything is recorded.

use std::borrow::Cow;
use std::sync::Arc;

use outfitter_core::{Arguments, ErrorInfo};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Names whose values are secrets: in lower case, without `_` and `-`. The whole name counts, so
/// `tokens` and `max_tokens` are none.
const SECRET_KEYS: [&str; 27] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "cookie",
    "credential",
    "credentials",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "proxyauthorization",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "secrettoken",
    "sessiontoken",
    "setcookie",
    "token",
    "xapikey",
    "xauthtoken",
];

/// A known secret shorter than this is not looked for in texts: it would be found in words that
/// have nothing to do with it.
const MIN_KNOWN_BYTES: usize = 6;

/// Whether the value under this name is a secret, by the name alone.
#[must_use]
pub fn is_secret_key(name: &str) -> bool {
    // `token` is the shortest of the table; the longest has room for its separators.
    const SHORTEST: usize = 5;
    const LONGEST: usize = 32;
    if !(SHORTEST..=LONGEST).contains(&name.len()) {
        return false;
    }
    let mut folded = [0; LONGEST];
    let mut len = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        folded[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    SECRET_KEYS
        .binary_search_by(|key| key.as_bytes().cmp(&folded[..len]))
        .is_ok()
}

/// Takes secrets out: what stands under a name of the table, and the values it was made with,
/// wherever they turn up.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<[SecretString]>,
}

impl Redactor {
    /// One that knows these values. Values of fewer than six bytes are left out of account.
    #[must_use]
    pub fn new(known: impl IntoIterator<Item = SecretString>) -> Self {
        Self {
            known: known
                .into_iter()
                .filter(|secret| secret.expose_secret().len() >= MIN_KNOWN_BYTES)
                .collect(),
        }
    }

    /// The arguments of a call for showing: the object without what its names or its values betray
    /// as secret, or the text itself when it is malformed.
    #[must_use]
    pub fn arguments(&self, arguments: &Arguments) -> Value {
        match &arguments.parsed {
            Ok(value) => self.shown(value),
            Err(_) => Value::String(self.text(&arguments.raw).into_owned()),
        }
    }

    /// A value for showing, without what its names or its values betray as secret.
    #[must_use]
    pub fn shown(&self, value: &Value) -> Value {
        if self.betrays(value) {
            self.taken_out(value)
        } else {
            value.clone()
        }
    }

    fn taken_out(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| {
                    let value = if is_secret_key(key) && !value.is_null() {
                        Value::String(REDACTED.to_owned())
                    } else {
                        self.taken_out(value)
                    };
                    (self.text(key).into_owned(), value)
                })
                .collect(),
            Value::Array(items) => items.iter().map(|item| self.taken_out(item)).collect(),
            Value::String(text) => Value::String(self.text(text).into_owned()),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Whether there is anything to take out, which is rare.
    fn betrays(&self, value: &Value) -> bool {
        match value {
            Value::Object(map) => map.iter().any(|(key, value)| {
                (is_secret_key(key) && !value.is_null()) || self.finds(key) || self.betrays(value)
            }),
            Value::Array(items) => items.iter().any(|item| self.betrays(item)),
            Value::String(text) => self.finds(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Takes the known secrets out of a result. Its names are left alone: it is the truth.
    pub fn clean(&self, value: &mut Value) {
        if self.known.is_empty() {
            return;
        }
        match value {
            Value::Object(map) => {
                if map.keys().any(|key| self.finds(key)) {
                    *map = std::mem::take(map)
                        .into_iter()
                        .map(|(key, value)| (self.text(&key).into_owned(), value))
                        .collect();
                }
                map.values_mut().for_each(|value| self.clean(value));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::String(text) => self.clean_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes the known secrets out of a text.
    pub fn clean_text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// Takes the known secrets out of an error.
    pub fn clean_error(&self, error: &mut ErrorInfo) {
        if self.known.is_empty() {
            return;
        }
        self.clean_text(&mut error.message);
        error.hint.iter_mut().for_each(|hint| self.clean_text(hint));
        error.path.iter_mut().for_each(|path| self.clean_text(path));
        error
            .expected
            .iter_mut()
            .chain(&mut error.got)
            .for_each(|value| self.clean(value));
    }

    /// The text without the known secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in self.known.iter().map(ExposeSecret::expose_secret) {
            if clean.contains(secret) {
                clean = Cow::Owned(clean.replace(secret, REDACTED));
            }
        }
        clean
    }

    fn finds(&self, text: &str) -> bool {
        matches!(self.text(text), Cow::Owned(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(SECRET_KEYS.is_sorted());
    }

    #[rstest]
    #[case("password", true)]
    #[case("Authorization", true)]
    #[case("api_key", true)]
    #[case("X-API-Key", true)]
    #[case("accessToken", true)]
    #[case("token", true)]
    #[case("tokens", false)]
    #[case("max_tokens", false)]
    #[case("token_count", false)]
    #[case("secretary", false)]
    #[case("key", false)]
    #[case("", false)]
    fn the_whole_name_decides(#[case] name: &str, #[case] secret: bool) {
        assert_eq!(is_secret_key(name), secret);
    }

    #[test]
    fn arguments_are_shown_without_secrets_and_otherwise_as_they_are() {
        let redactor = Redactor::new(["hunter22".to_owned().into(), "abc".to_owned().into()]);
        let shown = redactor.shown(&json!({
            "headers": [{"Authorization": "Bearer x", "Accept": "*/*"}],
            "password": {"old": "a", "new": "b"},
            "token": null,
            "max_tokens": 5,
            "text": "login with hunter22, abc",
        }));
        insta::assert_json_snapshot!(shown);
    }

    #[test]
    fn malformed_arguments_are_shown_as_their_text_without_known_secrets() {
        let redactor = Redactor::new(["hunter22".to_owned().into()]);
        let arguments = Arguments::parse(r#"{"a":"hunter22"#);
        assert_eq!(redactor.arguments(&arguments), json!(r#"{"a":"[redacted]"#));
    }

    #[test]
    fn a_result_loses_the_known_values_only() {
        let redactor = Redactor::new(["hunter22".to_owned().into()]);
        let mut result = json!({"password": "mine", "hunter22": ["x hunter22 y"], "n": 1});
        redactor.clean(&mut result);
        assert_eq!(
            result,
            json!({"password": "mine", "[redacted]": ["x [redacted] y"], "n": 1})
        );
    }
}
