//! What is drawn where nobody said what a result means.

use serde_json::Value;

use super::budget::{Budget, TEXT_BYTES};
use super::hints::{Field, Format};
use super::lines::sorted_keys;
use super::nodes::{self, COLUMNS, ROWS};
use super::schema::{Node, Tone, UiSchema, Version};

/// How many rows are looked at for the columns of a table.
const SAMPLE: usize = 50;

/// A plain view of a value: an object as pairs, objects as a table, a list as items, a text as
/// words. Total, and bounded as every schema is.
#[must_use]
pub fn generic(value: &Value) -> UiSchema {
    let mut budget = Budget::new();
    budget.node();
    let root = view(value, &mut budget);
    UiSchema {
        v: Version,
        root,
        diagnostics: budget.diagnostics,
    }
}

/// The view as a node; the caller has paid for the node.
pub(super) fn view(value: &Value, budget: &mut Budget) -> Node {
    match value {
        Value::Object(map) => {
            let fields = members(&sorted_keys(map));
            let entries = nodes::entries(value, &fields, "", budget);
            Node::KeyValues {
                title: None,
                entries: entries.shown,
                omitted: entries.omitted,
            }
        }
        Value::Array(rows) if !rows.is_empty() && rows.iter().all(Value::is_object) => {
            table(rows, budget)
        }
        Value::Array(items) => {
            let items = nodes::items(items, "", Format::Auto, "", budget);
            Node::List {
                title: None,
                ordered: false,
                items: items.shown,
                omitted: items.omitted,
                empty: None,
            }
        }
        Value::String(text) => words(text, budget),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            words(&super::lines::json_text(value, TEXT_BYTES), budget)
        }
    }
}

fn words(text: &str, budget: &mut Budget) -> Node {
    let (text, omitted) = budget.block(text, TEXT_BYTES);
    if omitted > 0 {
        return Node::Code {
            title: None,
            language: None,
            text,
            omitted,
        };
    }
    Node::Text {
        text,
        tone: Tone::Plain,
    }
}

fn table(rows: &[Value], budget: &mut Budget) -> Node {
    let fields = inferred(rows);
    let columns = nodes::columns(&fields, "", budget);
    let rows = nodes::rows(rows, &fields[..columns.len()], "", budget);
    Node::Table {
        title: None,
        columns,
        rows: rows.shown,
        omitted: rows.omitted,
        empty: None,
    }
}

/// The members of the first rows, by their bytes.
pub(super) fn inferred(rows: &[Value]) -> Vec<Field> {
    let mut keys: Vec<&str> = rows
        .iter()
        .take(SAMPLE)
        .filter_map(Value::as_object)
        .flat_map(|row| row.keys().take(ROWS).map(String::as_str))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys.truncate(COLUMNS);
    members(&keys)
}

pub(super) fn members(keys: &[&str]) -> Vec<Field> {
    keys.iter()
        .map(|key| Field {
            label: None,
            path: format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            format: Format::Auto,
        })
        .collect()
}
