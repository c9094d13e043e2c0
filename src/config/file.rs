//! The configuration file: which one, and what it says.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use outfitter_text::regular_file::read_regular_text;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::catalogue::{Catalogue, Key};
use super::kind;
use super::problem::{ConfigError, Problem};
use super::source::{Position, Source};
use super::toml_value;
use crate::env::Environment;

/// The name of the file.
pub const FILE_NAME: &str = "outfitter.toml";

/// A file that is larger is not a configuration.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A value that somebody set, before it is checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) path: String,
    pub(super) value: Value,
    pub(super) source: Source,
    /// Where each of its tables by name comes from, if it has any.
    pub(super) each: BTreeMap<String, Source>,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Finds and reads the file: the named one, else the one in the current directory, else the
/// person's. There need be none.
///
/// # Errors
/// [`ConfigError::Unreadable`] for one that is there, or was named, and cannot be read.
pub(super) fn find(env: &Environment, named: Option<&Path>) -> Result<Option<File>, ConfigError> {
    if let Some(path) = named {
        return read(env, path)
            .map(Some)
            .map_err(|source| unreadable(path, source));
    }
    let personal = env
        .config_home()
        .map(|home| home.join("outfitter").join(FILE_NAME));
    for path in [Some(PathBuf::from(FILE_NAME)), personal]
        .into_iter()
        .flatten()
    {
        match read(env, &path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if is_absent(&error) => {}
            Err(source) => return Err(unreadable(&path, source)),
        }
    }
    Ok(None)
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, source: std::io::Error) -> ConfigError {
    ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

fn read(env: &Environment, path: &Path) -> std::io::Result<File> {
    let text = read_regular_text(&env.current_dir().join(path), MAX_FILE_BYTES)?;
    Ok(File {
        path: path.to_owned(),
        text,
    })
}

impl File {
    /// Every known key that the file sets, and what is wrong with the rest.
    pub(super) fn settings(&self, problems: &mut Vec<Problem>) -> Vec<Setting> {
        let (table, errors) = DeTable::parse_recoverable(&self.text);
        if !errors.is_empty() {
            problems.extend(errors.iter().map(|error| self.syntax(error)));
            return Vec::new();
        }
        let mut found = Found {
            file: self,
            settings: Vec::new(),
            problems: Vec::new(),
        };
        for (name, value) in table.get_ref() {
            found.section(name.get_ref(), &name.span(), value.get_ref());
        }
        problems.append(&mut found.problems);
        found.settings
    }

    fn syntax(&self, error: &toml::de::Error) -> Problem {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        Problem {
            at: self.at(error.span().map_or(0, |span| span.start)),
            message: format!("this is not TOML: {message}"),
        }
    }

    fn at(&self, offset: usize) -> Source {
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Source::File(Position {
            file: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..]
                .trim_start_matches('\u{feff}')
                .chars()
                .count()
                + 1,
        })
    }
}

struct Found<'a> {
    file: &'a File,
    settings: Vec<Setting>,
    problems: Vec<Problem>,
}

impl Found<'_> {
    fn section(&mut self, name: &str, span: &Range<usize>, value: &DeValue<'_>) {
        let catalogue = Catalogue::get();
        if let Some(key) = catalogue.find(name) {
            self.set(key, value, span);
            return;
        }
        let DeValue::Table(keys) = value else {
            self.unknown(name, span);
            return;
        };
        if !catalogue.has_section(name) && keys.iter().next().is_none() {
            self.unknown(name, span);
        }
        for (key, value) in keys {
            let path = format!("{name}.{}", key.get_ref());
            if let Some(known) = catalogue.find(&path) {
                self.set(known, value.get_ref(), &key.span());
            } else {
                self.unknown(&path, &key.span());
            }
        }
    }

    fn set(&mut self, key: &Key, value: &DeValue<'_>, span: &Range<usize>) {
        let before = self.problems.len();
        let mut each = self.tables(key, value);
        each.extend(self.rows(key, value));
        if let (Some(known), DeValue::Table(keys)) = (key.of_table(), value) {
            self.table(known, &key.path, keys);
        }
        if self.problems.len() > before {
            // Each was said at its place.
            return;
        }
        self.settings.push(Setting {
            path: key.path.clone(),
            value: toml_value::to_json(value),
            source: self.file.at(span.start),
            each,
        });
    }

    /// Where the tables by name of a key are, and what is wrong in them, each at its place.
    fn tables(&mut self, key: &Key, value: &DeValue<'_>) -> BTreeMap<String, Source> {
        let (Some(known), DeValue::Table(tables)) = (key.of_each(), value) else {
            return BTreeMap::new();
        };
        let path = &key.path;
        let mut each = BTreeMap::new();
        for (name, table) in tables {
            let at = self.file.at(name.span().start);
            let name = name.get_ref();
            each.insert(name.to_string(), at.clone());
            match (kind::check_name(name), table.get_ref()) {
                (Err(why), _) => self.wrong(at, format!("`{path}` {why}")),
                (Ok(()), DeValue::Table(keys)) => {
                    self.table(known, &format!("{path}.{name}"), keys);
                }
                (Ok(()), _) => self.wrong(at, format!("`{path}.{name}` must be a table")),
            }
        }
        each
    }

    /// The same for the tables of a list, which are named by their place; the first has 0.
    fn rows(&mut self, key: &Key, value: &DeValue<'_>) -> BTreeMap<String, Source> {
        let (Some(known), DeValue::Array(rows)) = (key.of_rows(), value) else {
            return BTreeMap::new();
        };
        let mut each = BTreeMap::new();
        for (place, row) in rows.iter().enumerate() {
            let at = self.file.at(row.span().start);
            let path = format!("{}.{place}", key.path);
            match row.get_ref() {
                DeValue::Table(keys) => self.table(known, &path, keys),
                _ => self.wrong(at.clone(), format!("`{path}` must be a table")),
            }
            each.insert(place.to_string(), at);
        }
        each
    }

    fn table(&mut self, known: &[Key], path: &str, keys: &DeTable<'_>) {
        for (name, value) in keys {
            let at = self.file.at(name.span().start);
            let word = name.get_ref();
            let Some(key) = known.iter().find(|known| known.name == **word) else {
                let nearest = nearest_name(known, word);
                let message =
                    format!("unknown key `{path}.{word}`, the nearest is `{path}.{nearest}`");
                self.wrong(at, message);
                continue;
            };
            if let Err(why) = key.check(&toml_value::to_json(value.get_ref())) {
                self.wrong(at, format!("`{path}.{word}` {why}"));
            }
        }
    }

    fn wrong(&mut self, at: Source, message: String) {
        self.problems.push(Problem { at, message });
    }

    fn unknown(&mut self, path: &str, span: &Range<usize>) {
        let nearest = Catalogue::get().nearest(path);
        self.problems.push(Problem {
            at: self.file.at(span.start),
            message: format!("unknown key `{path}`, the nearest is `{nearest}`"),
        });
    }
}

fn nearest_name<'a>(known: &'a [Key], word: &str) -> &'a str {
    let alike = |key: &&Key| strsim::jaro_winkler(&key.name, word);
    let nearest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    nearest.map_or("", |key| &key.name)
}
