//! Keys and values line by line, when the frontmatter is no YAML even with quotes.

use super::lines::{Chunk, chunks};
use super::value::{Field, Kind, Value};
use crate::problem::Place;

/// Every top-level key with its value as a text or a flat list.
pub(super) fn fields(text: &str, first_line: usize) -> Vec<Field> {
    chunks(text)
        .iter()
        .filter_map(|chunk| {
            let at = Place {
                line: first_line + chunk.at,
                column: 1,
            };
            Some(Field {
                key: chunk.key?.to_owned(),
                at,
                value: Value {
                    at,
                    kind: value(chunk, at),
                },
            })
        })
        .collect()
}

fn value(chunk: &Chunk<'_>, at: Place) -> Kind {
    let inline = chunk.value;
    if let Some(flow) = inline
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return list(flow.split(','), at);
    }
    let items: Option<Vec<&str>> = chunk
        .following
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_prefix("- "))
        .collect();
    if inline.is_empty()
        && let Some(items) = items.filter(|items| !items.is_empty())
    {
        return list(items.into_iter(), at);
    }
    let is_block = inline.starts_with(['|', '>']);
    let own = if is_block { "" } else { unquoted(inline) };
    let words = std::iter::once(own)
        .chain(chunk.following.iter().map(|line| line.trim()))
        .filter(|line| !line.is_empty());
    let joined = words
        .collect::<Vec<&str>>()
        .join(if inline.starts_with('|') { "\n" } else { " " });
    if joined.is_empty() {
        Kind::Null
    } else {
        Kind::Text(joined)
    }
}

fn list<'t>(items: impl Iterator<Item = &'t str>, at: Place) -> Kind {
    Kind::List(
        items
            .map(|item| unquoted(item.trim()))
            .filter(|item| !item.is_empty())
            .map(|item| Value {
                at,
                kind: Kind::Text(item.to_owned()),
            })
            .collect(),
    )
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_survives_a_line_that_is_no_yaml() {
        let text = "name: probe\ndescription: \"Use\" it when: [x\ndependencies: [ray[data], pyarrow]\n\
                    allowed-tools:\n  - Read\n  - Grep\nnotes: |\n  one\n  two\n";
        let fields = fields(text, 2);
        let told: Vec<(String, String)> = fields
            .iter()
            .map(|field| {
                let value = match &field.value.kind {
                    Kind::List(items) => items
                        .iter()
                        .filter_map(Value::scalar)
                        .collect::<Vec<_>>()
                        .join("+"),
                    _ => field.value.scalar().unwrap_or("-").to_owned(),
                };
                (field.key.clone(), value)
            })
            .collect();
        assert_eq!(
            told,
            [
                ("name", "probe"),
                ("description", "\"Use\" it when: [x"),
                ("dependencies", "ray[data]+pyarrow"),
                ("allowed-tools", "Read+Grep"),
                ("notes", "one\ntwo"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        assert_eq!(fields[3].at.line, 5);
    }
}
