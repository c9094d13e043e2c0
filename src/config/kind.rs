//! What the value of a key must be, and whether one is.

use serde_json::{Map, Value};

use super::catalogue::Key;

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

/// What a text must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Any,
    Path,
    /// A path, or a name without a slash, which is looked for as a shell would.
    Program,
    Variable,
    HttpUrl,
    /// A path where it does not begin as a URL does.
    PathOrUrl,
    StoreUrl,
    /// An IP address and a port.
    Address,
    /// A host that commands may reach.
    Host,
}

impl Format {
    fn of(schema: &Value) -> Self {
        match schema.get("format").and_then(Value::as_str) {
            Some("path") => Self::Path,
            Some("program") => Self::Program,
            Some("address") => Self::Address,
            Some("host") => Self::Host,
            Some("variable") => Self::Variable,
            Some("http-url") => Self::HttpUrl,
            Some("path-or-url") => Self::PathOrUrl,
            Some("store-url") => Self::StoreUrl,
            _ => Self::Any,
        }
    }

    fn expects(self) -> &'static str {
        match self {
            Self::Any => "text",
            Self::Path => "a path",
            Self::Program => "the name or the path of a program",
            Self::Address => "an address and a port, as 127.0.0.1:8470",
            Self::Host => "a host, as example.com, *.example.com or 192.0.2.1:8080",
            Self::Variable => "the name of an environment variable",
            Self::HttpUrl => "a URL of http or https",
            Self::PathOrUrl => "a path, or a URL of http or https",
            Self::StoreUrl => "sqlite:PATH or memory:",
        }
    }

    fn accepts(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Path | Self::Program => !text.is_empty() && !text.contains('\0'),
            Self::Address => text.parse::<std::net::SocketAddr>().is_ok(),
            Self::Host => outfitter_sandbox::AllowedHosts::parse([text]).is_ok(),
            Self::Variable => {
                !text.is_empty()
                    && !text.starts_with(|c: char| c.is_ascii_digit())
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            }
            Self::HttpUrl => url::Url::parse(text)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()),
            Self::PathOrUrl if is_url(text) => Self::HttpUrl.accepts(text),
            Self::PathOrUrl => Self::Path.accepts(text),
            Self::StoreUrl => {
                text == "memory:"
                    || text
                        .strip_prefix("sqlite:")
                        .is_some_and(|path| Self::Path.accepts(path))
            }
        }
    }
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

    /// Says what is wrong with a value.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
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
        if matches!(self, Self::Tables(_) | Self::Values) {
            // There may be secrets in it.
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

    /// Reads the text of an environment variable: as the key's own type demands, written as in the
    /// file or plainly. What cannot be read stays text, for [`Kind::check`] to refuse.
    pub(super) fn read(&self, text: &str) -> Value {
        let plain = || Value::String(text.to_owned());
        let trimmed = text.trim();
        match self {
            Self::Boolean => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Bool(true),
                "false" | "0" | "no" | "off" => Value::Bool(false),
                _ => plain(),
            },
            Self::TextOrTable => plain(),
            Self::TableOrPath if !trimmed.starts_with('{') => plain(),
            Self::Integer { .. }
            | Self::Map
            | Self::TableOrPath
            | Self::Values
            | Self::Table(_)
            | Self::Tables(_)
            | Self::Rows(_) => super::toml_value::parse(trimmed)
                .filter(|value| value.is_number() || value.is_object() || value.is_array())
                .unwrap_or_else(plain),
            Self::Text(_) | Self::OneOf(_) => {
                let quoted = trimmed.len() > 1 && trimmed.starts_with(['"', '\'']);
                quoted
                    .then(|| super::toml_value::parse(trimmed))
                    .flatten()
                    .filter(Value::is_string)
                    .unwrap_or_else(plain)
            }
            Self::ListOrBoolean(format) => match Self::Boolean.read(text) {
                boolean @ Value::Bool(_) => boolean,
                _ => Self::List(*format).read(text),
            },
            Self::ListOrWord(word) if trimmed == *word => Value::String(trimmed.to_owned()),
            Self::List(_) | Self::ListOrWord(_) if trimmed.starts_with('[') => {
                super::toml_value::parse(trimmed).unwrap_or_else(plain)
            }
            Self::List(_) | Self::ListOrWord(_) => text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
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

/// Whether a text begins as a URL that is fetched does.
pub(super) fn is_url(text: &str) -> bool {
    let scheme = text.split("://").next().unwrap_or_default();
    let fetched = ["http", "https"]
        .iter()
        .any(|one| scheme.eq_ignore_ascii_case(one));
    fetched && scheme.len() < text.len()
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

/// Says what is wrong with the name of one of several tables.
pub(super) fn check_name(name: &str) -> Result<(), String> {
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

/// A value as people wrote it, cut short where it is long.
fn shown(value: &Value) -> String {
    const MOST_CHARS: usize = 60;
    let text = super::toml_value::write(&super::explain::without_password(value.clone()));
    if text.chars().count() <= MOST_CHARS {
        return text;
    }
    let mut cut: String = text.chars().take(MOST_CHARS).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(Kind::Boolean, "off", json!(false))]
    #[case(Kind::Boolean, "maybe", json!("maybe"))]
    #[case(Kind::Integer { least: 0, most: None }, " 1_000 ", json!(1000))]
    #[case(Kind::Integer { least: 0, most: None }, "ten", json!("ten"))]
    #[case(Kind::Text(Format::Any), "4", json!("4"))]
    #[case(Kind::Text(Format::Any), "\"a\\tb\"", json!("a\tb"))]
    #[case(Kind::Text(Format::Any), "\"a\" and \"b\"", json!("\"a\" and \"b\""))]
    #[case(Kind::List(Format::Any), "", json!([]))]
    #[case(Kind::List(Format::Any), "a, b,,c", json!(["a", "b", "c"]))]
    #[case(Kind::List(Format::Any), "[\"a,b\"]", json!(["a,b"]))]
    #[case(Kind::ListOrBoolean(Format::Host), "true", json!(true))]
    #[case(Kind::ListOrBoolean(Format::Host), "a.b, c", json!(["a.b", "c"]))]
    #[case(Kind::ListOrWord("auto"), " auto ", json!("auto"))]
    #[case(Kind::ListOrWord("auto"), "auto,b", json!(["auto", "b"]))]
    #[case(Kind::ListOrWord("auto"), "", json!([]))]
    #[case(Kind::Map, "{ read = \"file_read\" }", json!({"read": "file_read"}))]
    fn a_variable_reads_as_its_key_demands(
        #[case] kind: Kind,
        #[case] text: &str,
        #[case] value: Value,
    ) {
        assert_eq!(kind.read(text), value);
    }

    #[rstest]
    #[case("memory:", true)]
    #[case("sqlite:a.db", true)]
    #[case("sqlite:", false)]
    #[case("json:a.json", false)]
    #[case("postgres://h/d", false)]
    fn a_store_is_one_that_exists(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(
            Kind::Text(Format::StoreUrl).check(&json!(text)).is_ok(),
            fits
        );
    }
}
