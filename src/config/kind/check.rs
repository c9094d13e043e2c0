//! What is wrong with a value.

use outfitter_tools::shown_arguments;
use serde_json::{Map, Value};

use super::{Format, Kind};
use crate::config::catalogue::Key;
use crate::config::{explain, toml_value};

impl Kind {
    /// Says what is wrong with a value.
    pub(in crate::config) fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (self, value) {
            (Self::Boolean, Value::Bool(_)) => true,
            (Self::Integer { least, most }, Value::Number(number)) => number
                .as_u64()
                .is_some_and(|n| n >= *least && most.is_none_or(|most| n <= most)),
            (Self::Text(format), Value::String(text)) => format.accepts(text),
            (Self::OneOf(words), Value::String(text)) => words.contains(text),
            (Self::List(format), Value::Array(items)) => items
                .iter()
                .all(|item| item.as_str().is_some_and(|text| format.accepts(text))),
            (Self::ListOrBoolean(_), Value::Bool(_)) => true,
            (Self::ListOrBoolean(format), list @ Value::Array(_)) => {
                Self::List(*format).check(list).is_ok()
            }
            (Self::ListOrWord(word), Value::String(text)) => text == word,
            (Self::ListOrWord(_), Value::Array(items)) => items.iter().all(Value::is_string),
            (Self::TextOrTable, Value::String(_) | Value::Object(_)) => true,
            (Self::Map, Value::Object(map)) => map.values().all(Value::is_string),
            (Self::TableOrPath, Value::Object(_)) => true,
            (Self::TableOrPath, Value::String(text)) => Format::Path.accepts(text),
            (Self::Values, Value::Object(map)) => map.values().all(Value::is_object),
            (Self::Table(keys), Value::Object(table)) => {
                check_keys(keys, "", table)?;
                true
            }
            (Self::Tables(keys), Value::Object(tables)) => {
                for (name, table) in tables {
                    check_table(keys, name, table)?;
                }
                true
            }
            (Self::Rows(keys), Value::Array(rows)) => {
                for (at, row) in rows.iter().enumerate() {
                    check_table(keys, &at.to_string(), row)?;
                }
                true
            }
            _ => false,
        };
        if fits {
            return Ok(());
        }
        // A secret stands easily where its name should, and a password in an address.
        let may_be_secret = match (self, value) {
            (Self::Tables(_) | Self::Values | Self::Text(Format::Variable), _) => true,
            (_, Value::String(text)) => text.contains('@'),
            _ => false,
        };
        if may_be_secret {
            return Err(format!("must be {}", self.expects()));
        }
        let nearest = match (self, value) {
            (Self::OneOf(words), Value::String(text)) => meant(words, text),
            _ => None,
        };
        let nearest = nearest.map(|word| format!(", did you mean {word}?"));
        Err(format!(
            "must be {}, not {}{}",
            self.expects(),
            shown(value),
            nearest.unwrap_or_default()
        ))
    }
}

/// Says what is wrong with the name of one of several tables.
pub(in crate::config) fn check_name(name: &str) -> Result<(), String> {
    let right = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if right {
        return Ok(());
    }
    Err(format!(
        "has a name that is not of A-Z a-z 0-9 _ -: {name:?}"
    ))
}

/// Says what is wrong with one of several tables by name.
fn check_table(keys: &[Key], name: &str, table: &Value) -> Result<(), String> {
    check_name(name)?;
    let Value::Object(table) = table else {
        return Err(format!("must have a table under {name}"));
    };
    check_keys(keys, &format!("{name}."), table)
}

/// Says what is wrong in a table; `within` stands before the names of its keys.
fn check_keys(keys: &[Key], within: &str, table: &Map<String, Value>) -> Result<(), String> {
    for (key, value) in table {
        match keys.iter().find(|known| known.name == *key) {
            // What is not set is not there.
            Some(_) if value.is_null() => {}
            Some(known) => known
                .check(value)
                .map_err(|why| format!("{within}{key} {why}"))?,
            None => {
                let under = match within.strip_suffix('.') {
                    Some(name) => format!(" under {name}"),
                    None => String::new(),
                };
                return Err(format!("has an unknown key{under}: `{key}`"));
            }
        }
    }
    Ok(())
}

/// The word that a misspelt one was meant to be.
fn meant<'a>(words: &'a [String], text: &str) -> Option<&'a str> {
    const ALIKE: f64 = 0.6;
    words
        .iter()
        .map(|word| (strsim::normalized_damerau_levenshtein(word, text), word))
        .filter(|(alike, _)| *alike > ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, word)| word.as_str())
}

/// A value as people wrote it, cut short where it is long.
fn shown(value: &Value) -> String {
    const MOST_CHARS: usize = 60;
    // A text may be what a list of arguments was to be.
    let value = match value {
        Value::String(text) => shown_arguments([text.as_str()]).concat().into(),
        other => other.clone(),
    };
    let text = toml_value::write(&explain::without_passwords(value));
    if text.chars().count() <= MOST_CHARS {
        return text;
    }
    let mut cut: String = text.chars().take(MOST_CHARS).collect();
    cut.push('…');
    cut
}
