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
        if let Some(rows) = keys.iter().find(|key| key.path == section)
            && let Some(of_rows) = rows.of_rows()
        {
            out.push_str(&format!("### `[[{section}]]`\n\n{about}\n\n"));
            out.push_str(&table(of_rows.iter()));
            continue;
        }
        let is_table = |key: &&Key| key.of_each().is_some() || key.of_table().is_some();
        let (tables, plain): (Vec<&Key>, Vec<&Key>) = keys.into_iter().partition(is_table);
        if !plain.is_empty() {
            out.push_str(&format!("### `[{section}]`\n\n{about}\n\n"));
            out.push_str(&table(plain.into_iter()));
        }
        for key in tables {
            if let Some(of_table) = key.of_table() {
                out.push_str(&format!("### `[{}]`\n\n{}\n\n", key.path, key.doc));
                out.push_str(&table(of_table.iter()));
                continue;
            }
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
