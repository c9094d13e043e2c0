//! The tools on files, on real files.

mod appending;
mod bounds;
mod bytes;
mod encodings;
mod finding;
mod odd;
mod patching;
mod reach;
mod reading;
mod writing;

use serde_json::Value;

fn paths(entries: &Value) -> Vec<&str> {
    let mut paths: Vec<&str> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    paths
}
