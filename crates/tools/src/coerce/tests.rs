use super::*;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

/// What becomes of `value` under a property of this schema; none when it stays.
fn read(property: &Value, value: &Value) -> Option<Value> {
    let schema = json!({"type": "object", "properties": {"v": property}});
    let mut args = json!({ "v": value });
    let change = coerce(&schema, &mut args);
    let now = args["v"].clone();
    assert_eq!(change == Change::Some, now != *value, "{now}");
    (change == Change::Some).then_some(now)
}

/// A07, and more of its kind: what each text becomes as each kind.
#[test]
fn a07_a_string_is_read_only_as_the_one_value_that_it_spells() {
    let texts = [
        "5",
        "5.0",
        "-0",
        "1e3",
        "0x10",
        " 5",
        "5 ",
        "true",
        "[1,2]",
        " [1] ",
        "{\"k\":\"v\"}",
        "null",
        "5px",
        "",
        " ",
        "007",
        "+5",
        "-5",
        "5.5",
        ".5",
        "5.",
        "1_000",
        "1,000",
        "NaN",
        "Infinity",
        "True",
        "yes",
        "1",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "0.1",
        "0.10",
        "1e400",
        "1e-400",
        "9007199254740993.0",
        "0.12345678901234567890123",
        "[1,2",
        "[1] [2]",
        "1],\"w\":[2",
        "{\"a\":1,\"a\":2}",
        "[123456789012345678901234567890]",
        "\"5\"",
        "٥",
        "5\u{0}",
    ];
    let kinds = ["integer", "number", "boolean", "array", "object"];
    let mut table = String::new();
    for text in texts {
        let read: Vec<String> = kinds
            .iter()
            .filter_map(|kind| {
                let became = read(&json!({"type": kind}), &json!(text))?;
                Some(format!("{kind} {}", outfitter_core::canonical(&became)))
            })
            .collect();
        let read = if read.is_empty() {
            "stays".to_owned()
        } else {
            read.join(", ")
        };
        table.push_str(&format!("{text:?}: {read}\n"));
    }
    insta::assert_snapshot!(table);
}

#[rstest]
#[case::text(json!({"type": "string"}))]
#[case::either(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}))]
#[case::either_in_one(json!({"type": ["integer", "string"]}))]
#[case::one_of(json!({"oneOf": [{"type": "integer"}, {"$ref": "#/properties/v/$defs/t"}], "$defs": {"t": {"type": "string"}}}))]
#[case::two_kinds(json!({"type": ["integer", "boolean"]}))]
#[case::anything(json!({}))]
#[case::anything_at_all(json!(true))]
#[case::nothing(json!(false))]
#[case::a_choice_of_texts(json!({"enum": ["5", "6"]}))]
#[case::a_choice_with_a_text(json!({"enum": [5, "6"]}))]
#[case::not_here(json!({"$ref": "https://example.com/integer"}))]
#[case::an_anchor(json!({"$ref": "#integer"}))]
#[case::nowhere(json!({"$ref": "#/$defs/none"}))]
#[case::round(json!({"$ref": "#/properties/v"}))]
#[case::no_text_but_anything_else(json!({"not": {"type": "string"}}))]
#[case::only_null(json!({"type": "null"}))]
#[case::an_unknown_word(json!({"type": "int"}))]
fn what_takes_a_text_or_more_than_one_kind_keeps_the_text(#[case] property: Value) {
    for text in ["5", "007", "null", "true"] {
        assert_eq!(read(&property, &json!(text)), None, "{property}");
    }
}

#[rstest]
#[case::nullable(json!({"type": ["integer", "null"]}))]
#[case::nullable_any(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}))]
#[case::narrowed(json!({"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "null"]}]}))]
#[case::referred(json!({"$ref": "#/properties/v/$defs/n", "$defs": {"n": {"type": "integer"}}}))]
#[case::referred_twice(json!({
    "$ref": "#/properties/v/$defs/m",
    "$defs": {"n": {"type": "integer"}, "m": {"$ref": "#/properties/v/$defs/n"}},
}))]
#[case::a_choice(json!({"enum": [5, 6]}))]
#[case::fixed(json!({"const": 5}))]
#[case::bounded(json!({"type": "integer", "minimum": 3}))]
#[case::beyond_a_bound(json!({"type": "integer", "minimum": 30}))]
fn what_takes_one_kind_reads_it(#[case] property: Value) {
    assert_eq!(read(&property, &json!("5")), Some(json!(5)));
    assert_eq!(read(&property, &json!("null")), None, "null is never read");
}

#[rstest]
#[case(json!(5))]
#[case(json!(true))]
#[case(json!(null))]
#[case(json!([1]))]
#[case(json!({"a": 1}))]
fn nothing_becomes_a_text_and_nothing_but_a_text_becomes_anything(#[case] value: Value) {
    for kind in [
        "string", "integer", "number", "boolean", "array", "object", "null",
    ] {
        assert_eq!(read(&json!({"type": kind}), &value), None, "{kind}");
    }
}

#[test]
fn it_reaches_into_lists_objects_tuples_and_tagged_unions() {
    let schema = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "integer"}},
            "tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}},
            "old_tuple": {"type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}},
            "map": {"type": "object", "additionalProperties": {"type": "number"}},
            "patterned": {"type": "object", "patternProperties": {"^s": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
            "steps": {"type": "array", "items": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "lines"}, "start": {"type": "integer"}, "new": {"type": "string"}}},
                {"type": "object", "properties": {"kind": {"const": "replace"}, "start": {"type": "string"}, "all": {"type": "boolean"}}},
            ]}},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "$defs": {"tree": {"type": "object", "properties": {
            "n": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        }}},
    });
    let mut args = json!({
        "list": ["1", 2, "x"],
        "tuple": ["1", "2", "true"],
        "old_tuple": ["1", "false"],
        "map": {"a": "1.5"},
        "patterned": {"s1": "1", "x": "1"},
        "steps": [
            {"kind": "lines", "start": "5", "new": "5"},
            {"kind": "replace", "start": "5", "all": "true"},
            {"start": "5"},
        ],
        "tree": {"n": "1", "children": [{"n": "2", "children": "[{\"n\":\"3\"}]"}]},
        "unknown": "5",
    });
    assert_eq!(coerce(&schema, &mut args), Change::Some);
    insta::assert_json_snapshot!(args);
}

#[test]
fn a_schema_that_grows_without_end_costs_no_more_than_it_may() {
    let twice = json!([{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]);
    let schema = json!({
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": twice, "allOf": twice}},
    });
    let mut args = json!({"v": vec!["5"; 10_000]});
    assert_eq!(coerce(&schema, &mut args), Change::None);
}

/// Half way between the two, so both are written by somebody.
#[rstest]
#[case("2030356890303325.2")]
#[case("2030356890303325.3")]
fn a_number_is_read_whichever_of_two_equally_near_decimals_spells_it(#[case] text: &str) {
    assert_eq!(
        spelled(text, spelled::Kind::Number),
        Some(json!(4_060_713_780_606_650.5 / 2.0))
    );
}

proptest! {
    /// What is read writes the same value again, so nothing was lost.
    #[test]
    fn a_number_that_is_read_is_the_one_that_was_written(text in "-?[0-9]{1,25}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?") {
        if let Some(Value::Number(number)) = spelled(&text, spelled::Kind::Number) {
            let again = outfitter_core::canonical(&Value::Number(number));
            let reread: f64 = again.parse().unwrap();
            let meant: f64 = text.parse().unwrap();
            prop_assert!(reread == meant, "{text} became {again}");
        }
    }

    #[test]
    fn every_value_that_was_made_a_text_comes_back(number in any::<i64>(), float in any::<f64>().prop_filter("finite", |f| f.is_finite()), flag in any::<bool>()) {
        prop_assert_eq!(spelled(&number.to_string(), spelled::Kind::Integer), Some(json!(number)));
        prop_assert_eq!(spelled(&json!(float).to_string(), spelled::Kind::Number), Some(json!(float)));
        prop_assert_eq!(spelled(&flag.to_string(), spelled::Kind::Boolean), Some(json!(flag)));
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        for kind in [spelled::Kind::Integer, spelled::Kind::Number, spelled::Kind::Array, spelled::Kind::Object] {
            let _ = spelled(&text, kind);
        }
    }
}
