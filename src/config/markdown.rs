//! The keys and variables as tables for the documentation.

use super::catalogue::Catalogue;
use super::toml_value;
use crate::env::NAMES;

/// The tables, in Markdown.
#[must_use]
pub fn markdown() -> String {
    let catalogue = Catalogue::get();
    let mut out = String::new();
    for (section, about) in catalogue.sections() {
        out.push_str(&format!("### `[{section}]`\n\n{about}\n\n"));
        out.push_str("| key | default | what it means |\n|---|---|---|\n");
        for key in catalogue.keys().iter().filter(|key| key.section == section) {
            let default = if key.default.is_null() {
                "none".to_owned()
            } else {
                format!("`{}`", toml_value::write(&key.default))
            };
            let doc = key.described().replace('|', "\\|");
            out.push_str(&format!("| `{}` | {default} | {doc} |\n", key.name));
        }
        out.push('\n');
    }
    out.push_str("### Environment variables\n\n| name | what it means |\n|---|---|\n");
    out.push_str("| `OUTFITTER_SECTION__KEY` | Sets the key `key` of `[section]`. |\n");
    for (name, about) in NAMES {
        out.push_str(&format!("| `{name}` | {} |\n", about.trim()));
    }
    out
}
