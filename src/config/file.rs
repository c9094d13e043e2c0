//! The configuration file: which one, and what it says.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use outfitter_text::regular_file::read_regular_text;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::catalogue::{Catalogue, Key};
use super::problem::{ConfigError, Problem, Problems};
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
    /// Where each part of it comes from, if that is known: by the names and places that lead to it
    /// from the value, with dots between.
    pub(super) each: BTreeMap<String, Source>,
}

impl Setting {
    /// Where a part of it comes from, or the least part around it that has a place.
    pub(super) fn place(&self, within: &str) -> &Source {
        let mut within = within;
        loop {
            match (self.each.get(within), within.rsplit_once('.')) {
                (Some(place), _) => return place,
                (None, Some((around, _))) => within = around,
                (None, None) => return &self.source,
            }
        }
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: String,
    lines: Lines,
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
        lines: Lines::of(&text),
        text,
    })
}

impl File {
    /// Every known key that the file sets, and what is wrong with the rest.
    pub(super) fn settings(&self, problems: &mut Problems) -> Vec<Setting> {
        let (table, errors) = DeTable::parse_recoverable(&self.text);
        if !errors.is_empty() {
            for error in &errors {
                problems.push(self.syntax(error));
            }
            return Vec::new();
        }
        let mut found = Found {
            file: self,
            settings: Vec::new(),
            problems,
        };
        for (name, value) in table.get_ref() {
            found.section(name.get_ref(), &name.span(), value.get_ref());
        }
        found.settings
    }

    fn syntax(&self, error: &toml::de::Error) -> Problem {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        let at = self.at(error.span().map_or(0, |span| span.start));
        Problem::of(at, format!("this is not TOML: {message}"))
    }

    fn at(&self, offset: usize) -> Source {
        let (line, column) = self.lines.place(offset);
        Source::File(Position {
            file: self.path.clone(),
            line,
            column,
        })
    }
}

/// Where lines begin and how many characters there are before each byte, so that a place costs
/// little however many are asked for.
#[derive(Debug)]
struct Lines {
    starts: Vec<usize>,
    chars: Vec<u32>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        // Nobody sees a mark of the order of bytes, so it is no column.
        let mark = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let mut before: u32 = 0;
        let mut chars = Vec::with_capacity(text.len() + 1);
        for at in 0..text.len() {
            chars.push(before);
            before += u32::from(text.is_char_boundary(at + 1) && at >= mark);
        }
        chars.push(before);
        Self {
            starts: std::iter::once(0).chain(ends).collect(),
            chars,
        }
    }

    /// The line and the column of a byte, both from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let chars = |at: usize| {
            let last = self.chars.last().copied().unwrap_or_default();
            self.chars.get(at).copied().unwrap_or(last)
        };
        (
            line,
            chars(offset).saturating_sub(chars(start)) as usize + 1,
        )
    }
}

struct Found<'a> {
    file: &'a File,
    settings: Vec<Setting>,
    problems: &'a mut Problems,
}

impl Found<'_> {
    fn section(&mut self, name: &str, span: &Range<usize>, value: &DeValue<'_>) {
        let catalogue = Catalogue::get();
        if let Some(key) = catalogue.find(name) {
            self.set(key, value, span);
            return;
        }
        let DeValue::Table(keys) = value else {
            if catalogue.has_section(name) {
                self.problems.push(Problem {
                    at: self.file.at(span.start),
                    key: name.to_owned(),
                    message: format!("`{name}` is a table: write its keys beneath [{name}]"),
                });
            } else {
                self.unknown(name, span);
            }
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
        let read = toml_value::to_json(value);
        // Where it is wrong anyway, that is said.
        if key.check(&read, &Environment::default()).is_empty() {
            self.unheard_of(&key.path, value, span);
        }
        let mut each = BTreeMap::new();
        self.places(value, "", &mut each);
        self.settings.push(Setting {
            path: key.path.clone(),
            value: read,
            source: self.file.at(span.start),
            each,
        });
    }

    /// Says of each part of a value that no key can have it, where that is so: a date was taken for
    /// the text that it looks like.
    fn unheard_of(&mut self, path: &str, value: &DeValue<'_>, span: &Range<usize>) {
        match value {
            DeValue::Table(table) => {
                for (name, value) in table {
                    let path = format!("{path}.{}", name.get_ref());
                    self.unheard_of(&path, value.get_ref(), &name.span());
                }
            }
            DeValue::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.unheard_of(&format!("{path}.{place}"), item.get_ref(), &item.span());
                }
            }
            _ => {
                if let Some(what) = toml_value::unheard_of(value) {
                    let message =
                        format!("`{path}` is {what}, which no key takes; text stands in quotes");
                    self.problems.push(Problem {
                        at: self.file.at(span.start),
                        key: path.to_owned(),
                        message,
                    });
                }
            }
        }
    }

    /// Where each part of a value is: a key of a table at its name, an item of a list, whose first
    /// has 0, where it begins.
    fn places(&self, value: &DeValue<'_>, within: &str, each: &mut BTreeMap<String, Source>) {
        let path = |name: &str| match within {
            "" => name.to_owned(),
            within => format!("{within}.{name}"),
        };
        match value {
            DeValue::Table(table) => {
                for (name, value) in table {
                    let path = path(name.get_ref());
                    self.places(value.get_ref(), &path, each);
                    each.insert(path, self.file.at(name.span().start));
                }
            }
            DeValue::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    let path = path(&place.to_string());
                    self.places(item.get_ref(), &path, each);
                    each.insert(path, self.file.at(item.span().start));
                }
            }
            _ => {}
        }
    }

    fn unknown(&mut self, path: &str, span: &Range<usize>) {
        let catalogue = Catalogue::get();
        let message = match catalogue.nearest(path) {
            Some(nearest) => {
                self.problems.was_meant(nearest.to_owned());
                format!("unknown key `{path}`, the nearest is `{nearest}`")
            }
            None => format!("unknown key `{path}`; {}", catalogue.there(path)),
        };
        self.problems.push(Problem {
            at: self.file.at(span.start),
            key: path.to_owned(),
            message,
        });
    }
}
