//! What is in effect and why, for people and programs.

use serde_json::{Map, Value, json};

use super::catalogue::{Catalogue, Key};
use super::load::Loaded;
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
        out.push_str(&format!("\n{}[{section}]\n\n", comment(about)));
        for one in explained.iter().filter(|one| one.key.section == section) {
            let Explained { key, value, source } = one;
            if let (Some(_), Value::Object(tables)) = (key.of_each(), value) {
                out.push_str(&tables_as_toml(key, tables, source));
                continue;
            }
            out.push_str(&comment(&key.described()));
            if value.is_null() {
                out.push_str(&format!("# {} is not set\n\n", key.name));
            } else {
                let value = toml_value::write(value);
                out.push_str(&format!("{} = {value}  # {source}\n\n", key.name));
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

/// Tables by name, each as its own table.
fn tables_as_toml(key: &Key, tables: &Map<String, Value>, source: &Source) -> String {
    let mut out = comment(&key.described());
    if tables.is_empty() {
        return out + "# there are none\n\n";
    }
    for (name, table) in tables {
        out.push_str(&format!("[{}.{name}]  # {source}\n", key.path));
        for (name, value) in table.as_object().into_iter().flatten() {
            if !value.is_null() {
                out.push_str(&format!("{name} = {}\n", toml_value::write(value)));
            }
        }
        out.push('\n');
    }
    out
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

/// As JSON: `{ v, file?, keys: [{ key, value?, default?, source: { kind, name }, description }], notes }`.
#[must_use]
pub fn as_json(loaded: &Loaded, notes: &[Note]) -> Value {
    let keys: Vec<Value> = explain(loaded)
        .into_iter()
        .map(|one| {
            let mut row = json!({ "key": one.key.path });
            if !one.value.is_null() {
                row["value"] = one.value;
            }
            if !one.key.default.is_null() {
                row["default"] = one.key.default.clone();
            }
            row["source"] = json!({
                "kind": one.source.kind(),
                "name": one.source.to_string(),
            });
            row["expects"] = one.key.expects().into();
            row["description"] = one.key.doc.clone().into();
            row
        })
        .collect();
    let mut document = json!({ "v": 1 });
    if let Some(file) = &loaded.file {
        document["file"] = file.display().to_string().into();
    }
    document["keys"] = keys.into();
    document["notes"] = notes
        .iter()
        .map(|note| (note.name.clone(), json!(note.lines)))
        .collect::<Map<_, _>>()
        .into();
    document
}

/// What could be a secret is not shown: passwords in URLs, and what is passed to other programs as
/// their environment.
fn without_secrets(key: &Key, value: Value) -> Value {
    let (Some(_), Value::Object(mut tables)) = (key.of_each(), value.clone()) else {
        return without_password(value);
    };
    for table in tables.values_mut() {
        let env = table.get_mut("env").and_then(Value::as_object_mut);
        for value in env.into_iter().flat_map(Map::values_mut) {
            *value = "…".into();
        }
    }
    Value::Object(tables)
}

/// A URL with a password in it is shown without.
fn without_password(value: Value) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    match url::Url::parse(text) {
        Ok(mut url) if url.password().is_some() => {
            // Fails only for URLs that cannot have a password, and this one has.
            let _ = url.set_password(Some("…"));
            Value::String(url.to_string())
        }
        _ => value,
    }
}
