//! Whether a text that stands where the name of a variable belongs is rather what the variable
//! should hold. Such a text is never shown.

/// What keys of known services begin with, in lower case.
const PREFIXES: [&str; 46] = [
    "sk_",
    "sk-",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat",
    "glsa_",
    "gldt",
    "xoxa",
    "xoxb",
    "xoxp",
    "xoxr",
    "xoxs",
    "xapp",
    "hf_",
    "gsk_",
    "aiza",
    "akia",
    "asia",
    "ya29",
    "eyj",
    "npm_",
    "pypi",
    "dop_v1_",
    "shpat_",
    "shpss_",
    "r8_",
    "pplx",
    "nvapi",
    "tvly",
    "lin_api_",
    "ntn_",
    "secret_",
    "figd_",
    "xai-",
    "whsec_",
    "dckr_pat_",
    "sbp_",
    "phc_",
    "fw_",
    "csk",
];

/// A name that a person wrote has no longer part between its `_` than this, unless it is of letters
/// of one case.
const LONGEST_PART: usize = 15;

/// Not even then is it as long as this.
const LONGEST_WORD: usize = 31;

/// No name is longer.
const LONGEST_NAME: usize = 100;

/// Whether a text looks like a key, a token or a password rather than the name of a variable.
pub(super) fn looks_like_a_secret(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has_lower = text.bytes().any(|b| b.is_ascii_lowercase());
    let known = PREFIXES.iter().any(|prefix| {
        // HF_TOKEN and SECRET_KEY are names: keys have small letters or digits behind it.
        lower.starts_with(prefix) && (has_lower || text.bytes().any(|b| b.is_ascii_digit()))
    });
    known || text.len() > LONGEST_NAME || text.split('_').any(is_random)
}

/// Whether a part of a name looks as if nobody had thought of it.
fn is_random(part: &str) -> bool {
    let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let small = count(u8::is_ascii_lowercase);
    let large = count(u8::is_ascii_uppercase);
    let mixed = digits > 1 && (small + large) > 1 || small > 1 && large > 1;
    part.len() > LONGEST_WORD || part.len() > LONGEST_PART && mixed
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("sk_live_4eC39HqLyjWDarjtT1zdp7dc")]
    #[case("sk_live_abcdefghijklmnop")]
    #[case("sk_test_x1")]
    #[case("ghp_16C7e42F292c6912E7710c838347Ae178B4a")]
    #[case("github_pat_11ABCDEFG0")]
    #[case("hf_abcdefghijklmnop")]
    #[case("gsk_abc123")]
    #[case("AIzaSyD0000000000000000000000000000000")]
    #[case("AKIAIOSFODNN7EXAMPLE")]
    #[case("xoxb_12_ab")]
    #[case("eyJhbGciOiJIUzI1NiJ9")]
    #[case("d41d8cd98f00b204e9800998ecf8427e")]
    #[case("a94a8fe5ccb19ba61c4c")]
    #[case("Zm9vYmFyYmF6cXV4")]
    #[case("correcthorsebatterystaplecorrecthorse")]
    fn a_key_in_the_place_of_its_name_passed(#[case] text: &str) {
        assert!(looks_like_a_secret(text), "{text}");
    }

    #[rstest]
    #[case("OPENAI_API_KEY")]
    #[case("HF_TOKEN")]
    #[case("SECRET_KEY")]
    #[case("SK_KEY")]
    #[case("GITHUB_PAT_TOKEN")]
    #[case("http_proxy")]
    #[case("my_service_key")]
    #[case("KEY2")]
    #[case("MY_KEY_2026_11")]
    #[case("AZURE_OPENAI_V1_KEY")]
    #[case("OPENAICOMPATIBLESERVERKEY")]
    #[case("_x")]
    fn a_name_stays_a_name(#[case] text: &str) {
        assert!(!looks_like_a_secret(text), "{text}");
    }
}
