//! Values that are secrets by how they look, whatever they are called.

/// How the keys of well-known services begin, and what else such a key must have.
const BEGINNINGS: [(&str, Mix); 51] = [
    ("AIza", Mix::Both),
    ("AKIA", Mix::Digits),
    ("ASIA", Mix::Digits),
    ("SG.", Mix::Both),
    ("csk-", Mix::Digits),
    ("dckr_pat_", Mix::Both),
    ("dop_v1_", Mix::Digits),
    ("eyJ", Mix::Dots),
    ("figd_", Mix::Both),
    ("fw_", Mix::Both),
    ("ghc_", Mix::Digits),
    ("gho_", Mix::Digits),
    ("ghp_", Mix::Digits),
    ("ghr_", Mix::Digits),
    ("ghs_", Mix::Digits),
    ("ghu_", Mix::Digits),
    ("github_pat_", Mix::Digits),
    ("gldt-", Mix::Digits),
    ("glpat-", Mix::Digits),
    ("glptt-", Mix::Digits),
    ("glsa_", Mix::Both),
    ("gsk_", Mix::Both),
    ("hf_", Mix::Both),
    ("lin_api_", Mix::Both),
    ("npm_", Mix::Both),
    ("ntn_", Mix::Both),
    ("nvapi-", Mix::Both),
    ("phc_", Mix::Both),
    ("pk_live_", Mix::Any),
    ("pplx-", Mix::Both),
    ("pypi-", Mix::Both),
    ("r8_", Mix::Both),
    ("rk_live_", Mix::Any),
    ("sbp_", Mix::Digits),
    ("secret_", Mix::Both),
    ("shpat_", Mix::Digits),
    ("shpss_", Mix::Digits),
    ("sk-", Mix::Both),
    ("sk_", Mix::Both),
    ("sk_live_", Mix::Any),
    ("sk_test_", Mix::Digits),
    ("tvly-", Mix::Both),
    ("whsec_", Mix::Both),
    ("xai-", Mix::Both),
    ("xapp-", Mix::Digits),
    ("xoxa-", Mix::Digits),
    ("xoxb-", Mix::Digits),
    ("xoxp-", Mix::Digits),
    ("xoxr-", Mix::Digits),
    ("xoxs-", Mix::Digits),
    ("ya29.", Mix::Digits),
];

/// What tells a key from a word that begins like one.
#[derive(Clone, Copy)]
enum Mix {
    /// No word begins so.
    Any,
    Digits,
    /// Digits and capital letters.
    Both,
    /// Three parts (RFC 7519).
    Dots,
}

/// The shortest key of any service, without its beginning.
const MIN_REST: usize = 12;

impl Mix {
    fn has(self, rest: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let digits = || rest.bytes().any(|byte| byte.is_ascii_digit());
        rest.len() >= MIN_REST
            && rest.bytes().all(plain)
            && match self {
                Self::Any => true,
                Self::Digits => digits(),
                Self::Both => digits() && rest.bytes().any(|byte| byte.is_ascii_uppercase()),
                Self::Dots => rest.matches('.').count() == 2,
            }
    }
}

/// What follows the beginning of a key of a well-known service, for each such beginning.
fn rests(value: &str) -> impl Iterator<Item = (Mix, &str)> {
    let rest = |(beginning, mix): &(&str, Mix)| Some((*mix, value.strip_prefix(beginning)?));
    BEGINNINGS.iter().filter_map(rest)
}

/// Whether a value is a key of a well-known service, by how it looks.
pub(super) fn is_token(value: &str) -> bool {
    rests(value).any(|(mix, rest)| mix.has(rest)) || is_bot(value)
}

/// Whether a text that stands where the name of a variable belongs is rather a key of a well-known
/// service: behind its beginning is a part, in what could be a name one without `_`, that is as long
/// and as mixed as only keys are.
///
/// `npm_config_registry`, `HF_TOKEN_2` and `ASIA_NORTHEAST1_KEY` are names.
#[must_use]
pub fn is_key_not_name(text: &str) -> bool {
    let could_be_a_name = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    rests(text).any(|(mix, rest)| {
        let part = rest.split('_').next().unwrap_or_default();
        mix.has(if could_be_a_name { part } else { rest })
    })
}

/// How Telegram puts the key of a bot into a path: `bot123456789:…`.
fn is_bot(value: &str) -> bool {
    const MIN_KEY: usize = 30;
    let key = value
        .strip_prefix("bot")
        .and_then(|bot| bot.split_once(':'));
    key.is_some_and(|(id, key)| {
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) && key.len() >= MIN_KEY
    })
}

/// Whether a value is so far from a word that wherever it stands it is the same secret.
pub(super) fn is_unmistakable(value: &str) -> bool {
    const SHORTEST: usize = 8;
    /// No word is so long.
    const LONG: usize = 20;
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    value.len() >= LONG || value.len() >= SHORTEST && digits && letters
}

/// Whether a name is no person's and no program's.
pub(super) fn is_no_name(value: &str) -> bool {
    const SHORTEST: usize = 20;
    value.len() >= SHORTEST && is_random(value)
}

/// Whether a value of a parameter that often holds words is none.
pub(super) fn is_random(value: &str) -> bool {
    const SHORTEST: usize = 12;
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    value.len() >= SHORTEST && digits && letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_as_a_key_was_one() {
        for name in [
            "npm_config_registry",
            "HF_TOKEN_2",
            "ASIA_NORTHEAST1_KEY",
            "secret_access_key_2",
            "prod-eu",
        ] {
            assert!(!is_key_not_name(name), "{name}");
        }
        for key in [
            "hf_aBcDeFgHiJkLmN0pQr",
            "sk-proj-4eC39HqLyj_WDarjtT1z",
            "github_pat_11ABCDEFG0abcdefghijkl_0123456789",
        ] {
            assert!(is_key_not_name(key) && is_token(key), "{key}");
        }
    }

    #[test]
    fn each_beginning_is_there_once() {
        assert!(BEGINNINGS.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
