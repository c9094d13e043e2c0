//! Whether a spec can be offered at all.

use jsonschema::Validator;
use outfitter_core::{Effect, IDENTITY_PARAMETERS, ToolSpec, Trust};
use serde_json::{Map, Value};

/// Those of them that may say for whom something is: of a tool that sends messages, where the
/// schema itself marks them as that.
const ADDRESSED: [&str; 3] = ["stream_id", "group_id", "user_id"];

/// Marks a parameter as a mere target.
const TARGET: &str = "x-target";

/// What is said of a mark where none can be.
const NO_ADDRESSEE: &str = "is marked with x-target: only stream_id, group_id and user_id can be, \
    as parameters of a tool whose effects have message";

/// How deep the combinators of a schema are followed when its parameters are listed.
const MAX_COMBINATORS: usize = 8;

/// Compiles the schema of the arguments, or says in one fragment why the tool cannot be offered.
pub(crate) fn check(spec: &ToolSpec, trust: Trust) -> Result<Validator, String> {
    let schema = spec
        .input_schema
        .as_object()
        .ok_or("its input schema is not an object")?;
    if let Some(kind) = schema.get("type").filter(|kind| *kind != "object") {
        return Err(format!(
            "its input schema is of type {kind}, arguments are always an object"
        ));
    }
    match trust {
        Trust::Builtin | Trust::Operator => refuse_identity(spec, schema)?,
        // There such a parameter is plain data.
        Trust::Remote => {}
    }
    compile(&spec.input_schema)
}

/// Compiles a schema. References are never fetched.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .build(schema)
        .map_err(|error| format!("its input schema cannot be used: {error}"))
}

fn refuse_identity(spec: &ToolSpec, schema: &Map<String, Value>) -> Result<(), String> {
    let addresses = spec.effects.has(Effect::Message);
    // Only what stands in the schema itself can be marked, so that a mark is seen where it is read.
    let marked: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.get(TARGET) == Some(&Value::Bool(true)))
        .map(|(name, _)| name.as_str())
        .collect();
    let astray = marked
        .iter()
        .find(|name| !(addresses && ADDRESSED.contains(name)));
    if let Some(name) = astray {
        return Err(format!("its parameter {name} {NO_ADDRESSEE}"));
    }
    let mut found = Vec::new();
    parameters(schema, schema, MAX_COMBINATORS, &mut |name| {
        if IDENTITY_PARAMETERS.contains(&name) && !marked.contains(&name) {
            found.push(name.to_owned());
        }
    });
    match found.first() {
        None => Ok(()),
        Some(name) => Err(format!(
            "its parameter {name} would say who acts; take it from the context of the call"
        )),
    }
}

/// Every name that can be a parameter, also by way of a combinator or a reference into the schema.
fn parameters(
    root: &Map<String, Value>,
    schema: &Map<String, Value>,
    depth: usize,
    found: &mut impl FnMut(&str),
) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for name in ["properties", "dependentSchemas"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword)?.as_object())
        .flat_map(Map::keys)
    {
        found(name);
    }
    let listed = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword)?.as_array())
        .flatten();
    let conditional = ["if", "then", "else"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword));
    let referred = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix("#/"))
        .and_then(|pointer| {
            let mut steps = pointer.split('/');
            let first = root.get(steps.next()?)?;
            steps.try_fold(first, |at, step| at.get(step))
        });
    for part in listed.chain(conditional).chain(referred) {
        if let Value::Object(part) = part {
            parameters(root, part, depth, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{Effects, ToolName};
    use rstest::rstest;
    use serde_json::json;

    fn spec(schema: Value) -> ToolSpec {
        ToolSpec::new(ToolName::new("t").unwrap(), "", schema)
    }

    #[rstest]
    #[case(json!([]), "is not an object")]
    #[case(json!({"type": "array"}), "is of type")]
    #[case(json!({"type": "object", "properties": {"a": {"type": "strnig"}}}), "cannot be used")]
    #[case(json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/s"}}}), "cannot be used")]
    #[case(json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}), "cannot be used")]
    #[case(json!({"type": "object", "properties": {"a": {"pattern": "("}}}), "cannot be used")]
    fn a_schema_that_cannot_hold_arguments_is_refused(#[case] schema: Value, #[case] why: &str) {
        let error = check(&spec(schema), Trust::Remote).unwrap_err();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn a_native_tool_cannot_ask_who_acts() {
        for name in IDENTITY_PARAMETERS {
            for schema in [
                json!({"type": "object", "properties": {name: {"type": "string"}}}),
                json!({"type": "object", "allOf": [{"properties": {name: {}}}]}),
                json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"properties": {name: {}}}}}),
            ] {
                let spec = spec(schema);
                for trust in [Trust::Builtin, Trust::Operator] {
                    assert!(check(&spec, trust).unwrap_err().contains(name));
                }
                assert!(check(&spec, Trust::Remote).is_ok());
            }
        }
    }

    fn telling(schema: Value) -> ToolSpec {
        ToolSpec {
            effects: Effects::of(&[Effect::Message]),
            ..spec(schema)
        }
    }

    fn marked(name: &str) -> Value {
        json!({"type": "object", "properties": {name: {"type": "string", "x-target": true}}})
    }

    #[test]
    fn a_tool_that_sends_messages_may_be_told_for_whom() {
        for name in ADDRESSED {
            for trust in [Trust::Builtin, Trust::Operator] {
                assert!(check(&telling(marked(name)), trust).is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn a_tool_that_sends_no_messages_has_no_addressee() {
        for effects in [
            Effects::READ,
            Effects::of(&[Effect::Read, Effect::Write, Effect::Network]),
            Effects::of(&[Effect::MessageOther]),
        ] {
            for name in ADDRESSED {
                let spec = ToolSpec {
                    effects,
                    ..spec(marked(name))
                };
                for trust in [Trust::Builtin, Trust::Operator] {
                    assert!(check(&spec, trust).unwrap_err().contains(name));
                }
                assert!(
                    check(&spec, Trust::Remote).is_ok(),
                    "there it is plain data"
                );
            }
        }
    }

    #[test]
    fn who_acts_is_never_a_target() {
        for name in IDENTITY_PARAMETERS
            .iter()
            .filter(|name| !ADDRESSED.contains(name))
        {
            let error = check(&telling(marked(name)), Trust::Builtin).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        // Nor does the mark mean anything elsewhere.
        assert!(check(&telling(marked("text")), Trust::Builtin).is_err());
    }

    #[rstest]
    #[case(json!({"user_id": {"x-target": "true"}}), json!([]))]
    #[case(json!({"user_id": {"x-target": 1}}), json!([]))]
    #[case(json!({"user_id": {"type": "string"}}), json!([]))]
    #[case(json!({}), json!([{"properties": {"user_id": {"x-target": true}}}]))]
    #[case(json!({}), json!([{"$ref": "#/$defs/a"}]))]
    fn a_mark_that_is_none_or_is_not_at_the_root_marks_nothing(
        #[case] properties: Value,
        #[case] parts: Value,
    ) {
        let mut schema = json!({
            "type": "object", "properties": properties,
            "$defs": {"a": {"properties": {"user_id": {"x-target": true}}}},
        });
        if parts != json!([]) {
            schema["allOf"] = parts;
        }
        let error = check(&telling(schema), Trust::Builtin).unwrap_err();
        assert!(error.contains("user_id would say who acts"), "{error}");
    }

    #[test]
    fn a_recursive_schema_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "anyOf": [{"$ref": "#/anyOf/0"}, {}]});
        // Whether such a schema compiles is the library's affair; that we come back is ours.
        let _ = check(&spec(schema), Trust::Builtin);
    }
}
