//! A credential is taken out of whatever a program prints.

use secrecy::{ExposeSecret, SecretString};

/// What stands in its place.
const REDACTED: &[u8] = b"[redacted]";

/// A beginning of a credential at the end of a cut output that is at least this long is one.
const LEAST_PREFIX: usize = 12;

/// Takes one secret out of bytes.
#[derive(Clone)]
pub(crate) struct Scrub(Option<SecretString>);

impl Scrub {
    pub(crate) fn of(secret: Option<SecretString>) -> Self {
        Self(secret.filter(|secret| !secret.expose_secret().is_empty()))
    }

    /// The bytes without the secret.
    pub(crate) fn clean(&self, bytes: Vec<u8>) -> Vec<u8> {
        let Some(secret) = self.bytes() else {
            return bytes;
        };
        let Some(mut at) = find(&bytes, secret) else {
            return bytes;
        };
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        loop {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(REDACTED);
            rest = &rest[at + secret.len()..];
            match find(rest, secret) {
                Some(next) => at = next,
                None => break,
            }
        }
        out.extend_from_slice(rest);
        out
    }

    /// As [`clean`](Self::clean), of bytes that were cut: a beginning of the secret at their end goes
    /// too.
    pub(crate) fn clean_cut(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = self.clean(bytes);
        let Some(secret) = self.bytes() else {
            return bytes;
        };
        let begun = (LEAST_PREFIX..secret.len())
            .rev()
            .find(|len| bytes.ends_with(&secret[..*len]));
        if let Some(len) = begun {
            bytes.truncate(bytes.len() - len);
            bytes.extend_from_slice(REDACTED);
        }
        bytes
    }

    fn bytes(&self) -> Option<&[u8]> {
        self.0
            .as_ref()
            .map(|secret| secret.expose_secret().as_bytes())
    }
}

fn find(bytes: &[u8], secret: &[u8]) -> Option<usize> {
    bytes
        .windows(secret.len())
        .position(|window| window == secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scrub() -> Scrub {
        Scrub::of(Some("abc.def.ghi-jkl".into()))
    }

    #[test]
    fn every_copy_is_taken_out_and_nothing_else() {
        let clean = scrub().clean(b"x abc.def.ghi-jklabc.def.ghi-jkl\xff abc.def.ghi-jk".to_vec());
        assert_eq!(clean, b"x [redacted][redacted]\xff abc.def.ghi-jk");
        assert_eq!(Scrub::of(None).clean(b"abc".to_vec()), b"abc");
    }

    #[test]
    fn a_beginning_at_the_end_of_a_cut_output_is_taken_out() {
        let clean = scrub().clean_cut(b"x abc.def.ghi-".to_vec());
        assert_eq!(clean, b"x [redacted]");
        assert_eq!(scrub().clean_cut(b"x abc.def".to_vec()), b"x abc.def");
    }

    proptest! {
        #[test]
        fn the_secret_is_never_in_what_is_left(parts in prop::collection::vec("(abc\\.def\\.ghi-jkl)|[a-k.-]{0,4}", 0..20)) {
            let clean = scrub().clean(parts.concat().into_bytes());
            prop_assert!(find(&clean, b"abc.def.ghi-jkl").is_none());
        }
    }
}
