//! The names under which secrets stand.

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

/// How long the shortest of them is. Many names of parameters are shorter, and every call asks.
const SHORTEST_KEY: usize = 5;

/// Names of parameters of addresses whose values are secrets, beside those above: spelled the same
/// way. Elsewhere these words are ordinary ones.
const SECRET_PARAMETERS: [&str; 31] = [
    "appkey",
    "appsecret",
    "auth",
    "authkey",
    "awsaccesskeyid",
    "clientassertion",
    "codeverifier",
    "consumerkey",
    "hmac",
    "jsessionid",
    "jwt",
    "key",
    "licensekey",
    "oauthsignature",
    "oauthtoken",
    "oauthverifier",
    "pass",
    "passcode",
    "phpsessid",
    "pw",
    "pwd",
    "samlresponse",
    "securitytoken",
    "sharedkey",
    "sig",
    "signature",
    "signingkey",
    "subscriptionkey",
    "xamzcredential",
    "xamzsecuritytoken",
    "xamzsignature",
];

/// Parameter names that are too ordinary for what they name to be looked for anywhere else.
const ORDINARY_PARAMETERS: [&str; 4] = ["auth", "key", "pass", "token"];

/// What stands before the last word of a name that names no secret then: where to go on, and parts
/// of a text or of a program.
const ORDINARY: [(&str, &[&str]); 2] = [
    (
        "token",
        &[
            "bos",
            "cancel",
            "cancellation",
            "change",
            "changes",
            "continuation",
            "continue",
            "cursor",
            "delta",
            "eos",
            "mask",
            "next",
            "offset",
            "pad",
            "page",
            "paging",
            "pagination",
            "prev",
            "previous",
            "resume",
            "scroll",
            "skip",
            "start",
            "stop",
            "sync",
            "unk",
        ],
    ),
    ("signature", &["call", "function", "method", "type"]),
];

/// Whether the value under this name is a secret, by the name alone.
#[must_use]
pub fn is_secret_key(name: &str) -> bool {
    name.len() >= SHORTEST_KEY && Folded::of(name).is_some_and(|name| name.is_among(&SECRET_KEYS))
}

/// Whether what a name names is a secret, also as the end of a longer name: `GITHUB_TOKEN`,
/// `--db-password`.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    !is_ordinary(name) && ends(name).any(is_secret_key)
}

/// Whether a parameter of an address holds a secret, by its name alone: also as the end of a longer
/// one (`X-Amz-Signature`, `githubToken`) and within brackets (`user[password]`).
pub(super) fn is_secret_parameter(name: &str) -> bool {
    let name = name.strip_suffix("[]").unwrap_or(name);
    let name = name.strip_suffix(']').unwrap_or(name);
    let name = name.rsplit('[').next().unwrap_or(name);
    if is_ordinary(name) {
        return false;
    }
    let whole = Folded::of(name).is_some_and(|name| name.is_among(&SECRET_PARAMETERS));
    let signs = ends(name).any(|end| {
        let end = Folded::of(end);
        end.is_some_and(|end| matches!(end.text(), b"signature" | b"apikey"))
    });
    let begins_a_word = |(at, letter): &(usize, char)| {
        letter.is_ascii_uppercase() && name[..*at].ends_with(|c: char| c.is_ascii_lowercase())
    };
    let camel = || name.char_indices().filter(begins_a_word);
    whole || signs || names_a_secret(name) || camel().any(|(at, _)| is_secret_key(&name[at..]))
}

/// Whether a parameter of this name holds other things as well, words among them.
pub(super) fn is_ordinary_parameter(name: &str) -> bool {
    Folded::of(name).is_some_and(|name| name.is_among(&ORDINARY_PARAMETERS))
}

/// Whether the last word of a name is made an ordinary one by the word before it: `pageToken`,
/// `next_page_token`, `NextToken`.
fn is_ordinary(name: &str) -> bool {
    ORDINARY.iter().any(|(last, before)| {
        let Some(at) = name.len().checked_sub(last.len()).filter(|at| *at > 0) else {
            return false;
        };
        let (Some(first), Some(end)) = (name.get(..at), name.get(at..)) else {
            return false;
        };
        let first = first.trim_end_matches(['_', '-', '.']);
        let mut words = first.rsplit(|c: char| !c.is_ascii_alphanumeric());
        let word = words.next().unwrap_or_default();
        // Where a word in camel case begins, if it does not with the whole.
        let capital = word.rfind(|c: char| c.is_ascii_uppercase());
        let shouts = word.bytes().all(|byte| !byte.is_ascii_lowercase());
        let word = &word[capital.filter(|_| !shouts).unwrap_or(0)..];
        end.eq_ignore_ascii_case(last)
            && before.iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}

/// A name and each part of it that begins after a separator.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let later = name.match_indices(['_', '-', '.']);
    std::iter::once(name).chain(later.map(|(at, _)| &name[at + 1..]))
}

/// A name in lower case without its separators.
struct Folded {
    bytes: [u8; Self::LONGEST],
    len: usize,
}

impl Folded {
    /// The longest of the tables has room for its separators.
    const LONGEST: usize = 32;

    fn of(name: &str) -> Option<Self> {
        if name.is_empty() || name.len() > Self::LONGEST {
            return None;
        }
        let mut folded = Self {
            bytes: [0; Self::LONGEST],
            len: 0,
        };
        for byte in name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
            folded.bytes[folded.len] = byte.to_ascii_lowercase();
            folded.len += 1;
        }
        Some(folded)
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn is_among(&self, table: &[&str]) -> bool {
        table
            .binary_search_by(|key| key.as_bytes().cmp(self.text()))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn the_tables_are_sorted_for_the_search() {
        assert!(SECRET_KEYS.is_sorted());
        assert!(SECRET_PARAMETERS.is_sorted());
        assert!(ORDINARY_PARAMETERS.is_sorted());
        let shortest = SECRET_KEYS.iter().map(|key| key.len()).min();
        assert_eq!(shortest, Some(SHORTEST_KEY));
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

    /// Names that programs give to ordinary data.
    #[test]
    fn ordinary_data_was_taken_for_a_secret_by_its_name() {
        for name in [
            "pageToken",
            "page_token",
            "PAGE_TOKEN",
            "page-token",
            "nextPageToken",
            "next_page_token",
            "prevPageToken",
            "previous_page_token",
            "NextToken",
            "nextToken",
            "next_token",
            "continuationToken",
            "continuation_token",
            "x-continuation-token",
            "syncToken",
            "nextSyncToken",
            "sync-token",
            "cursorToken",
            "cursor_token",
            "startPageToken",
            "skipToken",
            "$skiptoken",
            "resume_token",
            "cancellationToken",
            "scroll_token",
            "max_tokens",
            "maxTokens",
            "max_completion_tokens",
            "tokens",
            "total_tokens",
            "prompt_tokens",
            "tokenCount",
            "token_count",
            "token_type",
            "tokenType",
            "tokenizer",
            "token_limit",
            "tokenized",
            "eos_token",
            "pad_token",
            "stop_token",
            "sort_key",
            "sortKey",
            "primary_key",
            "foreignKey",
            "partition_key",
            "cache_key",
            "keys",
            "keyword",
            "keyboard",
            "key_id",
            "public_key",
            "publicKey",
            "monkey",
            "secretary",
            "password_policy",
            "passwordless",
            "author",
            "authors",
            "authority",
            "design",
            "signal",
            "signature_help",
            "function_signature",
            "methodSignature",
            "pass_rate",
            "bypass",
            "compass",
            "cookie_banner",
            "session_id",
            "code",
            "state",
            "hash",
            "cursor",
        ] {
            assert!(!is_secret_key(name), "{name}");
            assert!(!names_a_secret(name), "{name}");
            assert!(!is_secret_parameter(name), "{name}");
        }
        // Ordinary as the name of a member, and in an address what a key stands under.
        for name in ["key", "auth", "pass", "pw", "sig", "signature"] {
            assert!(!is_secret_key(name) && !names_a_secret(name), "{name}");
        }
        for name in [
            "homepage_access_token",
            "page_access_token",
            "githubToken",
            "REFRESH_TOKEN",
        ] {
            assert!(names_a_secret(name) || is_secret_parameter(name), "{name}");
        }
    }

    #[rstest]
    #[case("key", true)]
    #[case("sig", true)]
    #[case("X-Amz-Signature", true)]
    #[case("X-Goog-Signature", true)]
    #[case("access_token", true)]
    #[case("githubToken", true)]
    #[case("user[password]", true)]
    #[case("token[]", true)]
    #[case("my_api_key", true)]
    #[case("page", false)]
    #[case("page_token_count", false)]
    #[case("sort_key", false)]
    #[case("keyword", false)]
    #[case("author", false)]
    #[case("tokens", false)]
    #[case("code", false)]
    #[case("session_id", false)]
    #[case("design", false)]
    fn the_name_of_a_parameter_decides(#[case] name: &str, #[case] secret: bool) {
        assert_eq!(is_secret_parameter(name), secret);
    }
}
