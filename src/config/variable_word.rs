//! `env:NAME` as the last word of what is sent with the calls of an API: the one place that reads it.

/// What stands before the name of a variable.
const FROM_ENVIRONMENT: &str = "env:";

/// What the last word of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastWord<'a> {
    /// A variable; what it holds is sent in its place, behind what stands before it.
    Variable {
        /// What stands before it, with the space.
        before: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// It begins so and goes on as no name does. The text is sent as it stands.
    Other(&'a str),
    /// The text is sent as it stands.
    Plain,
}

impl<'a> LastWord<'a> {
    /// Reads a text.
    pub(crate) fn of(text: &'a str) -> Self {
        let start = text.rfind(' ').map_or(0, |at| at + 1);
        let (before, word) = text.split_at(start);
        match word.strip_prefix(FROM_ENVIRONMENT) {
            Some(name) if is_variable(name) => Self::Variable { before, name },
            Some(other) => Self::Other(other),
            None => Self::Plain,
        }
    }
}

/// Whether an environment variable may be called this.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const fn variable<'a>(before: &'a str, name: &'a str) -> LastWord<'a> {
        LastWord::Variable { before, name }
    }

    #[rstest]
    #[case("env:KEY", variable("", "KEY"))]
    #[case("Bearer env:MY_KEY_2", variable("Bearer ", "MY_KEY_2"))]
    #[case("Bearer env:", LastWord::Other(""))]
    #[case("env:2", LastWord::Other("2"))]
    #[case("env:prod-eu", LastWord::Other("prod-eu"))]
    #[case("env:A B", LastWord::Plain)]
    #[case("xenv:A", LastWord::Plain)]
    #[case("", LastWord::Plain)]
    fn the_last_word_may_name_a_variable(#[case] text: &str, #[case] word: LastWord<'_>) {
        assert_eq!(LastWord::of(text), word);
    }
}
