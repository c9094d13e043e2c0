//! What the value of a key must be, and whether one is.

mod check;
mod format;
mod read;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::catalogue::Key;

pub(super) use check::{What, Wrong, unknown};
pub(super) use format::{Format, is_url};

/// What a value must be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Boolean,
    Integer {
        least: u64,
        most: Option<u64>,
    },
    Text(Format),
    OneOf(Vec<String>),
    List(Format),
    /// A list of texts, or one word that stands for a choice made elsewhere.
    ListOrWord(&'static str),
    /// A list of texts, or all or none of what could be listed.
    ListOrBoolean(Format),
    Map,
    /// A text, or a table of values by name.
    TextOrTable,
    /// A table of any values by name, or the path of a file that has one.
    TableOrPath,
    /// Tables by name, of any values by name.
    Values,
    /// One table with these keys.
    Table(Vec<Key>),
    /// Tables by name, each with these keys.
    Tables(Vec<Key>),
    /// A list of tables, each with these keys.
    Rows(Vec<Key>),
}

impl Kind {
    /// Reads the few forms of schema that the declaration of the keys makes.
    pub(super) fn of(schema: &Value) -> Self {
        let types = schema.get("type");
        let is = |word: &str| match types {
            Some(Value::String(one)) => one == word,
            Some(Value::Array(many)) => many.iter().any(|one| one == word),
            _ => false,
        };
        if let Some(words) = enumerated(schema) {
            return Self::OneOf(words);
        }
        if schema
            .get("format")
            .is_some_and(|format| format == "table-or-path")
        {
            return Self::TableOrPath;
        }
        if is("boolean") {
            Self::Boolean
        } else if is("integer") {
            Self::Integer {
                least: schema.get("minimum").and_then(Value::as_u64).unwrap_or(0),
                most: schema.get("maximum").and_then(Value::as_u64),
            }
        } else if is_text_or_table(schema) {
            Self::TextOrTable
        } else if let Some(list) = list_or_boolean(schema) {
            Self::ListOrBoolean(list)
        } else if schema.get("anyOf").is_some() {
            Self::ListOrWord("auto")
        } else if let (true, Some(row)) = (is("array"), rows(schema)) {
            Self::Rows(Key::all_of("", row))
        } else if is("array") {
            Self::List(schema.get("items").map_or(Format::Any, Format::of))
        } else if is("object") {
            match schema
                .get("additionalProperties")
                .filter(|named| named.get("properties").is_some())
            {
                Some(named) => Self::Tables(Key::all_of("NAME", named)),
                None if schema.get("properties").is_some() => Self::Table(Key::all_of("", schema)),
                None if of_objects(schema) => Self::Values,
                None => Self::Map,
            }
        } else {
            Self::Text(Format::of(schema))
        }
    }

    /// What a value must be, for people.
    pub(super) fn expects(&self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Integer {
                least,
                most: Some(most),
            } => format!("a whole number from {least} to {most}"),
            Self::Integer { least, most: None } => format!("a whole number, at least {least}"),
            Self::Text(format) => format.expects().to_owned(),
            Self::OneOf(words) => match words.as_slice() {
                [one] => one.clone(),
                words => format!("one of {}", words.join(", ")),
            },
            Self::List(Format::Any) => "a list of texts".to_owned(),
            Self::List(Format::Path) => "a list of paths".to_owned(),
            Self::List(Format::Variable) => "a list of names of environment variables".to_owned(),
            Self::List(Format::HttpUrl | Format::StoreUrl | Format::PathOrUrl) => {
                "a list of URLs".to_owned()
            }
            Self::List(Format::Program | Format::Address) => "a list of texts".to_owned(),
            Self::List(Format::Host) => "a list of hosts".to_owned(),
            Self::List(Format::Ip) => "a list of IP addresses".to_owned(),
            Self::ListOrBoolean(format) => {
                format!("true, false, or {}", Self::List(*format).expects())
            }
            Self::ListOrWord(word) => format!("a list of texts, or \"{word}\""),
            Self::Map => "a table of texts".to_owned(),
            Self::TableOrPath => "a table, or a path".to_owned(),
            Self::TextOrTable => "a text, or a table of values by name".to_owned(),
            Self::Values => "tables of values by name".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Tables(_) => "tables by name".to_owned(),
            Self::Rows(_) => "a list of tables".to_owned(),
        }
    }

    /// What a value must be, where a reader could not guess it.
    pub(super) fn bounds(&self) -> Option<String> {
        match self {
            Self::Boolean => None,
            Self::Text(Format::Any | Format::Path | Format::Program | Format::Variable) => None,
            Self::TextOrTable | Self::TableOrPath => None,
            Self::List(_) | Self::Map | Self::Values => None,
            Self::Table(_) | Self::Tables(_) | Self::Rows(_) => None,
            Self::Integer { .. }
            | Self::OneOf(_)
            | Self::Text(_)
            | Self::ListOrWord(_)
            | Self::ListOrBoolean(_) => Some(self.expects()),
        }
    }
}

fn is_text_or_table(schema: &Value) -> bool {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let types = choices
        .into_iter()
        .flatten()
        .filter_map(|choice| choice["type"].as_str());
    types.collect::<Vec<_>>() == ["string", "object"]
}

/// What the list holds, where a value is such a list or a boolean.
fn list_or_boolean(schema: &Value) -> Option<Format> {
    let choices = schema.get("anyOf")?.as_array()?;
    let of = |word: &str| choices.iter().find(|choice| choice["type"] == word);
    of("boolean")?;
    of("array")?.get("items").map(Format::of)
}

/// What each row is, where the items of a list are tables.
fn rows(schema: &Value) -> Option<&Value> {
    let items = schema.get("items")?;
    items.get("properties").map(|_| items)
}

fn of_objects(schema: &Value) -> bool {
    let each = schema.get("additionalProperties");
    each.and_then(|each| each.get("type"))
        .is_some_and(|kind| kind == "object")
}

/// The words of an enumeration: `enum`, or one `const` for each variant.
fn enumerated(schema: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(text).collect();
    }
    if let Some(word) = schema.get("const") {
        return Some(vec![text(word)?]);
    }
    schema
        .get("oneOf")
        .and_then(Value::as_array)?
        .iter()
        .map(|variant| variant.get("const").and_then(text))
        .collect()
}
