//! Whether a spec can be offered at all.

use jsonschema::Validator;
use outfitter_core::{ToolSpec, Trust};
use serde_json::{Map, Value};

/// Parameters that would let a model say who it is. Who acts is known beside the call, never from
/// its arguments.
const IDENTITY: [&str; 9] = [
    "stream_id",
    "chat_id",
    "group_id",
    "session_id",
    "user_id",
    "owner",
    "role",
    "tenant",
    "token",
];

/// Those of them that may say for whom something is, where the schema marks them as that.
const ADDRESSED: [&str; 3] = ["stream_id", "group_id", "user_id"];

/// Marks a parameter as a mere target.
const TARGET: &str = "x-target";

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
        Trust::Builtin | Trust::Operator => refuse_identity(schema)?,
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

fn refuse_identity(schema: &Map<String, Value>) -> Result<(), String> {
    let mut found = Vec::new();
    parameters(schema, schema, MAX_COMBINATORS, &mut |name| {
        let said = schema.get("properties").and_then(|all| all.get(name));
        let is_target = said.and_then(|said| said.get(TARGET)) == Some(&Value::Bool(true));
        if IDENTITY.contains(&name) && !(is_target && ADDRESSED.contains(&name)) {
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
    use outfitter_core::ToolName;
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
        for name in IDENTITY {
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

    #[test]
    fn a_recursive_schema_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "anyOf": [{"$ref": "#/anyOf/0"}, {}]});
        // Whether such a schema compiles is the library's affair; that we come back is ours.
        let _ = check(&spec(schema), Trust::Builtin);
    }
}
