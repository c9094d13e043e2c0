//! Names of directories for texts that were not made to be names.

use outfitter_core::Hash;

/// The longest text that is spelled out. File systems take 255 bytes, and each byte may need three.
const SPELLED_BYTES: usize = 80;

/// A name for a directory: two texts never have the same, and none leads anywhere else. Letters,
/// digits, `_` and `-` stand for themselves, every other byte is `%` and two hexadecimal digits.
/// The empty text is `%`, a long one `%%` and its SHA-256; no other text gives either.
#[must_use]
pub fn path_segment(text: &str) -> String {
    use std::fmt::Write as _;
    if text.is_empty() {
        return "%".to_owned();
    }
    if text.len() > SPELLED_BYTES {
        return Hash::of(text).to_string().replacen("sha256:", "%%", 1);
    }
    text.bytes()
        .fold(String::with_capacity(text.len()), |mut name, byte| {
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
                name.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(name, "%{byte:02X}");
            }
            name
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("local", "local")]
    #[case("", "%")]
    #[case("..", "%2E%2E")]
    #[case("a/b\0ü", "a%2Fb%00%C3%BC")]
    #[case("a%2Fb", "a%252Fb")]
    fn a_name_stands_for_itself_where_it_can(#[case] text: &str, #[case] name: &str) {
        assert_eq!(path_segment(text), name);
    }

    #[test]
    fn a_long_text_still_has_a_short_name_of_its_own() {
        let (a, b) = ("x".repeat(81), "x".repeat(82));
        assert_ne!(path_segment(&a), path_segment(&b));
        assert_eq!(path_segment(&a).len(), 66);
    }

    proptest! {
        #[test]
        fn a_name_leads_nowhere_and_fits(text in any::<String>()) {
            let name = path_segment(&text);
            prop_assert!((1..=255).contains(&name.len()));
            prop_assert!(!name.contains(['/', '\0', '.']));
        }

        #[test]
        fn two_texts_have_two_names(a in "[a%2F./]{0,4}", b in "[a%2F./]{0,4}") {
            prop_assert_eq!(a == b, path_segment(&a) == path_segment(&b));
        }
    }
}
