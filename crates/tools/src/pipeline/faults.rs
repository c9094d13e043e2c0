//! What is wrong with arguments: every fault with its path, what was expected and what was found.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use outfitter_core::{Code, ErrorInfo, REDACTED, canonical, is_secret_key};
use serde_json::{Map, Value, json};

use crate::redact::Redactor;
use crate::registered::Registered;
use crate::schema_hint::{kind, schema_hint};
use outfitter_text::close_names;

/// The most faults that are listed.
const MAX_FAULTS: usize = 20;

/// The longest value that is shown as it is, in bytes of JSON.
const MAX_SHOWN_BYTES: usize = 120;

struct Fault {
    path: String,
    says: String,
    expected: Value,
    got: Option<Value>,
}

/// The error for arguments that do not fit. The fields are those of the first fault; the message
/// lists all.
pub(crate) fn describe(tool: &Registered, args: &Value) -> ErrorInfo {
    listed(
        "the arguments do not fit the schema",
        &tool.validator,
        &tool.spec.input_schema,
        args,
    )
}

/// Holds an answer to the schema that its question set.
///
/// # Errors
/// [`Code::InvalidArguments`] with every fault; [`Code::Internal`] when the schema is none.
pub fn check_answer(schema: &Value, answer: &Value) -> Result<(), Box<ErrorInfo>> {
    let validator = jsonschema::validator_for(schema).map_err(|error| {
        let message = format!("the question's schema is no schema: {error}");
        Box::new(ErrorInfo::new(Code::Internal, message))
    })?;
    if validator.is_valid(answer) {
        return Ok(());
    }
    let what = "the answer does not fit the question";
    let info = listed(what, &validator, schema, answer);
    Err(Box::new(info.with_hint(fitting_answers(schema))))
}

/// What an answer that a schema takes looks like, in one line.
#[must_use]
pub fn fitting_answers(schema: &Value) -> String {
    let choices = schema.get("enum").and_then(Value::as_array);
    match (choices, schema.get("type").and_then(Value::as_str)) {
        (Some(choices), _) => {
            let more = choices.len().saturating_sub(MAX_FAULTS);
            let choices: Vec<String> = choices
                .iter()
                .take(MAX_FAULTS)
                .map(|choice| canonical(&shown("", choice)))
                .collect();
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("it is one of {}{more}", choices.join(", "))
        }
        (None, Some("object")) => schema_hint(schema),
        (None, Some(kind)) => format!("it is of the type {kind}"),
        (None, None) => match kind(schema) {
            Some(kinds) => format!("it is one of {}", kinds.replace('|', ", ")),
            None => format!("it fits the schema {}", canonical(&shown("", schema))),
        },
    }
}

fn listed(what: &str, validator: &Validator, schema: &Value, value: &Value) -> ErrorInfo {
    let mut faults: Vec<Fault> = Vec::new();
    let mut more = 0;
    for error in validator.iter_errors(value) {
        let (count, found) = faults_of(&error, schema);
        let before = faults.len();
        faults.extend(found.take(MAX_FAULTS - before));
        more += count - (faults.len() - before);
    }
    // The order of a schema is nobody's business; that of paths is the reader's.
    faults.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.says.cmp(&b.says)));
    let mut message = format!("{what}: ");
    for (index, fault) in faults.iter().enumerate() {
        if index > 0 {
            message.push_str("; ");
        }
        message.push_str(&fault.says);
    }
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    let mut info = ErrorInfo::new(Code::InvalidArguments, message);
    if let Some(first) = faults.into_iter().next() {
        info.path = Some(first.path);
        info.expected = Some(first.expected);
        info.got = first.got;
    }
    info.with_hint(schema_hint(schema))
}

/// How many faults an error is, and the faults, described only as far as they are asked for.
fn faults_of<'e>(
    error: &'e ValidationError<'_>,
    schema: &'e Value,
) -> (usize, Box<dyn Iterator<Item = Fault> + 'e>) {
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let faults = unexpected
                .iter()
                .map(move |name| unknown_property(error, schema, at, name));
            (unexpected.len(), Box::new(faults))
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let fault = std::iter::once_with(move || missing_property(error, schema, at, name));
            (1, Box::new(fault))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if let Some(meant) = branch_meant(context, at) =>
        {
            let found: Vec<_> = meant.iter().map(|error| faults_of(error, schema)).collect();
            let count = found.iter().map(|(count, _)| count).sum();
            let faults = found.into_iter().flat_map(|(_, faults)| faults);
            (count, Box::new(faults))
        }
        kind => {
            let fault = std::iter::once_with(move || unfit_value(error, kind, at));
            (1, Box::new(fault))
        }
    }
}

/// The faults of the one alternative that a value is meant to be, if it shows which: the only one
/// whose type it has, or whose fixed values (as a `kind`) it has.
fn branch_meant<'e>(
    context: &'e [Vec<ValidationError<'static>>],
    at: &str,
) -> Option<&'e [ValidationError<'static>]> {
    let is_another = |error: &ValidationError<'static>| {
        let place = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::Type { .. } => place == at,
            ValidationErrorKind::Constant { .. } => place.starts_with(at),
            _ => false,
        }
    };
    let mut meant = context
        .iter()
        .filter(|branch| !branch.iter().any(is_another));
    match (meant.next(), meant.next()) {
        (Some(branch), None) if !branch.is_empty() => Some(branch),
        _ => None,
    }
}

fn missing_property(error: &ValidationError<'_>, schema: &Value, at: &str, name: &str) -> Fault {
    let expected = properties(error, schema, at)
        .and_then(|properties| kind(properties.get(name)?))
        .unwrap_or_else(|| "a value".to_owned());
    let path = format!("{at}/{}", escaped(name));
    Fault {
        says: format!("{path} is missing (required: {expected})"),
        path,
        expected: Value::String(expected),
        got: None,
    }
}

fn unfit_value(error: &ValidationError<'_>, kind: &ValidationErrorKind, at: &str) -> Fault {
    let expected = expected(kind);
    let got = shown(at, error.instance());
    Fault {
        says: format!(
            "{}: expected {}, got {}",
            if at.is_empty() { "/" } else { at },
            canonical_words(&expected),
            canonical(&got)
        ),
        path: at.to_owned(),
        expected,
        got: Some(got),
    }
}

fn unknown_property(error: &ValidationError<'_>, schema: &Value, at: &str, name: &str) -> Fault {
    let known: Vec<&str> = properties(error, schema, at)
        .map(|map| map.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let path = format!("{at}/{}", escaped(name));
    let close = close_names(name, known.iter().copied());
    let meant = match close.first() {
        Some(close) => format!(", did you mean {close}?"),
        None => String::new(),
    };
    Fault {
        says: format!("{path} is not known{meant}"),
        expected: json!(known),
        got: error.instance().get(name).map(|value| shown(&path, value)),
        path,
    }
}

/// What a keyword asks for, in JSON that says it shortest.
fn expected(kind: &ValidationErrorKind) -> Value {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => json!(kind.to_string()),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => {
            let words: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            json!(words.join("|"))
        }
        Kind::Enum { options } => json!({ "enum": &**options }),
        Kind::Constant { expected_value } => json!({ "const": &**expected_value }),
        Kind::Maximum { limit } => json!({ "maximum": limit }),
        Kind::Minimum { limit } => json!({ "minimum": limit }),
        Kind::ExclusiveMaximum { limit } => json!({ "exclusiveMaximum": limit }),
        Kind::ExclusiveMinimum { limit } => json!({ "exclusiveMinimum": limit }),
        Kind::MaxItems { limit } => json!({ "maxItems": limit }),
        Kind::MinItems { limit } => json!({ "minItems": limit }),
        Kind::MaxLength { limit } => json!({ "maxLength": limit }),
        Kind::MinLength { limit } => json!({ "minLength": limit }),
        Kind::MaxProperties { limit } => json!({ "maxProperties": limit }),
        Kind::MinProperties { limit } => json!({ "minProperties": limit }),
        Kind::MultipleOf { multiple_of } => json!({ "multipleOf": multiple_of }),
        Kind::Pattern { pattern } => json!({ "pattern": pattern }),
        Kind::Format { format } => json!({ "format": format }),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            json!({ "one of": alternatives(context) })
        }
        other => json!(other.keyword()),
    }
}

/// What each branch of an alternative misses, one fragment each.
fn alternatives(context: &[Vec<ValidationError<'static>>]) -> Vec<String> {
    context
        .iter()
        .take(MAX_FAULTS)
        .map(|branch| {
            let says: Vec<String> = branch
                .iter()
                .take(MAX_FAULTS)
                .map(|error| format!("{}", error.masked()))
                .collect();
            says.join(", ")
        })
        .collect()
}

/// A value as an error shows it: itself where it is short and no secret.
fn shown(path: &str, value: &Value) -> Value {
    if path.split('/').any(is_secret_key) {
        return json!(REDACTED);
    }
    let value = &Redactor::default().shown(value);
    let text = canonical(value);
    if text.len() <= MAX_SHOWN_BYTES {
        return value.clone();
    }
    json!(match value {
        Value::String(text) => format!("a string of {} bytes", text.len()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(map) => format!("an object of {} keys", map.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("{} bytes", text.len()),
    })
}

/// Words without quotes, anything else as JSON.
fn canonical_words(value: &Value) -> String {
    match value {
        Value::String(words) => words.clone(),
        other => canonical(other),
    }
}

/// The properties of the object that an error is about: as the schema has them where its keyword
/// stands, else at the path of the value, as far as it is written out.
fn properties<'s>(
    error: &ValidationError<'_>,
    schema: &'s Value,
    at: &str,
) -> Option<&'s Map<String, Value>> {
    let of = |object: &'s Value| object.get("properties")?.as_object();
    let keyword = error.schema_path().as_str();
    keyword
        .rsplit_once('/')
        .and_then(|(object, _)| of(schema.pointer(object)?))
        .or_else(|| of(object_at(schema, at)?))
}

/// The schema of the value at a path, as far as it is written out.
fn object_at<'s>(schema: &'s Value, at: &str) -> Option<&'s Value> {
    at.split('/')
        .skip(1)
        .try_fold(resolved(schema, schema), |place, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            let below = match place.get("properties").and_then(|map| map.get(&step)) {
                Some(property) => property,
                None => place.get("items")?,
            };
            Some(resolved(schema, below))
        })
}

/// What a schema refers to within the whole one, or the schema itself.
fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    /// How far references are followed.
    const MAX_REFERENCES: usize = 8;
    let mut place = schema;
    for _ in 0..MAX_REFERENCES {
        let Some(Value::String(reference)) = place.get("$ref") else {
            break;
        };
        match reference.strip_prefix('#').and_then(|at| whole.pointer(at)) {
            Some(target) => place = target,
            None => break,
        }
    }
    place
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::choices(json!({"enum": ["red", "blue", 3]}), json!("green"), "it is one of \"red\", \"blue\", 3")]
    #[case::kind(json!({"type": "boolean"}), json!("yes"), "it is of the type boolean")]
    #[case::form(
        json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}),
        json!({"age": 3}),
        "its arguments (* required): name* string, age integer"
    )]
    #[case::empty_form(json!({"type": "object", "additionalProperties": false}), json!(3), "it takes no arguments: {}")]
    #[case::several_kinds(
        json!({"type": ["integer", "null"]}),
        json!("x"),
        "it is one of integer, null"
    )]
    #[case::anything_else(json!({"minimum": 3}), json!(2), r#"it fits the schema {"minimum":3}"#)]
    fn an_unfit_answer_is_told_what_fits(
        #[case] schema: Value,
        #[case] answer: Value,
        #[case] hint: &str,
    ) {
        let error = check_answer(&schema, &answer).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert!(
            error.message.starts_with("the answer does not fit"),
            "{error}"
        );
        assert_eq!(error.hint.as_deref(), Some(hint));
    }

    /// What does not fit any of several forms was told of all of them, in the words of a validator.
    #[rstest]
    #[case::what_a_form_has_not(
        json!([{"kind": "regex", "old": "a", "new": "b"}]),
        "/0/old is not known; /0/pattern is missing (required: string)"
    )]
    #[case::too_short(
        json!([{"kind": "replace", "old": "", "new": "b"}]),
        "/0/old: expected {\"minLength\":1}, got \"\""
    )]
    #[case::another_type(json!(5), "/: expected array, got 5")]
    #[case::by_its_type(json!("x"), "/: expected {\"minLength\":2}, got \"x\"")]
    fn only_the_form_that_was_meant_is_told_of(#[case] value: Value, #[case] said: &str) {
        let form = |kind: &str, names: [&str; 2]| {
            json!({
                "type": "object",
                "properties": {
                    "kind": {"const": kind},
                    names[0]: {"type": "string", "minLength": 1},
                    names[1]: {"type": "string"},
                },
                "required": ["kind", names[0], names[1]],
                "additionalProperties": false,
            })
        };
        let forms = [
            form("replace", ["old", "new"]),
            form("regex", ["pattern", "new"]),
        ];
        let list = json!({"type": "array", "items": {"oneOf": forms}});
        let schema = match &value {
            Value::String(_) => json!({"anyOf": [{"type": "string", "minLength": 2}, list]}),
            _ => list,
        };
        let error = check_answer(&schema, &value).unwrap_err();
        let message = format!("the answer does not fit the question: {said}");
        assert_eq!(error.message, message);
    }

    #[test]
    fn the_hint_for_an_answer_is_bounded_and_ours_is_the_fault_of_a_schema_that_is_none() {
        let choices: Vec<String> = (0..10_000).map(|n| format!("choice {n}")).collect();
        let error = check_answer(&json!({"enum": choices}), &json!(1)).unwrap_err();
        let hint = error.hint.unwrap();
        assert!(
            hint.len() < 1000 && hint.ends_with("and 9980 more"),
            "{hint}"
        );
        let long = json!({"pattern": "x".repeat(100_000)});
        let hint = check_answer(&long, &json!("y")).unwrap_err().hint.unwrap();
        assert!(hint.len() < 1000, "{} bytes", hint.len());
        let error = check_answer(&json!({"type": "no such"}), &json!(1)).unwrap_err();
        assert_eq!(error.code, Code::Internal);
    }
}
