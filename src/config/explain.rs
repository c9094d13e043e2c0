//! What is in effect and why, for people and programs.

use std::collections::BTreeMap;

use outfitter_core::redact_addresses;
use outfitter_tools::{REDACTED, shown_arguments};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::catalogue::{Catalogue, Key};
use super::kind::{Format, Kind};
use super::loaded::Loaded;
use super::source::Source;
use super::toml_value;

/// A key with its value in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained<'a> {
    /// The key.
    pub key: &'a Key,
    /// Its value; `null` where there is none. What could be a password is taken out.
    pub value: Value,
    /// Where it comes from.
    pub source: &'a Source,
}

/// Something beside the keys that a reader of `config explain` wants to know, such as the
/// directories that a sandbox really opens.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// What it is about, in lower case with underscores: the name in JSON.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// Every key with its value in effect, in the order of their declaration.
#[must_use]
pub fn explain(loaded: &Loaded) -> Vec<Explained<'_>> {
    let values = serde_json::to_value(&loaded.config).unwrap_or_default();
    Catalogue::get()
        .keys()
        .iter()
        .map(|key| {
            let section = values.get(&key.section);
            let value = match key.name.as_str() {
                "" => section,
                name => section.and_then(|section| section.get(name)),
            };
            Explained {
                key,
                value: without_secrets(key, value.cloned().unwrap_or_default()),
                source: loaded.source(&key.path),
            }
        })
        .collect()
}

/// As a TOML file that would give the same values, with what each means and where it comes from.
#[must_use]
pub fn as_toml(loaded: &Loaded, notes: &[Note]) -> String {
    let explained = explain(loaded);
    let mut out = match &loaded.file {
        Some(file) => format!("# file: {}\n", file.display()),
        None => "# file: none\n".to_owned(),
    };
    for (section, about) in Catalogue::get().sections() {
        if let Some(rows) = explained.iter().find(|one| is_list(one, section)) {
            out.push_str(&format!(
                "\n{}{}",
                comment(about),
                rows_as_toml(loaded, rows)
            ));
            continue;
        }
        out.push_str(&format!("\n{}[{section}]\n\n", comment(about)));
        for one in explained.iter().filter(|one| one.key.section == section) {
            let Explained { key, value, source } = one;
            if let (Some(_), Value::Object(tables)) = (key.of_each(), value) {
                out.push_str(&tables_as_toml(loaded, key, tables));
                continue;
            }
            out.push_str(&comment(&key.described()));
            if value.is_null() {
                out.push_str(&format!("# {} is not set\n\n", key.name));
            } else {
                let value = toml_value::write(value);
                // A default path begins where the program is started, one of a file where the file is.
                let hides = key.secret && value != "{}";
                let off = if begins_here(one) || hides { "# " } else { "" };
                out.push_str(&format!("{off}{} = {value}  # {source}\n\n", key.name));
            }
        }
    }
    for note in notes {
        out.push_str(&comment(&note.about));
        for line in &note.lines {
            out.push_str(&format!("#   {line}\n"));
        }
    }
    out
}

/// Whether the value is a default that is a path from wherever the program is started.
fn begins_here(one: &Explained<'_>) -> bool {
    let relative = |value: &Value| {
        let path = value.as_str();
        path.is_some_and(|path| !std::path::Path::new(path).is_absolute())
    };
    *one.source == Source::Default
        && one.key.kind == Kind::List(Format::Path)
        && one
            .value
            .as_array()
            .is_some_and(|paths| paths.iter().any(relative))
}

/// Tables by name, each as its own table.
fn tables_as_toml(loaded: &Loaded, key: &Key, tables: &Map<String, Value>) -> String {
    let mut out = match key.name.as_str() {
        "" => String::new(), // The section has said it.
        _ => comment(&key.described()),
    };
    if tables.is_empty() {
        return out + "# there are none\n\n";
    }
    for (name, table) in tables {
        let path = format!("{}.{name}", key.path);
        let source = match loaded.source(&path) {
            Source::Default => loaded.source(&key.path),
            source => source,
        };
        out.push_str(&format!("[{path}]  # {source}\n"));
        for (name, value) in table.as_object().into_iter().flatten() {
            let value = toml_value::write(value);
            let secret = key.of_each().is_some_and(|keys| is_secret(keys, name));
            if secret && value != "{}" || value.contains(REDACTED) {
                out.push_str(&format!(
                    "# {name} = {value}  # what may be secret is not shown\n"
                ));
            } else {
                out.push_str(&format!("{name} = {value}\n"));
            }
        }
        out.push('\n');
    }
    out
}

/// Whether this is a section that is a list of tables.
fn is_list(one: &Explained<'_>, section: &str) -> bool {
    one.key.path == section && one.key.of_rows().is_some()
}

/// A list of tables, each as its own.
fn rows_as_toml(loaded: &Loaded, rows: &Explained<'_>) -> String {
    let path = &rows.key.path;
    let mut out = String::from("\n");
    for (place, row) in rows.value.as_array().into_iter().flatten().enumerate() {
        let source = match loaded.source(&format!("{path}.{place}")) {
            Source::Default => rows.source,
            source => source,
        };
        out.push_str(&format!("[[{path}]]  # {source}\n"));
        for (name, value) in row.as_object().into_iter().flatten() {
            out.push_str(&format!("{name} = {}\n", toml_value::write(value)));
        }
        out.push('\n');
    }
    if out.len() == 1 {
        out.push_str("# there are none\n\n");
    }
    out
}

fn is_secret(keys: &[Key], name: &str) -> bool {
    keys.iter().any(|key| key.name == name && key.secret)
}

/// A text as comment lines.
fn comment(text: &str) -> String {
    const COLUMNS: usize = 98;
    let mut out = String::new();
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            out.push_str(&line);
            out.push('\n');
            line.truncate(1);
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

/// The configuration in effect, for programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ConfigExplained")]
pub struct Document {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub v: u32,
    /// The configuration file; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Every key, in the order of their declaration.
    pub keys: Vec<Row>,
    /// What is worth knowing beside the keys, by name, in lines.
    pub notes: BTreeMap<String, Vec<String>>,
}

/// One key.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ConfigKey")]
pub struct Row {
    /// `section.key`.
    pub key: String,
    /// The value in effect; left out where there is none. What may be secret is `…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its default; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Where the value comes from.
    pub source: From,
    /// What a value must be, for people.
    pub expects: String,
    /// What it means, in Markdown.
    pub description: String,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ConfigSource")]
pub struct From {
    /// `default`, `found`, `file`, `alias`, `variable` or `flag`.
    #[schemars(extend("enum" = ["default", "found", "file", "alias", "variable", "flag"]))]
    pub kind: String,
    /// The place, the variable or the flag.
    pub name: String,
}

/// The configuration in effect, for programs.
#[must_use]
pub fn document(loaded: &Loaded, notes: &[Note]) -> Document {
    let some = |value: Value| (!value.is_null()).then_some(value);
    let row = |one: Explained<'_>| Row {
        key: one.key.path.clone(),
        value: some(one.value),
        default: some(one.key.default.clone()),
        source: From {
            kind: one.source.kind().to_owned(),
            name: one.source.to_string(),
        },
        expects: one.key.expects(),
        description: one.key.doc.clone(),
    };
    let notes = notes.iter();
    Document {
        v: 1,
        file: loaded.file.as_ref().map(|file| file.display().to_string()),
        keys: explain(loaded).into_iter().map(row).collect(),
        notes: notes
            .map(|note| (note.name.clone(), note.lines.clone()))
            .collect(),
    }
}

/// What could be a secret is not shown: passwords in URLs, and what is passed to other programs as
/// their environment. What is not set in a table is left out.
fn without_secrets(key: &Key, value: Value) -> Value {
    if key.secret {
        return secrets_hidden(value);
    }
    let value = without_passwords(value);
    if let (Some(keys), Value::Object(mut table)) = (key.of_table(), value.clone()) {
        hide_in(keys, &mut table);
        return Value::Object(table);
    }
    if let (Some(keys), Value::Array(mut rows)) = (key.of_rows(), value.clone()) {
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            hide_in(keys, row);
        }
        return Value::Array(rows);
    }
    let (Some(keys), Value::Object(mut tables)) = (key.of_each(), value.clone()) else {
        return value;
    };
    for table in tables.values_mut().filter_map(Value::as_object_mut) {
        hide_in(keys, table);
    }
    Value::Object(tables)
}

/// Leaves out what is not set, and hides the values of the keys that may be secrets.
fn hide_in(keys: &[Key], table: &mut Map<String, Value>) {
    table.retain(|_, value| !value.is_null());
    for key in keys.iter().filter(|key| key.secret) {
        if let Some(value) = table.get_mut(&key.name) {
            *value = secrets_hidden(value.take());
        }
    }
}

/// A value without the passwords of its URLs, and its lists without what they betray as secret, as
/// lists of arguments do.
pub(super) fn without_passwords(value: Value) -> Value {
    match value {
        Value::Array(items) => match items.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
            Some(texts) => shown_arguments(texts)
                .into_iter()
                .map(|text| without_password(text.into()))
                .collect(),
            None => items.into_iter().map(without_passwords).collect(),
        },
        Value::Object(map) => {
            let map = map.into_iter();
            map.map(|(name, value)| (name, without_passwords(value)))
                .collect()
        }
        other => without_password(other),
    }
}

/// A table whose values may be secrets, with their names only.
fn secrets_hidden(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let hidden = map.into_iter();
            hidden
                .map(|(name, value)| (name, secrets_hidden(value)))
                .collect()
        }
        Value::Null => Value::Null,
        _ => "…".into(),
    }
}

/// A URL with a password in it is shown without.
fn without_password(value: Value) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    let shown = match url::Url::parse(text) {
        Ok(url) if url.password().is_some() => shown_url(&url),
        _ => text.clone(),
    };
    Value::String(redact_addresses(&shown).into_owned())
}

/// A URL with `…` in the place of its password, as people read it: written into the URL itself it
/// would be spelled `%E2%80%A6`.
fn shown_url(url: &url::Url) -> String {
    let whole = url.as_str();
    let before = whole.find("://").map_or(0, |at| at + 3);
    let after = before + url.username().len();
    let host = url
        .password()
        .map_or(after, |password| after + 1 + password.len());
    match (whole.get(..after), whole.get(host..)) {
        (Some(begin), Some(end)) => format!("{begin}:…{end}"),
        // A URL is of ASCII, so there is always such a place.
        _ => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "https://ann:hunter2@h.example/a?b=c#d",
        "https://ann:…@h.example/a?b=c#d"
    )]
    #[case("https://:hunter2@h.example/", "https://:…@h.example/")]
    #[case(
        "https://h.example/v1?api_key=hunter2&v=1",
        "https://h.example/v1?api_key=[redacted]&v=1"
    )]
    #[case("http://ä:p%20ü@h:81", "http://%C3%A4:…@h:81/")]
    #[case("https://h.example/ann:hunter2@", "https://h.example/ann:hunter2@")]
    fn a_hidden_part_of_an_address_read_as_percent_signs(#[case] url: &str, #[case] shown: &str) {
        assert_eq!(without_password(url.into()), shown);
    }
}
