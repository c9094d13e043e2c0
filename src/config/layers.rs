//! What was set for each key, layer upon layer, and what is wrong with it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::catalogue::Catalogue;
use super::file::Setting;
use super::kind::{Format, Kind, What, Wrong, unknown};
use super::problem::{Problem, Problems};
use super::repeats;
use super::sections::Config;
use super::source::Source;
use crate::env::Environment;

/// What was set for each key, the strongest last.
#[derive(Debug, Default)]
pub(super) struct Layers(BTreeMap<String, Vec<Setting>>);

impl Layers {
    /// Adds what is right of these, and says what is wrong.
    pub(super) fn add(
        &mut self,
        settings: Vec<Setting>,
        env: &Environment,
        problems: &mut Problems,
    ) {
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

    pub(super) fn sources(self) -> BTreeMap<String, Source> {
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

    pub(super) fn config(&self, problems: &mut Problems) -> Config {
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
