//! The keys as a list, taken from the schema.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::kind::Kind;
use super::near::nearest;
use super::sections::Config;

/// One key.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its table.
    pub section: String,
    /// Its name in the table.
    pub name: String,
    /// `section.name`.
    pub path: String,
    /// What it means, in Markdown.
    pub doc: String,
    /// Its default; `null` where there is none.
    pub default: Value,
    /// Whether its value may be a secret, which is never shown.
    pub secret: bool,
    /// Whether a text must not be empty.
    pub(super) filled: bool,
    /// Whether it is a list of names, none of which is empty and each of which counts once.
    pub(super) names: bool,
    /// What a value must be.
    pub(super) kind: Kind,
}

impl Key {
    /// The name of the environment variable that sets it.
    #[must_use]
    pub fn variable(&self) -> String {
        let name = self.path.to_uppercase().replace('.', "__");
        format!("{}{name}", crate::env::PREFIX)
    }

    /// The keys of a table, by its schema.
    pub(super) fn all_of(section: &str, table: &Value) -> Vec<Self> {
        properties(table)
            .map(|(name, key)| Self {
                section: section.to_owned(),
                name: name.clone(),
                path: format!("{section}.{name}"),
                doc: doc(key),
                default: key.get("default").cloned().unwrap_or(Value::Null),
                secret: key.get("writeOnly") == Some(&Value::Bool(true)),
                filled: key.get("minLength").is_some(),
                names: key.get("uniqueItems") == Some(&Value::Bool(true)),
                kind: Kind::of(key),
            })
            .collect()
    }

    /// The keys of each table, where its value is tables by name.
    #[must_use]
    pub fn of_each(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Tables(keys) => Some(keys),
            _ => None,
        }
    }

    /// The keys of each table, where its value is a list of them.
    #[must_use]
    pub fn of_rows(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Rows(keys) => Some(keys),
            _ => None,
        }
    }

    /// The keys of the table, where its value is one.
    #[must_use]
    pub fn of_table(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Table(keys) => Some(keys),
            _ => None,
        }
    }

    /// What it means, and the bounds of its value in parentheses.
    #[must_use]
    pub fn described(&self) -> String {
        match self.kind.bounds() {
            Some(bounds) => format!("{} ({bounds})", self.doc),
            None => self.doc.clone(),
        }
    }

    /// What a value must be, for people.
    #[must_use]
    pub fn expects(&self) -> String {
        self.kind.expects()
    }
}

/// Every key, in the order of its declaration.
#[derive(Debug)]
pub struct Catalogue {
    keys: Vec<Key>,
    sections: Vec<(String, String)>,
}

impl Catalogue {
    /// The one catalogue.
    #[must_use]
    pub fn get() -> &'static Self {
        static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(&schema()));
        &CATALOGUE
    }

    fn of(schema: &Value) -> Self {
        let mut catalogue = Self {
            keys: Vec::new(),
            sections: Vec::new(),
        };
        for (section, table) in properties(schema) {
            catalogue.sections.push((section.clone(), doc(table)));
            // The section itself is tables by name, or a list of tables.
            let (kind, default) = match Kind::of(table) {
                kind @ Kind::Tables(_) => (kind, Value::Object(Map::new())),
                kind @ Kind::Rows(_) => (kind, Value::Array(Vec::new())),
                _ => {
                    catalogue.keys.extend(Key::all_of(section, table));
                    continue;
                }
            };
            catalogue.keys.push(Key {
                section: section.clone(),
                name: String::new(),
                path: section.clone(),
                doc: doc(table),
                default,
                secret: false,
                filled: false,
                names: false,
                kind,
            });
        }
        catalogue
    }

    /// Every key.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The tables, each with what it is about.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections
            .iter()
            .map(|(name, doc)| (name.as_str(), doc.as_str()))
    }

    /// The key `section.name`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.path == path)
    }

    /// Whether there is such a table.
    #[must_use]
    pub fn has_section(&self, name: &str) -> bool {
        self.sections.iter().any(|(section, _)| section == name)
    }

    /// What a path that is no key was perhaps meant to be: a key of its table, else the one key of
    /// this name in another table, else a key of the table with a near name, or that table. None
    /// where nothing is near.
    #[must_use]
    pub fn nearest(&self, path: &str) -> Option<&str> {
        let (section, name) = path.split_once('.').unwrap_or((path, ""));
        let names = |section: &str| {
            let keys = self.keys.iter().filter(move |key| key.section == section);
            keys.map(|key| key.name.as_str()).collect::<Vec<_>>()
        };
        let key = |section: &str, name: &str| {
            let mut keys = self.keys.iter();
            let found = keys.find(|key| key.section == section && key.name == name);
            found.map(|key| key.path.as_str())
        };
        let mut tables = self.sections.iter().map(|(name, _)| name.as_str());
        let meant = match tables.clone().find(|table| *table == section) {
            Some(table) => Some(table),
            None => nearest(section, &mut tables),
        };
        let in_its_table = meant.and_then(|meant| key(meant, nearest(name, names(meant))?));
        let of_its_name = || {
            // A key that stands above all tables is perhaps of one of them.
            let name = if name.is_empty() { section } else { name };
            let mut same = self.keys.iter().filter(|key| key.name == name);
            match (same.next(), same.next()) {
                (Some(only), None) => Some(only.path.as_str()),
                _ => None,
            }
        };
        in_its_table
            .or_else(of_its_name)
            .or_else(|| meant.filter(|meant| *meant != section))
    }

    /// What there is where `path` is no key: the keys of its table, or the tables.
    pub(super) fn there(&self, path: &str) -> String {
        let section = path.split('.').next().unwrap_or(path);
        let of_it: Vec<&str> = self
            .keys
            .iter()
            .filter(|key| key.section == section)
            .map(|key| key.name.as_str())
            .collect();
        if self.has_section(section) {
            return format!("[{section}] has {}", of_it.join(", "));
        }
        let tables: Vec<&str> = self
            .sections
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        format!("the tables are {}", tables.join(", "))
    }
}

/// The JSON Schema (2020-12) of the file. No references, so that every editor can follow it.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
    });
    let schema = settings
        .into_generator()
        .into_root_schema_for::<Config>()
        .to_value();
    let mut schema = as_a_file_has_it(schema);
    // What a reader wants to see first.
    if let Some(map) = schema.as_object_mut() {
        for table in sections_mut(map) {
            // The default of a table is that of its keys.
            table.shift_remove("default");
        }
        let first = ["$schema", "title", "description"];
        let first: Vec<_> = first
            .into_iter()
            .filter_map(|name| map.shift_remove_entry(name))
            .collect();
        let rest = std::mem::take(map);
        *map = first.into_iter().chain(rest).collect();
    }
    schema
}

fn sections_mut(schema: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
}

/// A key that may be left out cannot be `null` in a file; and descriptions are one paragraph.
fn as_a_file_has_it(schema: Value) -> Value {
    match schema {
        Value::Object(map) => map
            .into_iter()
            .filter(|(name, value)| !(name == "default" && value.is_null()))
            .map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("type", Value::Array(types)) => not_null(types),
                    ("enum", Value::Array(mut words)) => {
                        words.retain(|one| !one.is_null());
                        words.into()
                    }
                    ("description", Value::String(text)) => one_paragraph(&text).into(),
                    (_, value) => as_a_file_has_it(value),
                };
                (name, value)
            })
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

fn not_null(mut types: Vec<Value>) -> Value {
    types.retain(|one| one != "null");
    match types.len() {
        1 => types.swap_remove(0),
        _ => types.into(),
    }
}

fn one_paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
}

fn doc(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}
