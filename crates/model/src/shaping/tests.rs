//! A10: what each provider gets of schemas that providers refuse, hide or flatten.

mod cases;

use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::walk::MAX_SCHEMAS;
use super::{SchemaDialect, ShapedSchema, shape};
use cases::{CASES, Case};

/// What is said of a case in every dialect, as text. Dialects that say the same stand together.
fn golden(case: &Case) -> String {
    let mut said: Vec<(Vec<&str>, String)> = Vec::new();
    for dialect in SchemaDialect::ALL {
        let ShapedSchema { schema, notes } = shape(dialect, &(case.schema)());
        let mut text = match schema {
            Some(schema) => outfitter_core::canonical(&schema),
            None => "no parameters".to_owned(),
        };
        for note in notes {
            text.push_str(&format!("\n  lost at {:?}: {}", note.path, note.lost));
        }
        match said.iter_mut().find(|(_, same)| *same == text) {
            Some((dialects, _)) => dialects.push(dialect.as_str()),
            None => said.push((vec![dialect.as_str()], text)),
        }
    }
    let said = said
        .iter()
        .map(|(dialects, text)| format!("{}:\n  {text}", dialects.join(", ")));
    said.collect::<Vec<_>>().join("\n")
}

/// A10: the golden test, one snapshot a case.
#[test]
fn a10_each_schema_in_each_dialect() {
    for case in CASES {
        let original = outfitter_core::canonical(&(case.schema)());
        let text = format!("original:\n  {original}\n{}", golden(case));
        insta::assert_snapshot!(format!("a10_{}", case.name), text);
    }
}

/// A10: what fits the original fits what a provider is shown.
#[test]
fn a10_shaping_only_loosens() {
    for case in CASES {
        let original = jsonschema::validator_for(&(case.schema)()).unwrap();
        for fits in (case.fits)() {
            assert!(original.is_valid(&fits), "{}: {fits}", case.name);
        }
        for dialect in SchemaDialect::ALL {
            let Some(shaped) = shape(dialect, &(case.schema)()).schema else {
                continue;
            };
            let shaped = without_openapi(shaped);
            let validator = jsonschema::validator_for(&shaped).unwrap();
            for fits in (case.fits)() {
                assert!(
                    validator.is_valid(&fits),
                    "{} for {}: {fits} against {shaped}",
                    case.name,
                    dialect.as_str()
                );
            }
        }
    }
}

/// A10: what is loosened is still refused by the original, which is what the pipeline checks with.
#[test]
fn a10_the_original_still_refuses() {
    for case in CASES {
        let schema = (case.schema)();
        let before = schema.clone();
        let original = jsonschema::validator_for(&schema).unwrap();
        for dialect in SchemaDialect::ALL {
            let _ = shape(dialect, &schema);
        }
        assert_eq!(schema, before);
        for misfit in (case.misfits)() {
            assert!(!original.is_valid(&misfit), "{}: {misfit}", case.name);
        }
    }
}

/// `nullable` in the words of JSON Schema, so that a checker of JSON Schema knows it.
fn without_openapi(schema: Value) -> Value {
    match schema {
        Value::Object(mut object) => {
            let nullable = object.get("nullable") == Some(&Value::Bool(true));
            if nullable {
                object.remove("nullable");
            }
            let inner: Map<String, Value> = object
                .into_iter()
                .map(|(key, value)| (key, without_openapi(value)))
                .collect();
            if nullable {
                json!({"anyOf": [inner, {"type": "null"}]})
            } else {
                Value::Object(inner)
            }
        }
        Value::Array(items) => items.into_iter().map(without_openapi).collect(),
        leaf => leaf,
    }
}

/// Every schema inside a schema.
fn each(schema: &Value, see: &mut impl FnMut(&Map<String, Value>)) {
    let Value::Object(object) = schema else {
        return;
    };
    see(object);
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values().for_each(|schema| each(schema, see));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                list.iter().for_each(|schema| each(schema, see));
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", schema) => {
                each(schema, see);
            }
            _ => {}
        }
    }
}

fn words_of(dialect: SchemaDialect, see: impl Fn(&Map<String, Value>, &str)) {
    for case in CASES {
        let Some(schema) = shape(dialect, &(case.schema)()).schema else {
            continue;
        };
        each(&schema, &mut |object| see(object, case.name));
    }
}

/// A10: at the root every provider gets an object with properties and no union.
#[test]
fn a10_the_root_is_an_object_with_properties() {
    for case in CASES {
        for dialect in SchemaDialect::ALL {
            let Some(schema) = shape(dialect, &(case.schema)()).schema else {
                continue;
            };
            assert_eq!(schema["type"], "object", "{}", case.name);
            assert!(schema["properties"].is_object(), "{}", case.name);
            for key in [
                "anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref",
            ] {
                assert!(schema.get(key).is_none(), "{}: {key}", case.name);
            }
        }
    }
}

#[rstest]
#[case(SchemaDialect::OpenAiChat)]
#[case(SchemaDialect::OpenAiResponses)]
fn openai_gets_lists_with_items_and_references_that_lead_somewhere(#[case] dialect: SchemaDialect) {
    words_of(dialect, |object, name| {
        if object.get("type").is_some_and(|kind| kind == "array") {
            assert!(object.get("items").is_some_and(Value::is_object), "{name}");
        }
        assert!(!object.contains_key("prefixItems"), "{name}");
        if let Some(reference) = object.get("$ref") {
            assert!(
                reference.as_str().unwrap().starts_with("#/$defs/"),
                "{name}"
            );
        }
    });
    references_lead_somewhere(dialect);
}

#[test]
fn anthropic_gets_draft_2020_12_and_plain_property_names() {
    words_of(SchemaDialect::Anthropic, |object, name| {
        assert!(!object.get("items").is_some_and(Value::is_array), "{name}");
        assert!(!object.contains_key("definitions"), "{name}");
        assert!(
            !object
                .get("exclusiveMinimum")
                .is_some_and(Value::is_boolean),
            "{name}"
        );
        for property in object
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            assert!(
                property
                    .0
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
            );
        }
    });
    references_lead_somewhere(SchemaDialect::Anthropic);
}

#[test]
fn gemini_gets_only_words_of_its_schema_object() {
    let dialect = SchemaDialect::GeminiCompatible;
    const WORDS: [&str; 20] = [
        "anyOf",
        "default",
        "description",
        "enum",
        "example",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "nullable",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        "propertyOrdering",
    ];
    words_of(dialect, |object, name| {
        for key in object.keys() {
            assert!(WORDS.contains(&key.as_str()), "{name}: {key}");
        }
        if object.contains_key("anyOf") {
            assert_eq!(object.len(), 1, "{name}: nothing stands beside anyOf");
        } else {
            assert!(
                object.get("type").is_some_and(Value::is_string),
                "{name}: {object:?}"
            );
        }
        let strings = |values: &Value| values.as_array().unwrap().iter().all(Value::is_string);
        assert!(object.get("enum").is_none_or(strings), "{name}");
        for required in object
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            assert!(
                object["properties"]
                    .get(required.as_str().unwrap())
                    .is_some(),
                "{name}"
            );
        }
    });
}

#[test]
fn gemini_natively_gets_only_what_it_reads_of_json_schema() {
    const WORDS: [&str; 14] = [
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    ];
    words_of(SchemaDialect::GeminiNative, |object, name| {
        for key in object.keys() {
            assert!(WORDS.contains(&key.as_str()), "{name}: {key}");
        }
    });
}

#[rstest]
#[case(SchemaDialect::Ollama)]
#[case(SchemaDialect::Bedrock)]
#[case(SchemaDialect::Compatible)]
fn others_get_no_references_tuples_or_bare_booleans(#[case] dialect: SchemaDialect) {
    words_of(dialect, |object, name| {
        for key in ["$ref", "$defs", "oneOf", "allOf", "const", "prefixItems"] {
            assert!(!object.contains_key(key), "{name}: {key}");
        }
        for (_, property) in object
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            assert!(property.is_object(), "{name}");
        }
    });
}

fn references_lead_somewhere(dialect: SchemaDialect) {
    for case in CASES {
        let Some(schema) = shape(dialect, &(case.schema)()).schema else {
            continue;
        };
        let mut wanted = BTreeSet::new();
        each(&schema, &mut |object| {
            wanted.extend(
                object
                    .get("$ref")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
        });
        for reference in wanted {
            assert!(
                schema.pointer(reference.trim_start_matches('#')).is_some(),
                "{}: {reference}",
                case.name
            );
        }
    }
}

/// A10: definitions that double each other are a bomb where references are put in place.
#[test]
fn a10_references_that_multiply_are_bounded() {
    let mut defs = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(
            format!("d{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    defs.insert("d40".into(), json!({"type": "string"}));
    let bomb =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    for dialect in SchemaDialect::ALL {
        let shaped = shape(dialect, &bomb);
        let mut count = 0;
        each(shaped.schema.as_ref().unwrap(), &mut |_| count += 1);
        assert!(count <= MAX_SCHEMAS * 6, "{count}");
    }
    assert!(!shape(SchemaDialect::Compatible, &bomb).notes.is_empty());
}

/// JSON of about the right shape for a schema.
fn any_schema() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "enum",
        "const",
        "required",
        "nullable",
        "additionalProperties",
        "prefixItems",
        "format",
        "description",
        "not",
        "if",
        "then",
        "exclusiveMinimum",
        "minimum",
        "a",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "array",
            "string",
            "null",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "#a",
            "x",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_schema_is_shaping_ends_and_is_the_same_again(schema in any_schema()) {
        for dialect in SchemaDialect::ALL {
            let shaped = shape(dialect, &schema);
            prop_assert_eq!(&shaped, &shape(dialect, &schema));
            if let Some(root) = &shaped.schema {
                prop_assert_eq!(&root["type"], "object");
                prop_assert!(root["properties"].is_object());
            }
        }
    }
}
