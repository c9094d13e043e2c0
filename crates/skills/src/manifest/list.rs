//! The ways in which people write lists: as YAML, with commas, with spaces.

use crate::frontmatter::{Kind, Value};

/// How a text is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// At commas.
    Commas,
    /// At commas where there are any, else at spaces; never inside parentheses.
    CommasOrSpaces,
}

/// The items of a value; none when it is no list of texts.
pub(super) fn items(value: &Value, apart: Apart) -> Option<Vec<String>> {
    match &value.kind {
        Kind::Null => Some(Vec::new()),
        Kind::Text(text) | Kind::Other(text) => Some(taken_apart(text, apart)),
        Kind::List(list) => list
            .iter()
            .map(|item| Some(item.scalar()?.trim().to_owned()))
            .filter(|item| item.as_deref() != Some(""))
            .collect(),
        Kind::Map(_) => None,
    }
}

fn taken_apart(text: &str, apart: Apart) -> Vec<String> {
    let at_commas = outside_parentheses(text, |c| c == ',' || c == '，');
    if apart == Apart::CommasOrSpaces && at_commas.len() == 1 {
        return outside_parentheses(text, char::is_whitespace);
    }
    at_commas
}

fn outside_parentheses(text: &str, separates: impl Fn(char) -> bool) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && separates(character) {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(character);
        }
    }
    items
        .iter()
        .map(|item| item.trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Place;
    use rstest::rstest;

    fn text(text: &str) -> Value {
        Value {
            at: Place { line: 1, column: 1 },
            kind: Kind::Text(text.to_owned()),
        }
    }

    #[rstest]
    #[case("Read Grep", &["Read", "Grep"])]
    #[case("Read, Grep", &["Read", "Grep"])]
    #[case("Bash(git:*) Bash(jq:*) Read", &["Bash(git:*)", "Bash(jq:*)", "Read"])]
    #[case("Bash(git add, git rm), Read", &["Bash(git add, git rm)", "Read"])]
    #[case("mcp__notes__search", &["mcp__notes__search"])]
    #[case("", &[])]
    fn allowed_tools_are_read_in_every_form(#[case] written: &str, #[case] expected: &[&str]) {
        assert_eq!(
            items(&text(written), Apart::CommasOrSpaces).unwrap(),
            expected
        );
    }

    #[rstest]
    #[case("report, 报告，周报", &["report", "报告", "周报"])]
    #[case("two words, one", &["two words", "one"])]
    fn tags_may_have_spaces(#[case] written: &str, #[case] expected: &[&str]) {
        assert_eq!(items(&text(written), Apart::Commas).unwrap(), expected);
    }
}
