//! Coercion: models write `"5"` where a number is asked for, and `"[1]"` where a list is.
//!
//! Only a JSON string is ever changed, only where its place in the schema takes one kind of value
//! and no string, and only when nothing is lost: the string spells exactly one JSON value of that
//! kind. Arguments that fit as they were written are never touched, so a place that takes strings
//! keeps what looks like a number. Nothing becomes a string, and `"null"` does not become null.

mod places;
mod spelled;

use serde_json::Value;

use places::{Place, Places};
use spelled::spelled;

/// How deep values are looked into. Deeper ones stay as they are.
const MAX_DEPTH: usize = 32;

/// Reads what stands in strings where the schema wants something else. Gives whether anything
/// changed.
pub(crate) fn coerce(schema: &Value, args: &mut Value) -> Change {
    let places = Places::new(schema);
    walk(&places, &places.root(), args, MAX_DEPTH)
}

/// Whether something was read out of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Some,
}

impl Change {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, Self::None) => Self::None,
            (Self::Some, _) | (_, Self::Some) => Self::Some,
        }
    }
}

fn walk(places: &Places<'_>, place: &Place<'_>, value: &mut Value, depth: usize) -> Change {
    let Some(depth) = depth.checked_sub(1) else {
        return Change::None;
    };
    match value {
        Value::String(text) => match places.only_kind(place).and_then(|kind| spelled(text, kind)) {
            // What it holds is taken as it stands: it was decoded once.
            Some(read) => {
                *value = read;
                Change::Some
            }
            None => Change::None,
        },
        Value::Object(map) => {
            let fitting = places.narrowed(place, map);
            map.iter_mut()
                .map(|(name, value)| {
                    let place = places.property(&fitting, name);
                    walk(places, &place, value, depth)
                })
                .fold(Change::None, Change::and)
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .map(|(index, value)| {
                let place = places.item(place, index);
                walk(places, &place, value, depth)
            })
            .fold(Change::None, Change::and),
        Value::Null | Value::Bool(_) | Value::Number(_) => Change::None,
    }
}

#[cfg(test)]
mod tests;
