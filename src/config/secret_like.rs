//! Whether a text that stands where the name of a variable belongs is rather what the variable
//! should hold. Such a text is never shown.

use outfitter_core::is_key_not_name;

use crate::env::Environment;

/// A part of a name is shorter than this, or digits and letters change in it less often.
const RANDOM_PART: usize = 20;
const RANDOM_CHANGES: usize = 7;

/// The shortest key that is letters alone behind its beginning; those of Hugging Face have 34.
const LETTERS: usize = 30;

/// The longest beginning of such a key, without its `_`.
const BEGINNING: usize = 4;

/// How many capital letters without two small ones behind them are more than names have: there are
/// some in `My`, `To` and `HTTP`.
const NO_WORDS: usize = 8;

/// Whether a text is a key or a token rather than the name of a variable. A variable that is set is
/// one, whatever it is called; and where in doubt it is a name, so that none is refused.
pub(super) fn looks_like_a_secret(text: &str, env: &Environment) -> bool {
    (is_key_not_name(text) || text.split('_').any(is_random) || is_of_letters(text))
        && env.passed([text]).next().is_none()
}

/// Whether a text is a key of letters alone, as `hf_…`: behind a short beginning, letters of both
/// kinds that are no words.
fn is_of_letters(text: &str) -> bool {
    let Some((beginning, rest)) = text.split_once('_') else {
        return false;
    };
    let small = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
    let capital = |byte: &u8| byte.is_ascii_uppercase();
    let bytes = rest.as_bytes();
    (1..=BEGINNING).contains(&beginning.len())
        && small(beginning)
        && rest.len() >= LETTERS
        && bytes.iter().all(u8::is_ascii_alphabetic)
        && bytes.iter().any(capital)
        && bytes.iter().any(|byte| !capital(byte))
        && bytes
            .split(capital)
            .skip(1)
            .filter(|behind| behind.len() < 2)
            .count()
            >= NO_WORDS
}

/// Whether digits and letters change so often in a part that nobody has written it.
fn is_random(part: &str) -> bool {
    let bytes = part.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
    part.len() >= RANDOM_PART && changes.count() >= RANDOM_CHANGES
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn none_set() -> Environment {
        Environment::default()
    }

    #[rstest]
    #[case("sk_live_4eC39HqLyjWDarjtT1zdp7dc")]
    #[case("sk-proj-4eC39HqLyjWDarjtT1zdp7dc")]
    #[case("ghp_16C7e42F292c6912E7710c838347Ae178B4a")]
    #[case("github_pat_11ABCDEFG0abcdefghijkl_0123456789")]
    #[case("hf_aBcDeFgHiJkLmN0pQr")]
    #[case("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")]
    #[case("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH")]
    #[case("gsk_aBcDeFgHiJkLmN0pQr")]
    #[case("AIzaSyD0000000000000000000000000000000")]
    #[case("AKIAIOSFODNN7EXAMPLE")]
    #[case("d41d8cd98f00b204e9800998ecf8427e")]
    #[case("a94a8fe5ccb19ba61c4c")]
    fn a_key_in_the_place_of_its_name_passed(#[case] text: &str) {
        assert!(looks_like_a_secret(text, &none_set()), "{text}");
    }

    #[rstest]
    #[case("OPENAI_API_KEY")]
    #[case("HF_TOKEN")]
    #[case("HF_TOKEN_2")]
    #[case("NPM_TOKEN_2")]
    #[case("npm_config_registry")]
    #[case("SECRET_KEY")]
    #[case("SECRET_KEY_2")]
    #[case("secret_key")]
    #[case("secret_access_key_2")]
    #[case("SK_KEY")]
    #[case("sk_test_x1")]
    #[case("ASIA_NORTHEAST1_KEY")]
    #[case("GITHUB_PAT_TOKEN")]
    #[case("MyCompanyServiceApiKey")]
    #[case("http_proxy")]
    #[case("my_service_key")]
    #[case("KEY2")]
    #[case("MY_KEY_2026_11")]
    #[case("AZURE_OPENAI_V1_KEY")]
    #[case("OPENAICOMPATIBLESERVERKEY")]
    #[case("correcthorsebatterystaplecorrecthorse")]
    #[case("S3BUCKET2EUWEST1ACCESSKEY")]
    #[case("_x")]
    #[case("hf_MyInferenceServerTokenForProduction")]
    #[case("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")]
    #[case("hf_myinferenceservertokenforproduction")]
    #[case("HF_MYINFERENCESERVERTOKENFORPRODUCTION")]
    #[case("my_MyInferenceServer_TokenForProduction_x")]
    fn a_name_stays_a_name(#[case] text: &str) {
        assert!(!looks_like_a_secret(text, &none_set()), "{text}");
    }

    #[test]
    fn a_variable_that_is_set_was_no_name() {
        let name = "hf_MyInferenceServer2";
        let env = Environment::of("/", [(name, "")]);
        assert!(looks_like_a_secret(name, &none_set()));
        assert!(!looks_like_a_secret(name, &env));
    }
}
