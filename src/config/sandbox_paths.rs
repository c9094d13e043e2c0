//! What `[sandbox] read` and `write` cannot open: a mistake in the configuration, said before
//! anything runs.

use std::path::Path;

use super::layers::Layers;
use super::problem::Problems;
use crate::env::{self, Environment};
use outfitter_sandbox::Protected;
use outfitter_sandbox::opened::{Opened, hopeless};

/// The keys.
const KEYS: [(&str, Opened); 2] = [
    ("sandbox.read", Opened::Read),
    ("sandbox.write", Opened::Write),
];

/// Names each path that means another place from each directory. Before paths are made absolute.
pub(super) fn relative(layers: &mut Layers, problems: &mut Problems) {
    let wrong = each(layers, problems, |text, _| {
        let is_whole = text.starts_with('/') || text == "~" || text.starts_with("~/");
        (!is_whole).then(|| {
            "is relative; write it from `/` or from `~/`, so that it means one place".to_owned()
        })
    });
    for (key, place) in wrong {
        layers.empty_item(key, place);
    }
}

/// Names each path that cannot be opened, after paths are made absolute.
pub(super) fn check(layers: &Layers, env: &Environment, problems: &mut Problems) {
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

/// Says what is wrong with each path, and gives the key and the place of each that is.
fn each(
    layers: &Layers,
    problems: &mut Problems,
    why: impl Fn(&str, Opened) -> Option<String>,
) -> Vec<(&'static str, usize)> {
    let mut wrong = Vec::new();
    for (key, opened) in KEYS {
        let Some(set) = layers.winner(key) else {
            continue;
        };
        let texts = set.value.as_array().into_iter().flatten().enumerate();
        for (place, text) in texts {
            // An empty one was said to be wrong.
            let Some(text) = text.as_str().filter(|text| !text.is_empty()) else {
                continue;
            };
            if let Some(why) = why(text, opened) {
                let why = format!("cannot open {text}: it {why}");
                let at = set.place(&place.to_string());
                problems.say(at, format!("{key}.{place}"), why);
                wrong.push((key, place));
            }
        }
    }
    wrong
}
