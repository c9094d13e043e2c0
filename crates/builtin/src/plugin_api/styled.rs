//! Values as texts, in the styles of OpenAPI (RFC 6570).

use outfitter_core::{ToolError, canonical};
use serde_json::Value;

use super::arguments::at;
use super::parameter::{Input, Style};
use super::text::percent_encode;

/// The texts of a value: one, those of a list, or those of an object with their keys.
pub(super) fn texts(
    input: &Input,
    value: &Value,
) -> Result<Vec<(Option<String>, String)>, ToolError> {
    if input.form == Style::Json {
        return Ok(vec![(None, canonical(value))]);
    }
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| Ok((None, scalar(input, item)?)))
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| Ok((Some(key.clone()), scalar(input, value)?)))
            .collect(),
        other => Ok(vec![(None, scalar(input, other)?)]),
    }
}

fn scalar(input: &Input, value: &Value) -> Result<String, ToolError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(boolean) => Ok(boolean.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(ToolError::invalid(
            at(input),
            format!(
                "a {} has no form for values inside values",
                input.place.as_str()
            ),
        )),
    }
}

/// A value as it stands in a path. What is empty in the style `simple` is refused later on.
pub(super) fn in_path(input: &Input, value: &Value, said: &[(Option<String>, String)]) -> String {
    let several = matches!(value, Value::Array(_) | Value::Object(_));
    let pair = |name: &str, text: &str| match text {
        "" => percent_encode(name),
        text => format!("{}={}", percent_encode(name), percent_encode(text)),
    };
    match input.form {
        // Without items there is nothing to mark.
        Style::Label { .. } | Style::Matrix { .. } if said.is_empty() => String::new(),
        Style::Label { explode: true } if several => said
            .iter()
            .map(|(key, text)| match key {
                Some(key) => format!(".{}={}", percent_encode(key), percent_encode(text)),
                None => format!(".{}", percent_encode(text)),
            })
            .collect(),
        Style::Label { .. } => format!(".{}", simple(input.form, said, percent_encode)),
        Style::Matrix { explode: true } if several => said
            .iter()
            .map(|(key, text)| format!(";{}", pair(key.as_deref().unwrap_or(&input.name), text)))
            .collect(),
        Style::Matrix { .. } if several => {
            let list = simple(input.form, said, percent_encode);
            format!(";{}={list}", percent_encode(&input.name))
        }
        Style::Matrix { .. } => {
            let text = said.first().map_or("", |(_, text)| text.as_str());
            format!(";{}", pair(&input.name, text))
        }
        form => simple(form, said, percent_encode),
    }
}

/// `a,b`, `k,v` or `k=v`.
pub(super) fn simple(
    form: Style,
    said: &[(Option<String>, String)],
    encode: fn(&str) -> String,
) -> String {
    let between = match form {
        Style::Simple { explode: true } => "=",
        Style::Simple { explode: false }
        | Style::Form { .. }
        | Style::Delimited(_)
        | Style::Label { .. }
        | Style::Matrix { .. }
        | Style::Deep
        | Style::Json => ",",
    };
    let each: Vec<String> = said
        .iter()
        .map(|(key, text)| match key {
            Some(key) => format!("{}{between}{}", encode(key), encode(text)),
            None => encode(text),
        })
        .collect();
    each.join(",")
}

/// The pairs of a query or a form: names as they are, values as they stand in it.
pub(super) fn pairs(
    input: &Input,
    value: &Value,
    encode: fn(&str) -> String,
) -> Result<Vec<(String, String)>, ToolError> {
    if input.form == Style::Deep {
        return deep(input, value, encode);
    }
    let said = texts(input, value)?;
    let several = matches!(value, Value::Array(_) | Value::Object(_));
    let own = || input.name.clone();
    Ok(match input.form {
        Style::Form { explode: true } if several => said
            .into_iter()
            .map(|(key, text)| (key.unwrap_or_else(own), encode(&text)))
            .collect(),
        // A list without items is no parameter.
        _ if said.is_empty() => Vec::new(),
        Style::Delimited(delimiter) if several => {
            let delimiter = encode(&delimiter.to_string());
            let each: Vec<String> = said
                .into_iter()
                .flat_map(|(key, text)| key.into_iter().chain([text]))
                .map(|text| encode(&text))
                .collect();
            vec![(own(), each.join(&delimiter))]
        }
        form => vec![(own(), simple(form, &said, encode))],
    })
}

/// `name[k]=v`. OpenAPI defines no more than one level of it, and servers do not agree on more.
fn deep(
    input: &Input,
    value: &Value,
    encode: fn(&str) -> String,
) -> Result<Vec<(String, String)>, ToolError> {
    let Value::Object(fields) = value else {
        let message = "only an object can be written as name[key]=value";
        return Err(ToolError::invalid(at(input), message));
    };
    let pair = |(key, value): (&String, &Value)| {
        let text = scalar(input, value)?;
        Ok((format!("{}[{key}]", input.name), encode(&text)))
    };
    fields.iter().map(pair).collect()
}
