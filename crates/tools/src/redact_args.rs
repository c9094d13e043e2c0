//! Secrets among the arguments of a program: `--token X`, `--api-key=X`, `KEY=X`,
//! `Authorization: X`, `https://host/?key=X`.

use std::ops::Range;

use outfitter_core::{REDACTED, names_a_secret, redact_addresses};

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
