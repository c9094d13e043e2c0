//! The keys and variables as tables for the documentation.

use super::catalogue::{Catalogue, Key};
use super::toml_value;
use crate::env::NAMES;

/// The tables, in Markdown.
#[must_use]
pub fn markdown() -> String {
    let catalogue = Catalogue::get();
    let mut out = String::new();
    for (section, about) in catalogue.sections() {
        let keys: Vec<&Key> = catalogue
            .keys()
            .iter()
            .filter(|key| key.section == section)
            .collect();
        let (tables, plain): (Vec<&Key>, Vec<&Key>) =
            keys.into_iter().partition(|key| key.of_each().is_some());
        if !plain.is_empty() {
            out.push_str(&format!("### `[{section}]`\n\n{about}\n\n"));
            out.push_str(&table(plain.into_iter()));
        }
        for key in tables {
            out.push_str(&format!("### `[{}.NAME]`\n\n{}\n\n", key.path, key.doc));
            out.push_str(&table(key.of_each().into_iter().flatten()));
        }
    }
    out.push_str("### Environment variables\n\n| name | what it means |\n|---|---|\n");
    out.push_str("| `OUTFITTER_SECTION__KEY` | Sets the key `key` of `[section]`. |\n");
    for (name, about) in NAMES {
        out.push_str(&format!("| `{name}` | {} |\n", about.trim()));
    }
    out
}

fn table<'a>(keys: impl Iterator<Item = &'a Key>) -> String {
    let mut out = String::from("| key | default | what it means |\n|---|---|---|\n");
    for key in keys {
        let default = if key.default.is_null() {
            "none".to_owned()
        } else {
            format!("`{}`", toml_value::write(&key.default))
        };
        let doc = key.described().replace('|', "\\|");
        out.push_str(&format!("| `{}` | {default} | {doc} |\n", key.name));
    }
    out.push('\n');
    out
}
