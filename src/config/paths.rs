//! Paths made absolute: from the directory of the file they stand in, else from the current one.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::catalogue::Catalogue;
use super::kind::{Format, Kind, is_url};
use super::layers::Layers;
use super::source::Source;
use crate::env::{self, Environment};

/// Makes every path absolute.
pub(super) fn resolve(layers: &mut Layers, env: &Environment) {
    for setting in layers.winners_mut() {
        let Some(key) = Catalogue::get().find(&setting.path) else {
            continue;
        };
        let base = match &setting.source {
            Source::File(position) => {
                let file = env.current_dir().join(&position.file);
                file.parent().map_or(file.clone(), Path::to_owned)
            }
            _ => env.current_dir().to_owned(),
        };
        let absolute = |text: &str| match text {
            // What is wrong was taken out of its place.
            "" => String::new(),
            text => absolute(text, &base, env),
        };
        make(&key.kind, &mut setting.value, &absolute);
    }
}

fn make(kind: &Kind, value: &mut Value, absolute: &dyn Fn(&str) -> String) {
    match (kind, value) {
        (Kind::Text(Format::Path), Value::String(text)) => *text = absolute(text),
        (Kind::Text(Format::Program), Value::String(text)) if text.contains('/') => {
            *text = absolute(text);
        }
        (Kind::TableOrPath, Value::String(text)) => *text = absolute(text),
        (Kind::Text(Format::PathOrUrl), Value::String(text)) if !is_url(text) => {
            *text = absolute(text);
        }
        (Kind::Text(Format::StoreUrl), Value::String(text)) => {
            if let Some(path) = text.strip_prefix("sqlite:") {
                *text = format!("sqlite:{}", absolute(path));
            }
        }
        (Kind::List(Format::Path), Value::Array(items)) => {
            for item in items {
                make(&Kind::Text(Format::Path), item, absolute);
            }
        }
        (Kind::Table(keys), Value::Object(table)) => {
            for key in keys {
                if let Some(value) = table.get_mut(&key.name) {
                    make(&key.kind, value, absolute);
                }
            }
        }
        (Kind::Tables(keys), Value::Object(tables)) => {
            for table in tables.values_mut().filter_map(Value::as_object_mut) {
                for key in keys {
                    if let Some(value) = table.get_mut(&key.name) {
                        make(&key.kind, value, absolute);
                    }
                }
            }
        }
        _ => {}
    }
}

fn absolute(text: &str, base: &Path, env: &Environment) -> String {
    let home = || env.directory(env::HOME);
    let path = match text.strip_prefix('~') {
        Some("") => home().map(Path::to_owned),
        Some(rest) => rest
            .strip_prefix('/')
            .and_then(|rest| Some(home()?.join(rest))),
        None => None,
    };
    let path = path.unwrap_or_else(|| base.join(text));
    without_dots(&path).to_string_lossy().into_owned()
}

/// Leaves out `.`; `..` stays, since what it means depends on links.
fn without_dots(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}
