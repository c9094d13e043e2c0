//! Values put in quotes, where an unquoted colon or a reserved first character breaks the YAML.

use super::lines::{Chunk, chunks};

/// The text with quotes around the plain values that need them, on the same lines; none when no
/// value does.
pub(super) fn quoted(text: &str) -> Option<String> {
    let mut changed = false;
    let mut out = String::with_capacity(text.len() + 64);
    for chunk in chunks(text) {
        match chunk
            .key
            .and_then(|key| Some((key, whole_plain_value(&chunk)?)))
        {
            Some((key, value)) if needs_quotes(&value) => {
                changed = true;
                out.push_str(&format!("{key}: {}\n", in_quotes(&value)));
                // Blank lines keep every later line where it was.
                out.extend(chunk.following.iter().map(|_| '\n'));
            }
            Some(_) | None => {
                for line in std::iter::once(&chunk.line).chain(&chunk.following) {
                    out.push_str(line);
                    out.push('\n');
                }
            }
        }
    }
    changed.then_some(out)
}

/// A plain value with the lines that continue it; none for quoted, block and flow values, and for
/// keys with something nested below.
fn whole_plain_value(chunk: &Chunk<'_>) -> Option<String> {
    let value = chunk.value;
    let is_block = value.starts_with(['|', '>'])
        && value[1..]
            .chars()
            .all(|c| c.is_ascii_digit() || c == '+' || c == '-');
    if value.is_empty() || is_block || value.starts_with(['"', '\'', '[', '{', '#']) {
        return None;
    }
    let mut whole = value.to_owned();
    for line in &chunk.following {
        let line = line.trim();
        if !line.is_empty() {
            whole.push(' ');
            whole.push_str(line);
        }
    }
    Some(whole)
}

fn needs_quotes(value: &str) -> bool {
    value.contains(": ")
        || value.ends_with(':')
        || value.contains(":\t")
        || value.starts_with([
            '@', '`', '%', '&', '*', '!', '|', '>', '-', '?', ',', ']', '}',
        ])
}

fn in_quotes(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("description: Use when: x\n", "description: \"Use when: x\"\n")]
    #[case(
        "description: Say \"hi\": now\nname: a\n",
        "description: \"Say \\\"hi\\\": now\"\nname: a\n"
    )]
    #[case(
        "description: Use `a: b` and\n  go on: there\nname: a\n",
        "description: \"Use `a: b` and go on: there\"\n\nname: a\n"
    )]
    #[case("author: @me\n", "author: \"@me\"\n")]
    fn a_value_that_breaks_the_yaml_is_quoted(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(quoted(text).as_deref(), Some(expected));
    }

    #[rstest]
    #[case("description: plain words\n")]
    #[case("description: \"Use when: x\"\n")]
    #[case("description: |\n  Use when: x\n")]
    #[case("metadata:\n  a: b\n")]
    #[case("tags: [a, b]\n")]
    fn what_needs_no_quotes_gets_none(#[case] text: &str) {
        assert_eq!(quoted(text), None);
    }
}
