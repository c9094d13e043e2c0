//! What a rule says of single arguments.

use outfitter_core::{CallFacts, Pattern, canonical};
use serde_json::Value;

use super::address;
use super::path::fold;

/// How closely a value must be what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closely {
    /// Just so, and all of it: to allow something.
    Exactly,
    /// In any spelling, or in part: to ask about something, or to deny it.
    Loosely,
}

/// How many references and alternatives of a schema are looked through for one member.
const MAX_THROUGH: usize = 16;

/// The argument of this name, or at this pointer; its default where it is left out. What a call
/// leaves out with all that is around it has its default loosely only: a tool may do without.
pub(super) fn value<'c>(name: &str, call: &CallFacts<'c>, closely: Closely) -> Option<&'c Value> {
    let pointer = match name.strip_prefix('/') {
        Some(pointer) => pointer.to_owned(),
        None => name.replace('~', "~0").replace('/', "~1"),
    };
    let root = &*call.spec.input_schema;
    let (mut value, mut schema) = (Some(call.args), Some(root));
    for step in pointer.split('/') {
        if value.is_none() && closely == Closely::Exactly {
            return None;
        }
        let step = format!("/{step}");
        let given = value.and_then(|value| value.pointer(&step));
        if given.is_none() && value.is_some_and(|value| !value.is_object()) {
            return None;
        }
        schema = schema.and_then(|schema| {
            look(root, schema, MAX_THROUGH, &|schema| match value {
                Some(Value::Array(_)) => schema.get("items"),
                _ => schema.get("properties")?.pointer(&step),
            })
        });
        let default = |schema| look(root, schema, MAX_THROUGH, &|schema| schema.get("default"));
        value = given.or_else(|| schema.and_then(default));
    }
    value
}

/// What is found in a schema, else in what it refers to or is made of.
fn look<'s>(
    root: &'s Value,
    schema: &'s Value,
    through: usize,
    find: &dyn Fn(&'s Value) -> Option<&'s Value>,
) -> Option<&'s Value> {
    let through = through.checked_sub(1)?;
    let referred = || root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?);
    let made_of = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten();
    find(schema).or_else(|| {
        referred()
            .into_iter()
            .chain(made_of)
            .find_map(|part| look(root, part, through, find))
    })
}

/// Whether an argument is what `NAME=GLOB` says.
pub(super) fn has(args: &str, call: &CallFacts<'_>, closely: Closely) -> bool {
    named(args, call, closely).is_some_and(|(value, glob)| is(value, &Value::from(glob), closely))
}

/// The argument that `NAME=GLOB` names, and its glob.
pub(super) fn named<'c, 'a>(
    args: &'a str,
    call: &CallFacts<'c>,
    closely: Closely,
) -> Option<(&'c Value, &'a str)> {
    let (name, glob) = args.split_once('=')?;
    Some((value(name, call, closely)?, glob))
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
        return value == wanted || same_number(value, wanted);
    };
    let text = match value {
        Value::String(text) => text.clone(),
        other => canonical(other),
    };
    let as_written = Pattern::new(glob.as_str()).matches(&text);
    let leads = address::is(glob, &text, closely);
    match closely {
        // An address is allowed for where it leads, not for how it begins.
        Closely::Exactly => leads.unwrap_or(as_written),
        Closely::Loosely => {
            as_written || leads == Some(true) || Pattern::new(fold(glob)).matches(&fold(&text))
        }
    }
}

/// Whether both are numbers, and the same one however it is written.
#[expect(clippy::float_cmp, reason = "a number is the same or another")]
fn same_number(one: &Value, other: &Value) -> bool {
    let whole = |value: &Value| value.is_i64() || value.is_u64();
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) => a == b && !(whole(one) && whole(other)),
        _ => false,
    }
}
