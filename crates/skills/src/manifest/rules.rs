//! What the Agent Skills specification asks of names.

use unicode_normalization::UnicodeNormalization as _;

/// The text in the form in which names and directories are compared.
pub(super) fn normal(text: &str) -> String {
    text.nfkc().collect()
}

/// Whether a name has only lowercase letters, digits and single hyphens between them, of any
/// script.
pub(super) fn is_spec_name(name: &str) -> bool {
    let name = normal(name);
    let well_hyphened = !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
    well_hyphened
        && !name.is_empty()
        && name
            .chars()
            .all(|c| c == '-' || is_lowercase_alphanumeric(c))
}

fn is_lowercase_alphanumeric(character: char) -> bool {
    character.is_alphanumeric() && character.to_lowercase().eq([character])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("pdf-tools-2", true)]
    #[case("文档", true)]
    #[case("étude", true)]
    #[case("x²", true)]
    #[case("٣", true)]
    #[case("Report", false)]
    #[case("a--b", false)]
    #[case("-a", false)]
    #[case("a-", false)]
    #[case("a_b", false)]
    #[case("a b", false)]
    #[case("vendor/pdf", false)]
    #[case("", false)]
    fn the_names_of_the_specification(#[case] name: &str, #[case] is: bool) {
        assert_eq!(is_spec_name(name), is);
    }
}
