//! What a rule says of single arguments.

use outfitter_core::{CallFacts, Pattern, canonical};
use serde_json::Value;

use super::path::fold;

/// How closely a value must be what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closely {
    /// Just so, and all of it: to allow something.
    Exactly,
    /// In any spelling, or in part: to ask about something, or to deny it.
    Loosely,
}

/// The argument of this name, or at this pointer; its default where it is left out.
pub(super) fn value<'c>(name: &str, call: &CallFacts<'c>) -> Option<&'c Value> {
    if name.starts_with('/') {
        return call.args.pointer(name);
    }
    call.args.get(name).or_else(|| {
        let properties = call.spec.input_schema.get("properties")?;
        properties.get(name)?.get("default")
    })
}

/// Whether an argument is what `NAME=GLOB` says.
pub(super) fn has(args: &str, call: &CallFacts<'_>, closely: Closely) -> bool {
    let Some((name, glob)) = args.split_once('=') else {
        return false;
    };
    value(name, call).is_some_and(|value| is(value, &Value::from(glob), closely))
}

/// Whether a value is what is wanted. Of a list, each item is held to it to be exactly so, and one
/// is enough to be loosely so.
pub(super) fn is(value: &Value, wanted: &Value, closely: Closely) -> bool {
    if let Value::Array(choices) = wanted {
        return choices.iter().any(|choice| is(value, choice, closely));
    }
    match (value, closely) {
        (Value::Array(items), Closely::Exactly) => {
            !items.is_empty() && items.iter().all(|item| is(item, wanted, closely))
        }
        (Value::Array(items), Closely::Loosely) => {
            whole(value, wanted, closely) || items.iter().any(|item| is(item, wanted, closely))
        }
        (one, _) => whole(one, wanted, closely),
    }
}

fn whole(value: &Value, wanted: &Value, closely: Closely) -> bool {
    let Value::String(glob) = wanted else {
        return value == wanted;
    };
    let text = match value {
        Value::String(text) => text.clone(),
        other => canonical(other),
    };
    Pattern::new(glob.as_str()).matches(&text)
        || closely == Closely::Loosely && Pattern::new(fold(glob)).matches(&fold(&text))
}
