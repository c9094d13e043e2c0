//! Secrets among what a program is started with: `--token X`, `--api-key=X`, `KEY=X`,
//! `Authorization: X`, `https://host/?key=X`, and the values of its environment.

use std::borrow::Cow;
use std::ops::Range;

use secrecy::{ExposeSecret, SecretString};

use crate::{REDACTED, address_secrets, names_a_secret, redact_addresses};

/// The shortest value that is kept out of what is told; a shorter one is part of many words.
const LEAST_BYTES: usize = 6;

/// What a program was given and must not be told of it again: all values of the environment that
/// was made for it, and the values of its arguments that their names betray. Values of fewer than
/// six bytes are left out of account.
///
/// ```
/// use outfitter_core::ProgramSecrets;
///
/// let secrets = ProgramSecrets::of(["--token", "s3cret"], ["from-the-environment"]);
/// let told = secrets.taken_out("no s3cret, no from-the-environment");
/// assert_eq!(told, "no [redacted], no [redacted]");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProgramSecrets(Vec<SecretString>);

impl ProgramSecrets {
    /// Those among these arguments and these values of an environment.
    #[must_use]
    pub fn of<'a>(
        args: impl IntoIterator<Item = &'a str>,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let args: Vec<&str> = args.into_iter().collect();
        let mut all: Vec<String> = Vec::new();
        for value in secret_arguments(args.iter().copied()) {
            // `Bearer abc` is told as `abc`, too.
            all.extend(value.rsplit(' ').next().map(str::to_owned));
            all.push(value.to_owned());
        }
        all.extend(args.iter().flat_map(|arg| address_secrets(arg)));
        all.extend(values.into_iter().map(str::to_owned));
        all.retain(|value| value.len() >= LEAST_BYTES);
        // What is written as JSON is told as it is written there.
        let written: Vec<String> = all.iter().filter_map(|value| as_json(value)).collect();
        all.extend(written);
        // One that is part of another comes behind it.
        all.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Self(all.into_iter().map(SecretString::from).collect())
    }

    /// A text for telling: without these, and without the secrets of its addresses.
    #[must_use]
    pub fn taken_out<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in self.0.iter().map(ExposeSecret::expose_secret) {
            if clean.contains(secret) {
                clean = Cow::Owned(clean.replace(secret, REDACTED));
            }
        }
        match clean {
            Cow::Borrowed(text) => redact_addresses(text),
            Cow::Owned(text) => Cow::Owned(redact_addresses(&text).into_owned()),
        }
    }
}

/// A text as it stands within a string of JSON, where that is something else.
fn as_json(text: &str) -> Option<String> {
    let written = serde_json::to_string(text).ok()?;
    let written = written.strip_prefix('"')?.strip_suffix('"')?;
    (written != text).then(|| written.to_owned())
}

/// What ends the value of a pair that stands within an argument.
const ENDS: [char; 9] = [' ', '\t', '\n', '&', ';', ',', '"', '\'', '#'];

/// The arguments for showing, without the values that their names betray as secret.
#[must_use]
pub fn shown_arguments<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut shown = Vec::new();
    each(args, |arg, secrets| {
        let mut text = String::new();
        let mut from = 0;
        for secret in secrets {
            text.push_str(&arg[from..secret.start]);
            text.push_str(REDACTED);
            from = secret.end;
        }
        text.push_str(&arg[from..]);
        shown.push(redact_addresses(&text).into_owned());
    });
    shown
}

/// The values among the arguments that their names betray as secret.
#[must_use]
pub fn secret_arguments<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    each(args, |arg, secrets| {
        found.extend(secrets.iter().map(|secret| &arg[secret.clone()]));
    });
    found
}

/// Gives each argument with what of it is secret, in order.
fn each<'a>(
    args: impl IntoIterator<Item = &'a str>,
    mut take: impl FnMut(&'a str, &[Range<usize>]),
) {
    let mut before: Option<&str> = None;
    for arg in args {
        // A flag has its value behind it, but for one that is another flag.
        let value = before.is_some_and(is_secret_flag) && !arg.starts_with("--");
        match value {
            true => take(arg, std::slice::from_ref(&(0..arg.len()))),
            false => take(arg, &pairs(arg)),
        }
        before = Some(arg);
    }
}

fn is_secret_flag(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains('=') && names_a_secret(arg)
}

/// The values of the pairs `NAME=VALUE` and `NAME: VALUE` in an argument whose names name a secret.
fn pairs(arg: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = arg[from..].find(['=', ':']) {
        let at = from + at;
        let name = arg[from..at]
            .rsplit(|c: char| ENDS.contains(&c) || matches!(c, '?' | '/' | '{' | '@'))
            .next()
            .unwrap_or_default();
        from = at + 1;
        if !names_a_secret(name) {
            continue;
        }
        let whole = arg.starts_with(name) || arg[at..].starts_with(':');
        let rest = &arg[from..];
        let start = from + (rest.len() - rest.trim_start_matches([' ', '"', '\'']).len());
        // A header has its line, and a pair that is all of an argument has its rest.
        let end = match whole {
            true => arg.len(),
            false => arg[start..]
                .find(|c: char| ENDS.contains(&c))
                .map_or(arg.len(), |end| start + end),
        };
        if end > start {
            found.push(start..end);
        }
        from = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(&["--token", "s3cret"], &["--token", "[redacted]"])]
    #[case(&["--token", "-s3cret"], &["--token", "[redacted]"])]
    #[case(&["-token", "s3cret", "x"], &["-token", "[redacted]", "x"])]
    #[case(&["--github-token", "s3cret"], &["--github-token", "[redacted]"])]
    #[case(&["--token", "--verbose"], &["--token", "--verbose"])]
    #[case(&["--api-key=s3 cret"], &["--api-key=[redacted]"])]
    #[case(&["API_KEY=a=b&c"], &["API_KEY=[redacted]"])]
    #[case(&["-e", "GITHUB_TOKEN=s3cret"], &["-e", "GITHUB_TOKEN=[redacted]"])]
    #[case(&["--header", "Authorization: Bearer s3cret"], &["--header", "Authorization: [redacted]"])]
    #[case(&["-H=X-Api-Key:s3cret"], &["-H=X-Api-Key:[redacted]"])]
    #[case(&["https://a.example/?page=1&token=s3cret&x=2#y"], &["https://a.example/?page=1&token=[redacted]&x=2#y"])]
    #[case(&["-c", "export DB_PASSWORD='s3cret'; run"], &["-c", "export DB_PASSWORD='[redacted]'; run"])]
    #[case(&["-c", "export DB_PASSWORD=s3cret; run"], &["-c", "export DB_PASSWORD=[redacted]; run"])]
    #[case(&["--token-file", "a"], &["--token-file", "a"])]
    #[case(&["--tokens", "3", "token", "x"], &["--tokens", "3", "token", "x"])]
    #[case(&["--max-tokens=3", "--port=1", "a:b"], &["--max-tokens=3", "--port=1", "a:b"])]
    #[case(&["https://u:s3cret@a.example/?sig=s3cret"], &["https://u:[redacted]@a.example/?sig=[redacted]"])]
    #[case(&["--token="], &["--token="])]
    fn a_secret_among_arguments_was_shown(#[case] args: &[&str], #[case] shown: &[&str]) {
        assert_eq!(shown_arguments(args.iter().copied()), shown);
    }

    #[test]
    fn the_same_are_known_to_be_secret() {
        let args = [
            "--token",
            "one",
            "KEY=x",
            "api_key=two",
            "u?a=1&secret=three",
        ];
        assert_eq!(secret_arguments(args), ["one", "two", "three"]);
    }

    #[test]
    fn what_a_program_was_given_was_told_again() {
        let args = [
            "-H",
            "Authorization: Bearer abcdef123",
            "--password",
            "SECP12345",
            "https://u:p4ss-w0rd@a.example/",
            "--mode=fast-one",
        ];
        let secrets = ProgramSecrets::of(args, ["SECENV1234567", "two"]);
        let told = "abcdef123, Bearer abcdef123, SECP12345, p4ss-w0rd, SECENV1234567, two, fast-one, \
                    https://x:other@a.example/";
        assert_eq!(
            secrets.taken_out(told),
            "[redacted], [redacted], [redacted], [redacted], [redacted], two, fast-one, \
             https://x:[redacted]@a.example/"
        );
        assert!(!format!("{secrets:?}").contains("SECP12345"));
    }

    #[test]
    fn a_secret_was_told_where_it_was_written_as_json() {
        let key = "-----BEGIN \"KEY\"-----\nMIIB\n-----END-----";
        let secrets = ProgramSecrets::of([], [key]);
        let told = serde_json::json!({"said": {"key": key, "n": 1}}).to_string();
        let clean = secrets.taken_out(&told);
        assert_eq!(clean, r#"{"said":{"key":"[redacted]","n":1}}"#);
        assert_eq!(secrets.taken_out(&format!("a {key} b")), "a [redacted] b");
    }

    #[test]
    fn a_secret_that_is_part_of_another_left_the_rest_of_it() {
        let secrets = ProgramSecrets::of([], ["secret", "secret-and-more"]);
        assert_eq!(secrets.taken_out("secret-and-more"), "[redacted]");
    }

    proptest! {
        #[test]
        fn no_argument_panics_and_none_is_lost(args in prop::collection::vec(".{0,20}", 0..5)) {
            let shown = shown_arguments(args.iter().map(String::as_str));
            prop_assert_eq!(shown.len(), args.len());
            for secret in secret_arguments(args.iter().map(String::as_str)) {
                prop_assert!(args.iter().any(|arg| arg.contains(secret)));
            }
        }
    }
}
