//! The layers put together: flag over variable over alias over file over default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outfitter_core::SessionId;
use serde_json::{Map, Value};

use super::catalogue::Catalogue;
use super::file::{self, Setting};
use super::problem::{ConfigError, Problem};
use super::sections::Config;
use super::source::Source;
use super::{derived, paths, sandbox_paths, variables};
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

/// Loads the configuration.
///
/// # Errors
/// [`ConfigError`], with every problem at once.
pub fn load(env: &Environment, request: &Request) -> Result<Loaded, ConfigError> {
    let file = file::find(env, request.file.as_deref())?;
    let mut problems = Vec::new();
    let mut layers = Layers::default();
    if let Some(file) = &file {
        layers.add(file.settings(&mut problems), &mut problems);
    }
    layers.add(variables::aliases(env, &mut problems), &mut problems);
    layers.add(variables::variables(env, &mut problems), &mut problems);
    layers.add(flags(request), &mut problems);
    let session = variables::session(env, &mut problems);
    derived::follow_provider(&mut layers);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.at.order());
        return Err(ConfigError::Problems(problems));
    }

    derived::fill_in(&mut layers, env);
    sandbox_paths::relative(&layers, &mut problems);
    if problems.is_empty() {
        paths::resolve(&mut layers, env);
        derived::check(&mut layers, &mut problems);
        sandbox_paths::check(&layers, env, &mut problems);
    }
    if !problems.is_empty() {
        return Err(ConfigError::Problems(problems));
    }
    let config = layers.config(&mut problems);
    if !problems.is_empty() {
        return Err(ConfigError::Problems(problems));
    }
    Ok(Loaded {
        config,
        file: file.map(|file| file.path),
        session,
        sources: layers.sources(),
    })
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
    fn add(&mut self, settings: Vec<Setting>, problems: &mut Vec<Problem>) {
        for setting in settings {
            let Some(key) = Catalogue::get().find(&setting.path) else {
                continue;
            };
            match key.check(&setting.value) {
                Ok(()) => self.0.entry(key.path.clone()).or_default().push(setting),
                Err(message) => problems.push(Problem {
                    message: format!("`{}` {message}", key.path),
                    at: setting.source,
                }),
            }
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

    fn config(&self, problems: &mut Vec<Problem>) -> Config {
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
        serde_json::from_value(Value::Object(root)).unwrap_or_else(|error| {
            problems.push(Problem {
                at: Source::Default,
                message: error.to_string(),
            });
            Config::default()
        })
    }
}
