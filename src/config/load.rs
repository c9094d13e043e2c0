//! The layers put together: flag over variable over alias over file over default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outfitter_core::SessionId;
use serde_json::{Map, Value};

use super::catalogue::Catalogue;
use super::file::{self, Setting};
use super::kind::{Format, Kind, What, Wrong, unknown};
use super::problem::{ConfigError, Problem, Problems};
use super::sections::Config;
use super::source::Source;
use super::{derived, paths, repeats, sandbox_paths, there, variables};
use crate::env::Environment;

/// A key that a flag of the command line sets.
#[derive(Debug, Clone, PartialEq)]
pub struct FlagValue {
    /// `section.key`.
    pub key: &'static str,
    /// The flag, with its dashes.
    pub flag: &'static str,
    /// The value.
    pub value: Value,
}

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The file that `--config` names.
    pub file: Option<PathBuf>,
    /// The keys that flags set.
    pub flags: Vec<FlagValue>,
}

/// The configuration in effect, and where each value of it comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values. Paths are absolute; `store.url` and `store.data_dir` are filled in where the
    /// person has a home.
    pub config: Config,
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The session that the environment names.
    pub session: Option<SessionId>,
    pub(super) sources: BTreeMap<String, Source>,
}

/// What was found: the configuration in effect, and everything that is wrong with it.
#[derive(Debug, Clone)]
pub struct Found {
    /// The configuration, without what is wrong: only for looking further where anything is.
    pub loaded: Loaded,
    /// What is wrong. Nothing begins with it.
    pub problems: Vec<Problem>,
    /// What makes `run` or `serve` fail as things stand on this machine. Whatever does not need it
    /// works without.
    pub failing: Vec<Problem>,
    /// What they go on without, and what may come later: files and folders that are not there,
    /// programs that are not found, variables that are not set.
    pub warnings: Vec<Problem>,
}

/// Loads the configuration.
///
/// # Errors
/// [`ConfigError`], with every problem at once.
pub fn load(env: &Environment, request: &Request) -> Result<Loaded, ConfigError> {
    let (loaded, problems) = gather(env, request)?;
    match problems.is_empty() {
        true => Ok(loaded),
        false => Err(ConfigError::Problems(problems)),
    }
}

/// Loads the configuration to find everything that is wrong with it, also what works on another
/// machine.
///
/// # Errors
/// [`ConfigError::Unreadable`] when the file cannot be read.
pub fn look(env: &Environment, request: &Request) -> Result<Found, ConfigError> {
    let (loaded, problems) = gather(env, request)?;
    let there::Lacking { failing, warnings } = there::look(&loaded, env);
    Ok(Found {
        loaded,
        problems,
        failing,
        warnings,
    })
}

/// The configuration without what is wrong, and what is wrong.
pub(crate) fn gather(
    env: &Environment,
    request: &Request,
) -> Result<(Loaded, Vec<Problem>), ConfigError> {
    let file = file::find(env, request.file.as_deref())?;
    let mut problems = Problems::default();
    let mut layers = Layers::default();
    if let Some(file) = &file {
        let settings = file.settings(&mut problems);
        layers.add(settings, env, &mut problems);
    }
    let aliases = variables::aliases(env, &mut problems);
    layers.add(aliases, env, &mut problems);
    let variables = variables::variables(env, &mut problems);
    layers.add(variables, env, &mut problems);
    layers.add(flags(request), env, &mut problems);
    let session = variables::session(env, &mut problems);
    derived::follow_provider(&mut layers);
    derived::fill_in(&mut layers, env);
    sandbox_paths::relative(&mut layers, &mut problems);
    paths::resolve(&mut layers, env);
    derived::check(&mut layers, env, &mut problems);
    sandbox_paths::check(&layers, env, &mut problems);
    let config = layers.config(&mut problems);
    let loaded = Loaded {
        config,
        file: file.map(|file| file.path),
        session,
        sources: layers.sources(),
    };
    Ok((loaded, problems.sorted()))
}

impl Loaded {
    /// Where the value of a key comes from.
    #[must_use]
    pub fn source(&self, key: &str) -> &Source {
        self.sources.get(key).unwrap_or(&Source::Default)
    }

    /// Where the value that a path of names leads into comes from: of the key itself, or of the
    /// longest part of it that has a place of its own.
    #[must_use]
    pub fn nearest_source(&self, path: &str) -> &Source {
        let mut path = path;
        loop {
            match (self.sources.get(path), path.rsplit_once('.')) {
                (Some(source), _) => return source,
                (None, Some((above, _))) => path = above,
                (None, None) => return &Source::Default,
            }
        }
    }

    /// The directory for everything that is kept.
    ///
    /// # Errors
    /// [`ConfigError::NoDataDir`] when nothing says where it is.
    pub fn data_dir(&self) -> Result<&Path, ConfigError> {
        self.config
            .store
            .data_dir
            .as_deref()
            .ok_or(ConfigError::NoDataDir)
    }

    /// Where the log is.
    ///
    /// # Errors
    /// [`ConfigError::NoDataDir`] when nothing says where it is.
    pub fn store(&self) -> Result<StoreUrl<'_>, ConfigError> {
        let url = self.config.store.url.as_deref();
        let url = url.ok_or(ConfigError::NoDataDir)?;
        Ok(match url.strip_prefix("sqlite:") {
            Some(path) => StoreUrl::Sqlite(Path::new(path)),
            None => StoreUrl::Memory,
        })
    }

    /// The provider of the model.
    ///
    /// # Errors
    /// [`ConfigError::NoModel`] when nothing says which.
    pub fn provider(&self) -> Result<&str, ConfigError> {
        let provider = self.config.model.provider.as_deref();
        provider.ok_or(ConfigError::NoModel)
    }
}

/// Where the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreUrl<'a> {
    /// In a file of SQLite.
    Sqlite(&'a Path),
    /// In memory, until the program ends.
    Memory,
}

fn flags(request: &Request) -> Vec<Setting> {
    request
        .flags
        .iter()
        .map(|flag| Setting {
            path: flag.key.to_owned(),
            value: flag.value.clone(),
            source: Source::Flag(flag.flag.to_owned()),
            each: BTreeMap::new(),
        })
        .collect()
}

/// What was set for each key, the strongest last.
#[derive(Debug, Default)]
pub(super) struct Layers(BTreeMap<String, Vec<Setting>>);

impl Layers {
    /// Adds what is right of these, and says what is wrong.
    fn add(&mut self, settings: Vec<Setting>, env: &Environment, problems: &mut Problems) {
        for mut setting in settings {
            let Some(key) = Catalogue::get().find(&setting.path) else {
                continue;
            };
            repeats::leave_out(key, &mut setting);
            let wrong = key.check(&setting.value, env);
            let whole = wrong.iter().any(|wrong| wrong.within.is_empty());
            // From behind, so that places before it stay what they are.
            for wrong in wrong.iter().rev() {
                let problem = told(&setting, wrong, problems);
                problems.push(problem);
                take_out(&mut setting.value, &wrong.within, instead(&key.kind, wrong));
            }
            if whole {
                continue;
            }
            self.0.entry(key.path.clone()).or_default().push(setting);
        }
    }

    /// What is in effect, where anybody set it.
    pub(super) fn winner(&self, path: &str) -> Option<&Setting> {
        self.0.get(path)?.last()
    }

    pub(super) fn winners_mut(&mut self) -> impl Iterator<Item = &mut Setting> {
        self.0.values_mut().filter_map(|layers| layers.last_mut())
    }

    /// All that was set for a key, the strongest last.
    pub(super) fn all(&self, path: &str) -> &[Setting] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }

    /// Drops what was set for a key where `keep` says no.
    pub(super) fn retain(&mut self, path: &str, keep: impl FnMut(&Setting) -> bool) {
        if let Some(layers) = self.0.get_mut(path) {
            layers.retain(keep);
        }
    }

    /// Sets what follows from something else. What a person set stays.
    pub(super) fn fill(&mut self, path: &str, value: Value, source: Source) {
        let layers = self.0.entry(path.to_owned()).or_default();
        if layers.is_empty() {
            layers.push(Setting {
                path: path.to_owned(),
                value,
                source,
                each: BTreeMap::new(),
            });
        }
    }

    fn sources(self) -> BTreeMap<String, Source> {
        self.0
            .into_iter()
            .filter_map(|(path, mut layers)| Some((path, layers.pop()?)))
            .flat_map(|(path, setting)| {
                let of_each = |(name, at)| (format!("{path}.{name}"), at);
                let each: Vec<_> = setting.each.into_iter().map(of_each).collect();
                each.into_iter().chain([(path, setting.source)])
            })
            .collect()
    }

    /// The tables by name of a key, each with where it comes from.
    pub(super) fn tables(
        &self,
        path: &str,
    ) -> impl Iterator<Item = (&String, &Map<String, Value>, &Source)> {
        self.winner(path).into_iter().flat_map(|setting| {
            let tables = setting.value.as_object().into_iter().flatten();
            tables.filter_map(|(name, table)| {
                let at = setting.each.get(name).unwrap_or(&setting.source);
                Some((name, table.as_object()?, at))
            })
        })
    }

    /// Empties an item of a list that is wrong, which keeps its place.
    pub(super) fn empty_item(&mut self, path: &str, place: usize) {
        let setting = self.0.get_mut(path).and_then(|layers| layers.last_mut());
        let item = setting.and_then(|setting| setting.value.get_mut(place));
        if let Some(item) = item {
            *item = Value::from("");
        }
    }

    fn config(&self, problems: &mut Problems) -> Config {
        let mut root = Map::new();
        for setting in self.0.values().filter_map(|layers| layers.last()) {
            let Some((section, name)) = setting.path.split_once('.') else {
                root.insert(setting.path.clone(), setting.value.clone());
                continue;
            };
            if let Value::Object(table) = root
                .entry(section)
                .or_insert_with(|| Value::Object(Map::new()))
            {
                table.insert(name.to_owned(), setting.value.clone());
            }
        }
        if !problems.is_empty() {
            complete(&mut root);
        }
        serde_json::from_value(Value::Object(root)).unwrap_or_else(|error| {
            // What is said already is why.
            if problems.is_empty() {
                problems.push(Problem::of(Source::Default, error.to_string()));
            }
            Config::default()
        })
    }
}

/// A problem of a setting, at the place of what is wrong.
fn told(setting: &Setting, wrong: &Wrong, problems: &mut Problems) -> Problem {
    let within = wrong.within.join(".");
    let at = setting.place(&within).clone();
    let path = |within: &[String]| {
        let names = std::iter::once(setting.path.as_str());
        let names: Vec<&str> = names.chain(within.iter().map(String::as_str)).collect();
        names.join(".")
    };
    let (around, name) = match wrong.within.split_last() {
        Some((name, around)) => (path(around), name.as_str()),
        None => (setting.path.clone(), ""),
    };
    let key = path(&wrong.within);
    let message = match &wrong.what {
        What::Value(why) => format!("`{key}` {why}"),
        What::Name(why) => format!("`{around}` {why}"),
        What::Unknown(there) => {
            let (message, nearest) = unknown(&around, name, there);
            if let Some(nearest) = nearest {
                problems.was_meant(format!("{around}.{nearest}"));
            }
            message
        }
    };
    Problem { at, key, message }
}

/// What stands in the place of what is wrong, if something does: a table by name stays, empty, so
/// that others may name it; a row and an item stay, so that those behind it keep their places.
fn instead(kind: &Kind, wrong: &Wrong) -> Option<Value> {
    let table = || Some(Value::Object(Map::new()));
    match (kind, wrong.within.len(), &wrong.what) {
        (Kind::Tables(_), 1, What::Value(_)) | (Kind::Rows(_), 1, _) => table(),
        (Kind::List(Format::Ip), ..) => None,
        _ => Some(Value::from("")),
    }
}

/// Takes a part out of a value; an item of a list only where nothing is there instead of it.
fn take_out(value: &mut Value, within: &[String], instead: Option<Value>) {
    let Some((name, rest)) = within.split_first() else {
        return;
    };
    let place = name.parse::<usize>();
    match (value, rest.is_empty()) {
        (Value::Object(map), true) => {
            let gone = map.remove(name);
            if let (Some(table @ Value::Object(_)), Some(_)) = (instead, gone) {
                map.insert(name.clone(), table);
            }
        }
        (Value::Object(map), false) => {
            if let Some(inner) = map.get_mut(name) {
                take_out(inner, rest, instead);
            }
        }
        (Value::Array(items), true) => match (place, instead) {
            (Ok(place), Some(other)) if place < items.len() => items[place] = other,
            (Ok(place), None) if place < items.len() => drop(items.remove(place)),
            _ => {}
        },
        (Value::Array(items), false) => {
            if let Some(inner) = place.ok().and_then(|place| items.get_mut(place)) {
                take_out(inner, rest, instead);
            }
        }
        _ => {}
    }
}

/// Gives the rows of a configuration that is wrong what they cannot be without, and means nothing:
/// so that the rest of them can be looked at.
fn complete(root: &mut Map<String, Value>) {
    let fill = |rows: Option<&mut Value>, needed: [(&str, Value); 2]| {
        let rows = rows.and_then(Value::as_array_mut).into_iter().flatten();
        for row in rows.filter_map(Value::as_object_mut) {
            for (key, value) in &needed {
                row.entry(*key).or_insert_with(|| value.clone());
            }
        }
    };
    let rules = root.get_mut("permissions");
    let rules = rules.and_then(|table| table.get_mut("rules"));
    fill(rules, [("tool", "*".into()), ("decision", "deny".into())]);
    let flows = root.get_mut("workflows");
    fill(
        flows,
        [("name", "".into()), ("steps", Value::Array(Vec::new()))],
    );
}
