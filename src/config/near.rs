//! The word that a misspelt one was meant to be, where one is near enough to be worth saying.

/// How many letters may be other, missing, added or exchanged, at most.
const MOST_CHANGES: usize = 3;

/// One in so many letters may be.
const LETTERS_FOR_A_CHANGE: usize = 3;

/// A part of a name as short as this is a part of too many.
const LEAST_PART: usize = 3;

/// The nearest of `names` to `word`: one that differs by few letters for its length, or else the
/// only one that has `word` as one of its parts, or begins with it. Case does not count.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (mut best, mut parts): (Option<(usize, &str)>, Vec<&str>) = (None, Vec::new());
    for name in names {
        let lower = name.to_lowercase();
        let changes = strsim::damerau_levenshtein(&word, &lower);
        let letters = word.chars().count().max(lower.chars().count());
        if changes <= (letters / LETTERS_FOR_A_CHANGE).min(MOST_CHANGES)
            && best.is_none_or(|(fewest, _)| changes < fewest)
        {
            best = Some((changes, name));
        }
        let has_part = lower.split('_').any(|part| part == word)
            || lower
                .strip_prefix(word.as_str())
                .is_some_and(|rest| rest.starts_with('_'));
        if word.chars().count() >= LEAST_PART && has_part {
            parts.push(name);
        }
    }
    match (best, parts.as_slice()) {
        (Some((_, name)), _) => Some(name),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

/// The same as the end of a sentence: `, did you mean …?`, or nothing.
pub(super) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!(", did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NAMES: [&str; 10] = [
        "name",
        "base_url",
        "timeout_seconds",
        "max_retries",
        "retry_delay_ms",
        "max_retry_delay_ms",
        "script",
        "vision",
        "env",
        "load",
    ];

    #[rstest]
    #[case("nmae", Some("name"))]
    #[case("Name", Some("name"))]
    #[case("names", Some("name"))]
    #[case("url", Some("base_url"))]
    #[case("baseurl", Some("base_url"))]
    #[case("timeout", Some("timeout_seconds"))]
    #[case("timeout_second", Some("timeout_seconds"))]
    #[case("max_retrys", Some("max_retries"))]
    #[case("max-retries", Some("max_retries"))]
    #[case("evn", Some("env"))]
    #[case("scripts", Some("script"))]
    // Far away: another word is not what was meant.
    #[case("temperature", None)]
    #[case("budget_tokens", None)]
    #[case("stream", None)]
    #[case("import", None)]
    #[case("id", None)]
    #[case("max", None)]
    #[case("x", None)]
    #[case("", None)]
    fn a_word_that_is_far_away_was_offered(#[case] word: &str, #[case] meant: Option<&str>) {
        assert_eq!(nearest(word, NAMES), meant);
    }
}
