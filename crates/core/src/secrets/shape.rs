//! Values that are secrets by how they look, whatever they are called.

/// How the keys of well-known services begin, and what else such a key must have.
const BEGINNINGS: [(&str, Mix); 29] = [
    ("AIza", Mix::Both),
    ("AKIA", Mix::Digits),
    ("ASIA", Mix::Digits),
    ("SG.", Mix::Both),
    ("dop_v1_", Mix::Digits),
    ("eyJ", Mix::Dots),
    ("ghc_", Mix::Digits),
    ("gho_", Mix::Digits),
    ("ghp_", Mix::Digits),
    ("ghr_", Mix::Digits),
    ("ghs_", Mix::Digits),
    ("ghu_", Mix::Digits),
    ("github_pat_", Mix::Digits),
    ("glpat-", Mix::Digits),
    ("glptt-", Mix::Digits),
    ("hf_", Mix::Both),
    ("npm_", Mix::Both),
    ("pk_live_", Mix::Digits),
    ("pypi-", Mix::Both),
    ("rk_live_", Mix::Digits),
    ("shpat_", Mix::Digits),
    ("sk-", Mix::Both),
    ("sk_live_", Mix::Digits),
    ("sk_test_", Mix::Digits),
    ("xapp-", Mix::Digits),
    ("xoxa-", Mix::Digits),
    ("xoxb-", Mix::Digits),
    ("xoxp-", Mix::Digits),
    ("ya29.", Mix::Digits),
];

/// What tells a key from a word that begins like one.
#[derive(Clone, Copy)]
enum Mix {
    Digits,
    /// Digits and capital letters.
    Both,
    /// Three parts (RFC 7519).
    Dots,
}

/// The shortest key of any service, without its beginning.
const MIN_REST: usize = 12;

/// Whether a value is a key of a well-known service, by how it looks.
pub(super) fn is_token(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    BEGINNINGS.iter().any(|(beginning, mix)| {
        let Some(rest) = value.strip_prefix(beginning) else {
            return false;
        };
        let digits = || rest.bytes().any(|byte| byte.is_ascii_digit());
        rest.len() >= MIN_REST
            && rest.bytes().all(plain)
            && match mix {
                Mix::Digits => digits(),
                Mix::Both => digits() && rest.bytes().any(|byte| byte.is_ascii_uppercase()),
                Mix::Dots => rest.matches('.').count() == 2,
            }
    }) || is_bot(value)
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
