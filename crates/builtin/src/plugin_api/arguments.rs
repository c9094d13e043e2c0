//! The arguments of a call, by where they go.

use serde_json::{Map, Value};

use super::body::From;
use super::field::Sent;
use super::flat::Place;
use super::media::Media;
use super::operation::Operation;
use super::parameter::Input;
use crate::given;

/// The paths of the files that a call sends.
pub(super) fn files(operation: &Operation, args: &Map<String, Value>) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array();
        let one = list.is_none().then_some(value);
        let items = list.into_iter().flatten().chain(one);
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let named: Vec<String> = match operation
        .body
        .as_ref()
        .map(|body| (&body.media, &body.from))
    {
        Some((Media::Bytes(..), From::Whole(property))) => {
            args.get(property).map(texts).unwrap_or_default()
        }
        Some((_, From::Fields { fields, .. })) => {
            let is_file = |input: &Input| {
                let field = fields.get(&input.name);
                field.is_some_and(|field| matches!(field.sent, Sent::File(_)))
            };
            let files = inputs(operation, Place::Body, args).filter(|(input, _)| is_file(input));
            files.flat_map(|(_, value)| texts(value)).collect()
        }
        Some((_, From::Whole(_))) | None => Vec::new(),
    };
    let is_path = |text: &String| matches!(given::Given::of(text), given::Given::Path(_));
    named.into_iter().filter(is_path).collect()
}

/// The arguments that go to a place, and are there. None is as good as not there, but in a body.
pub(super) fn inputs<'a>(
    operation: &'a Operation,
    place: Place,
    args: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a Input, &'a Value)> {
    operation.inputs.iter().filter_map(move |input| {
        let value = args.get(&input.property)?;
        let there = input.place == place && (place == Place::Body || !value.is_null());
        there.then_some((input, value))
    })
}

/// The argument, as a JSON Pointer.
pub(super) fn at(input: &Input) -> String {
    pointer(&input.property)
}

pub(super) fn pointer(property: &str) -> String {
    format!("/{}", property.replace('~', "~0").replace('/', "~1"))
}

/// The argument that the document gives this name.
pub(super) fn named(operation: &Operation, place: Place, name: &str) -> String {
    let mut inputs = operation.inputs.iter();
    let input = inputs.find(|input| input.place == place && input.name == name);
    input.map(at).unwrap_or_default()
}
