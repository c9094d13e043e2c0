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

/// Whether the value under this name is a secret, by the name alone.
#[must_use]
pub fn is_secret_key(name: &str) -> bool {
    Folded::of(name).is_some_and(|name| name.is_among(&SECRET_KEYS))
}

/// Whether what a name names is a secret, also as the end of a longer name: `GITHUB_TOKEN`,
/// `--db-password`.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    ends(name).any(is_secret_key)
}

/// Whether a parameter of an address holds a secret, by its name alone: also as the end of a longer
/// one (`X-Amz-Signature`, `githubToken`) and within brackets (`user[password]`).
pub(super) fn is_secret_parameter(name: &str) -> bool {
    let name = name.strip_suffix("[]").unwrap_or(name);
    let name = name.strip_suffix(']').unwrap_or(name);
    let name = name.rsplit('[').next().unwrap_or(name);
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
