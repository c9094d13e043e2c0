//! The name of a skill: data, never a path.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::limits::MAX_NAME_CHARS;

/// The name of a skill as people and models write it: 1 to 128 characters, none of them a control
/// character, no space around it. It may hold slashes and any script, so it is never used as a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SkillName(Arc<str>);

impl SkillName {
    /// The text as a name, without the space around it; none when it cannot be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits =
            !text.is_empty() && text.chars().take(MAX_NAME_CHARS + 1).count() <= MAX_NAME_CHARS;
        (fits && !text.chars().any(is_invisible)).then(|| Self(text.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What names have in common that differ by case only. Two skills of one key are one too many.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// Characters that a reader does not see and that could make one name look like another.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x2069 | 0xfeff | 0xe_0000..=0xe_007f)
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("report", true)]
    #[case("文档", true)]
    #[case("vendor/skills@pdf", true)]
    #[case(" padded ", true)]
    #[case("", false)]
    #[case("two\nlines", false)]
    #[case("zero\u{200b}width", false)]
    #[case("nul\0", false)]
    fn a_name_is_what_a_reader_sees_on_one_line(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(SkillName::new(text).is_some(), fits);
    }

    #[test]
    fn a_name_has_at_most_128_characters() {
        assert!(SkillName::new(&"文".repeat(128)).is_some());
        assert!(SkillName::new(&"文".repeat(129)).is_none());
    }
}
