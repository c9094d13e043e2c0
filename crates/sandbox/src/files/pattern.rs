//! Patterns for names.

use globset::{GlobBuilder, GlobMatcher};
use outfitter_core::FilesError;

use super::error::invalid;

/// A glob, split into the directories it names outright and the rest, which has to be looked for.
#[derive(Debug)]
pub(super) struct NamePattern {
    /// Empty, or a path; absolute if the pattern is.
    pub(super) directory: String,
    pub(super) matcher: GlobMatcher,
    /// Whether names that begin with a dot are meant.
    pub(super) hidden: bool,
}

impl NamePattern {
    pub(super) fn new(pattern: &str) -> Result<Self, FilesError> {
        if pattern.is_empty() {
            return Err(invalid("an empty pattern", "every file is `**/*`"));
        }
        let (directory, rest) = split(pattern);
        if rest.is_empty() {
            return Err(invalid(
                pattern,
                "it names a directory; what is in it is `/**` after it",
            ));
        }
        let matcher = GlobBuilder::new(rest)
            .literal_separator(true)
            .build()
            .map_err(|error| invalid(pattern, error.kind().to_string()))?
            .compile_matcher();
        Ok(Self {
            directory: directory.to_owned(),
            hidden: means_hidden(rest),
            matcher,
        })
    }
}

/// Whether a pattern speaks of names that begin with a dot.
pub(super) fn means_hidden(pattern: &str) -> bool {
    let mut before = '/';
    for c in pattern.chars() {
        if c == '.' && matches!(before, '/' | '{' | ',' | '!') {
            return true;
        }
        before = c;
    }
    false
}

fn split(pattern: &str) -> (&str, &str) {
    let mut cut = 0;
    for (at, c) in pattern.char_indices() {
        match c {
            '*' | '?' | '[' | '{' | '\\' => break,
            '/' => cut = at + 1,
            _ => {}
        }
    }
    let (directory, rest) = pattern.split_at(cut);
    // `./x` is `x`.
    (directory.strip_prefix("./").unwrap_or(directory), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("**/*.rs", "", "**/*.rs")]
    #[case("src/main.rs", "src/", "main.rs")]
    #[case("src/a/**/x", "src/a/", "**/x")]
    #[case("/ws/*.md", "/ws/", "*.md")]
    #[case("{a/b,c}/x", "", "{a/b,c}/x")]
    #[case("./x/*", "x/", "*")]
    fn the_literal_directories_come_first(
        #[case] pattern: &str,
        #[case] directory: &str,
        #[case] rest: &str,
    ) {
        assert_eq!(split(pattern), (directory, rest));
    }

    #[rstest]
    #[case("*.rs", false)]
    #[case("a.b/c.*", false)]
    #[case(".env*", true)]
    #[case("**/.github/*", true)]
    #[case("{a,.b}", true)]
    #[case("!.x", true)]
    fn a_dot_at_the_start_of_a_name_means_hidden_ones(#[case] pattern: &str, #[case] hidden: bool) {
        assert_eq!(means_hidden(pattern), hidden);
    }
}
