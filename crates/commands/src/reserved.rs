//! Names that no argument of a subcommand can have.
//!
//! Who acts is known from the credential of a call, never from its arguments, and a credential is
//! nothing a model has. A name that would say so is refused wherever it stands in the schema of the
//! arguments. Where the name is that of a mere target (with whom to share, whom to invite), the
//! property says so by `"x-target": true`; a credential is never a target.

use serde_json::Value;

/// The mark of a property that names a target.
const TARGET: &str = "x-target";

/// Names that say who acts, in lower case and without `_` and `-`.
const IDENTITY: [&str; 13] = [
    "actor",
    "chatid",
    "groupid",
    "owner",
    "ownerid",
    "principal",
    "role",
    "sessionid",
    "streamid",
    "subject",
    "tenant",
    "tenantid",
    "userid",
];

/// Names of credentials, likewise.
const CREDENTIAL: [&str; 12] = [
    "accesstoken",
    "apikey",
    "authorization",
    "bearer",
    "bearertoken",
    "credential",
    "credentials",
    "jwt",
    "password",
    "secret",
    "sessiontoken",
    "token",
];

/// How deep a schema is looked through; a deeper one is refused.
const MAX_DEPTH: usize = 32;

/// Why the schema of arguments cannot be shown to a model, if it cannot.
pub(crate) fn refused(schema: &Value) -> Option<String> {
    walk(schema, MAX_DEPTH)
}

fn walk(schema: &Value, depth: usize) -> Option<String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Some(format!("is nested deeper than {MAX_DEPTH}"));
    };
    match schema {
        Value::Object(map) => map.iter().find_map(|(keyword, inner)| {
            let named = matches!(
                keyword.as_str(),
                "properties" | "patternProperties" | "dependentSchemas"
            );
            match inner {
                Value::Object(properties) if named => {
                    properties.iter().find_map(|(name, inner)| {
                        refused_name(name, inner).or_else(|| walk(inner, depth))
                    })
                }
                inner => walk(inner, depth),
            }
        }),
        Value::Array(items) => items.iter().find_map(|inner| walk(inner, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn refused_name(name: &str, schema: &Value) -> Option<String> {
    let folded: String = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    if CREDENTIAL.binary_search(&folded.as_str()).is_ok() {
        return Some(format!("asks for {name}: a model has no credentials"));
    }
    let target = schema.get(TARGET) == Some(&Value::Bool(true));
    (!target && IDENTITY.binary_search(&folded.as_str()).is_ok()).then(|| {
        format!("asks for {name}, which would say who acts; mark a mere target with {TARGET}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn the_tables_are_sorted_for_the_search() {
        assert!(IDENTITY.is_sorted() && CREDENTIAL.is_sorted());
    }

    #[rstest]
    #[case(json!({"properties": {"from": {}, "tokens": {}, "roles": {}}}), true)]
    #[case(json!({"properties": {"token": {}}}), false)]
    #[case(json!({"properties": {"token": {"x-target": true}}}), false)]
    #[case(json!({"properties": {"user_id": {}}}), false)]
    #[case(json!({"properties": {"user_id": {"x-target": true}}}), true)]
    #[case(json!({"properties": {"user_id": {"x-target": "yes"}}}), false)]
    #[case(json!({"properties": {"sessionId": {}}}), false)]
    #[case(json!({"properties": {"with": {"type": "array", "items": {"properties": {"owner": {}}}}}}), false)]
    #[case(json!({"allOf": [{"properties": {"tenant": {}}}]}), false)]
    #[case(json!({"$defs": {"a": {"properties": {"role": {}}}}}), false)]
    #[case(json!({"properties": {"x": {"enum": ["token", "owner"], "default": "role"}}}), true)]
    fn a_model_is_never_asked_who_acts(#[case] schema: Value, #[case] good: bool) {
        assert_eq!(refused(&schema).is_none(), good, "{:?}", refused(&schema));
    }

    #[test]
    fn a_bottomless_schema_is_refused() {
        let deep = (0..100).fold(json!({}), |inner, _| json!({ "items": inner }));
        assert!(refused(&deep).is_some());
    }
}
