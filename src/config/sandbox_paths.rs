//! What `[sandbox] read` and `write` cannot open: a mistake in the configuration, said before
//! anything runs.

use std::path::Path;

use outfitter_sandbox::Protected;
use outfitter_sandbox::opened::{Opened, hopeless};
use serde_json::Value;

use super::load::Layers;
use super::problem::Problem;
use crate::env::{self, Environment};

/// The keys.
const KEYS: [(&str, Opened); 2] = [
    ("sandbox.read", Opened::Read),
    ("sandbox.write", Opened::Write),
];

/// Names each path that means another place from each directory. Before paths are made absolute.
pub(super) fn relative(layers: &Layers, problems: &mut Vec<Problem>) {
    each(layers, problems, |text, _| {
        let is_whole = text.starts_with('/') || text == "~" || text.starts_with("~/");
        (!is_whole).then(|| {
            "is relative; write it from `/` or from `~/`, so that it means one place".to_owned()
        })
    });
}

/// Names each path that cannot be opened, after paths are made absolute.
pub(super) fn check(layers: &Layers, env: &Environment, problems: &mut Vec<Problem>) {
    let protected = match env.directory(env::HOME) {
        Some(home) => Protected::of_home(home),
        None => Protected::of_system(),
    };
    let data = layers.winner("store.data_dir");
    let data = data.and_then(|data| data.value.as_str()).map(Path::new);
    each(layers, problems, |text, opened| {
        hopeless(Path::new(text), opened, &protected, data)
    });
}

fn each(
    layers: &Layers,
    problems: &mut Vec<Problem>,
    why: impl Fn(&str, Opened) -> Option<String>,
) {
    for (key, opened) in KEYS {
        let Some(set) = layers.winner(key) else {
            continue;
        };
        let texts = set.value.as_array().into_iter().flatten();
        for text in texts.filter_map(Value::as_str) {
            if let Some(why) = why(text, opened) {
                problems.push(Problem {
                    at: set.source.clone(),
                    message: format!("`{key}` cannot open {text}: it {why}"),
                });
            }
        }
    }
}
