//! What must not be shown is taken out before anything is recorded.

use std::borrow::Cow;
use std::sync::Arc;

use outfitter_core::{
    Arguments, ErrorInfo, REDACTED, address_secrets, redact_addresses, redact_passwords,
    redact_value,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// A known secret shorter than this is not looked for in texts: it would be found in words that
/// have nothing to do with it.
const MIN_KNOWN_BYTES: usize = 6;

/// Takes secrets out: what stands under the name of one, what stands in addresses, and the values
/// it was made with, wherever they turn up.
///
/// Arguments and errors are written for showing, and lose all of these. Results are what tools were
/// asked for: they lose the known values only, among them, for the result of a call, the secrets of
/// the addresses that the call names; what programs print loses the passwords of addresses too.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<[SecretString]>,
    printed: Printed,
}

/// Whether results are what programs print.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Printed {
    #[default]
    No,
    Yes,
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
            printed: Printed::No,
        }
    }

    /// The same for what comes of a call: it also knows the secrets in the addresses among the
    /// arguments, which a server or a program may say again.
    pub(crate) fn of_call(&self, args: &Value, printed: Printed) -> Self {
        let mut secrets = Vec::new();
        collect_secrets(args, &mut secrets);
        let known = match secrets.is_empty() {
            true => self.known.clone(),
            false => {
                let secrets = secrets.into_iter().map(SecretString::from);
                self.known.iter().cloned().chain(secrets).collect()
            }
        };
        Self { known, printed }
    }

    /// The arguments of a call for showing: the object without what its names, its addresses or its
    /// values betray as secret, or the text itself when it is malformed.
    #[must_use]
    pub fn arguments(&self, arguments: &Arguments) -> Value {
        match &arguments.parsed {
            Ok(value) => self.shown(value),
            Err(_) => self.malformed(&arguments.raw),
        }
    }

    /// A text that is no arguments, for showing: without what is left out of arguments while they
    /// are written, as far as it reads as that.
    pub(crate) fn malformed(&self, raw: &str) -> Value {
        self.arguments_carry().whole(raw).into()
    }

    /// A value for showing, without what its names, its addresses or its values betray as secret.
    #[must_use]
    pub fn shown(&self, value: &Value) -> Value {
        redact_value(value, &|text| self.text(text))
    }

    /// Takes the known secrets out of a result. Its names are left alone: it is the truth.
    pub fn clean(&self, value: &mut Value) {
        if self.known.is_empty() && self.printed == Printed::No {
            return;
        }
        match value {
            Value::Object(map) => {
                if map.keys().any(|key| self.finds(key)) {
                    *map = std::mem::take(map)
                        .into_iter()
                        .map(|(key, value)| (self.result_text(&key).into_owned(), value))
                        .collect();
                }
                map.values_mut().for_each(|value| self.clean(value));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::String(text) => self.clean_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes the known secrets out of the text of a result.
    pub fn clean_text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.result_text(text) {
            *text = clean;
        }
    }

    /// Takes what is secret out of an error: what is known and what stands in addresses.
    pub fn clean_error(&self, error: &mut ErrorInfo) {
        let clean = |text: &mut String| {
            if let Cow::Owned(clean) = self.text(text) {
                *text = clean;
            }
        };
        clean(&mut error.message);
        error.hint.iter_mut().for_each(clean);
        error.path.iter_mut().for_each(clean);
        error
            .expected
            .iter_mut()
            .chain(&mut error.got)
            .for_each(|value| {
                self.clean_shown(value);
                self.clean(value);
            });
    }

    fn clean_shown(&self, value: &mut Value) {
        match value {
            Value::Object(map) => map.values_mut().for_each(|value| self.clean_shown(value)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_shown(item)),
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A text for showing, without the known secrets and without those of its addresses.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        after(self.without_known(text), redact_addresses)
    }

    fn result_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = self.without_known(text);
        match self.printed {
            Printed::No => clean,
            Printed::Yes => after(clean, redact_passwords),
        }
    }

    fn without_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in self.known.iter().map(ExposeSecret::expose_secret) {
            if clean.contains(secret) {
                clean = Cow::Owned(clean.replace(secret, REDACTED));
            }
        }
        clean
    }

    /// How much of the end of a text may be the beginning of a known secret, in bytes.
    pub(crate) fn begun(&self, text: &str) -> usize {
        let known = self.known.iter().map(ExposeSecret::expose_secret);
        known
            .filter_map(|secret| {
                let ends = secret.char_indices().map(|(end, _)| end).rev();
                ends.take_while(|end| *end > 0)
                    .find(|end| text.ends_with(&secret[..*end]))
            })
            .max()
            .unwrap_or(0)
    }

    /// Whether a known secret may go on behind the blank that a text ends with.
    pub(crate) fn may_go_on(&self, text: &str) -> bool {
        let known = self.known.iter().map(ExposeSecret::expose_secret);
        let spaced = known.filter(|secret| secret.contains(char::is_whitespace));
        spaced.clone().next().is_some()
            && spaced
                .flat_map(|secret| {
                    secret
                        .match_indices(char::is_whitespace)
                        .map(move |at| (secret, at))
                })
                .any(|(secret, (at, blank))| {
                    let end = at + blank.len();
                    end < secret.len() && text.ends_with(&secret[..end])
                })
    }

    fn finds(&self, text: &str) -> bool {
        matches!(self.result_text(text), Cow::Owned(_))
    }
}

/// What comes of a text that may have been changed already.
fn after<'t>(text: Cow<'t, str>, then: impl for<'a> Fn(&'a str) -> Cow<'a, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => then(text),
        Cow::Owned(text) => Cow::Owned(then(&text).into_owned()),
    }
}

/// The secrets in the addresses of a value.
fn collect_secrets(value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::Object(map) => map
            .values()
            .for_each(|value| collect_secrets(value, secrets)),
        Value::Array(items) => items.iter().for_each(|item| collect_secrets(item, secrets)),
        Value::String(text) => secrets.extend(address_secrets(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn a_result_loses_the_secrets_of_the_addresses_that_the_call_named() {
        let args = json!({"urls": ["https://u:hunter22@a.example/?token=a1b2c3d4e5f6a7b8"]});
        let redactor = Redactor::default().of_call(&args, Printed::No);
        let mut result = json!({
            "text": "no a1b2c3d4e5f6a7b8 for hunter22",
            "link": "https://b.example/?sig=another-01",
        });
        redactor.clean(&mut result);
        assert_eq!(
            result,
            json!({
                "text": "no [redacted] for [redacted]",
                "link": "https://b.example/?sig=another-01",
            })
        );
    }

    #[test]
    fn a_word_that_an_address_has_under_the_name_of_a_key_stays_in_the_result() {
        let args = json!({"urls": ["https://a.example/?key=introduction&token=next"]});
        let redactor = Redactor::default().of_call(&args, Printed::No);
        let mut result = json!("introduction: what comes next");
        redactor.clean(&mut result);
        assert_eq!(result, json!("introduction: what comes next"));
    }

    #[test]
    fn what_programs_print_loses_the_passwords_of_addresses() {
        let redactor = Redactor::default().of_call(&json!({}), Printed::Yes);
        let mut result = json!({"stdout": "origin https://u:pw@a.example/r.git (push)\n"});
        redactor.clean(&mut result);
        assert_eq!(
            result,
            json!({"stdout": "origin https://u:[redacted]@a.example/r.git (push)\n"})
        );
    }

    #[test]
    fn an_error_loses_what_stands_in_addresses() {
        let mut error =
            ErrorInfo::new(outfitter_core::Code::Failed, "no https://a.example/?key=S3");
        error.hint = Some("try https://u:S3@a.example/".to_owned());
        error.got = Some(json!(["https://a.example/?sig=S3"]));
        Redactor::default().clean_error(&mut error);
        assert!(!format!("{error:?}").contains("S3"), "{error:?}");
    }
}
