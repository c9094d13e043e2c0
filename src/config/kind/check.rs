//! What is wrong with a value, all of it.

use outfitter_tools::shown_arguments;
use serde_json::{Map, Value};

use super::{Format, Kind};
use crate::config::catalogue::Key;
use crate::config::near::{did_you_mean, nearest};
use crate::config::secret_like::looks_like_a_secret;
use crate::config::{explain, toml_value};
use crate::env::Environment;

/// Something that is wrong, in a value or in what is within it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) struct Wrong {
    /// The names and places that lead to it; the first place has 0. None for the value itself.
    pub(in crate::config) within: Vec<String>,
    /// What it is.
    pub(in crate::config) what: What,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) enum What {
    /// The value; the text reads on after its key.
    Value(String),
    /// The name of a table; the text reads on after the key that has the tables.
    Name(String),
    /// The key: there is none of this name in its table, which has these.
    Unknown(Vec<String>),
}

/// Whether a value may be shown where it is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    /// It may be a secret.
    No,
}

impl Key {
    /// Everything that is wrong with a value. What may be a secret is not repeated.
    pub(in crate::config) fn check(&self, value: &Value, env: &Environment) -> Vec<Wrong> {
        let mut looking = Looking::with(env);
        looking.key(self, value, Shown::Yes);
        looking.found
    }
}

impl Kind {
    /// Everything that is wrong with a value of no key.
    #[cfg(test)]
    pub(in crate::config) fn check(&self, value: &Value) -> Vec<Wrong> {
        let env = Environment::default();
        let mut looking = Looking::with(&env);
        looking.value(self, value, Shown::Yes);
        looking.found
    }
}

/// Goes through a value.
struct Looking<'a> {
    env: &'a Environment,
    at: Vec<String>,
    found: Vec<Wrong>,
}

impl<'a> Looking<'a> {
    fn with(env: &'a Environment) -> Self {
        Self {
            env,
            at: Vec::new(),
            found: Vec::new(),
        }
    }

    fn say(&mut self, what: What) {
        let within = self.at.clone();
        self.found.push(Wrong { within, what });
    }

    /// Looks at what a name leads to.
    fn within(&mut self, name: impl Into<String>, look: impl FnOnce(&mut Self)) {
        self.at.push(name.into());
        look(self);
        self.at.pop();
    }

    fn key(&mut self, key: &Key, value: &Value, shown: Shown) {
        let shown = if key.secret { Shown::No } else { shown };
        let before = self.found.len();
        self.value(&key.kind, value, shown);
        if self.found.len() == before {
            self.texts(key, value);
        }
    }

    /// What a key says of the length of its texts, and of a list of names.
    fn texts(&mut self, key: &Key, value: &Value) {
        let empty = || What::Value("must not be empty".to_owned());
        match value {
            Value::String(text) if key.filled && text.trim().is_empty() => self.say(empty()),
            Value::Array(items) if key.names => {
                for (place, item) in items.iter().enumerate() {
                    if item.as_str().unwrap_or_default().trim().is_empty() {
                        self.within(place.to_string(), |looking| looking.say(empty()));
                    }
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, kind: &Kind, value: &Value, shown: Shown) {
        match (kind, value) {
            (Kind::List(format) | Kind::ListOrBoolean(format), Value::Array(items)) => {
                self.items(*format, items, shown);
            }
            (Kind::ListOrWord(_), Value::Array(items)) => self.items(Format::Any, items, shown),
            (Kind::Map, Value::Object(map)) => {
                for (name, value) in map {
                    self.within(name, |looking| {
                        looking.value(&Kind::Text(Format::Any), value, shown);
                    });
                }
            }
            (Kind::Values, Value::Object(map)) => {
                for (name, value) in map.iter().filter(|(_, value)| !value.is_object()) {
                    self.within(name, |looking| looking.table(&[], value, shown));
                }
            }
            (Kind::Table(keys), Value::Object(table)) => self.keys(keys, table, shown),
            (Kind::Tables(keys), Value::Object(tables)) => {
                for (name, table) in tables {
                    self.within(name, |looking| match check_name(name) {
                        Err(why) => looking.say(What::Name(why)),
                        Ok(()) => looking.table(keys, table, shown),
                    });
                }
            }
            (Kind::Rows(keys), Value::Array(rows)) => {
                for (place, row) in rows.iter().enumerate() {
                    self.within(place.to_string(), |looking| looking.table(keys, row, shown));
                }
            }
            // The one text that is often another than was asked for, also as one of several.
            (Kind::Text(Format::Variable), Value::String(text))
                if looks_like_a_secret(text, self.env) =>
            {
                self.misfit(kind, value, Shown::No);
            }
            _ if fits(kind, value) => {}
            _ => self.misfit(kind, value, shown),
        }
    }

    fn items(&mut self, format: Format, items: &[Value], shown: Shown) {
        for (place, item) in items.iter().enumerate() {
            self.within(place.to_string(), |looking| {
                looking.value(&Kind::Text(format), item, shown);
            });
        }
    }

    fn table(&mut self, keys: &[Key], value: &Value, shown: Shown) {
        match value {
            Value::Object(table) => self.keys(keys, table, shown),
            _ => self.say(What::Value("must be a table".to_owned())),
        }
    }

    fn keys(&mut self, keys: &[Key], table: &Map<String, Value>, shown: Shown) {
        for (name, value) in table {
            let known = keys.iter().find(|known| known.name == *name);
            self.within(name, |looking| match known {
                // What is not set is not there.
                Some(_) if value.is_null() => {}
                Some(known) => looking.key(known, value, shown),
                None => {
                    let there = keys.iter().map(|key| key.name.clone());
                    looking.say(What::Unknown(there.collect()));
                }
            });
        }
    }

    fn misfit(&mut self, kind: &Kind, value: &Value, shown: Shown) {
        let expects = kind.expects();
        // A secret stands easily where its name should, and a password in an address.
        let may_be_secret = match (kind, value) {
            (Kind::Tables(_) | Kind::Values | Kind::Text(Format::Variable), _) => true,
            (_, Value::String(text)) => text.contains('@'),
            _ => false,
        };
        let why = if may_be_secret || shown == Shown::No {
            format!("must be {expects}")
        } else {
            let meant = match (kind, value) {
                (Kind::OneOf(words), Value::String(text)) => {
                    did_you_mean(text, words.iter().map(String::as_str))
                }
                _ => String::new(),
            };
            format!("must be {expects}, not {}{meant}", written(value))
        };
        self.say(What::Value(why));
    }
}

/// Whether a value that nothing is within is what it must be.
fn fits(kind: &Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Boolean | Kind::ListOrBoolean(_), Value::Bool(_)) => true,
        (Kind::Integer { least, most }, Value::Number(number)) => number
            .as_u64()
            .is_some_and(|n| n >= *least && most.is_none_or(|most| n <= most)),
        (Kind::Text(format), Value::String(text)) => format.accepts(text),
        (Kind::OneOf(words), Value::String(text)) => words.contains(text),
        (Kind::ListOrWord(word), Value::String(text)) => text == word,
        (Kind::TextOrTable, Value::String(_) | Value::Object(_)) => true,
        (Kind::TableOrPath, Value::Object(_)) => true,
        (Kind::TableOrPath, Value::String(text)) => Format::Path.accepts(text),
        _ => false,
    }
}

/// Says what is wrong with the name of one of several tables.
fn check_name(name: &str) -> Result<(), String> {
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

/// The message for a key that there is not, where its table has `there`, and the one that was
/// perhaps meant.
pub(in crate::config) fn unknown<'a>(
    table: &str,
    name: &str,
    there: &'a [String],
) -> (String, Option<&'a str>) {
    let names = || there.iter().map(String::as_str);
    let nearest = nearest(name, names());
    let meant = match nearest {
        Some(nearest) => format!(", the nearest is `{table}.{nearest}`"),
        None => format!("; there is {}", names().collect::<Vec<_>>().join(", ")),
    };
    (format!("unknown key `{table}.{name}`{meant}"), nearest)
}

/// A value as people wrote it, cut short where it is long.
fn written(value: &Value) -> String {
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
