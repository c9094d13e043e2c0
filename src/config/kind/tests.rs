use super::*;
use rstest::rstest;
use serde_json::json;

#[rstest]
#[case(Kind::Boolean, "off", json!(false))]
#[case(Kind::Boolean, "maybe", json!("maybe"))]
#[case(Kind::Integer { least: 0, most: None }, " 1_000 ", json!(1000))]
#[case(Kind::Integer { least: 0, most: None }, "ten", json!("ten"))]
#[case(Kind::Text(Format::Any), "4", json!("4"))]
#[case(Kind::Text(Format::Any), "\"a\\tb\"", json!("a\tb"))]
#[case(Kind::Text(Format::Any), "\"a\" and \"b\"", json!("\"a\" and \"b\""))]
#[case(Kind::List(Format::Any), "", json!([]))]
#[case(Kind::List(Format::Any), "a, b,,c", json!(["a", "b", "c"]))]
#[case(Kind::List(Format::Any), "[\"a,b\"]", json!(["a,b"]))]
#[case(Kind::ListOrBoolean(Format::Host), "true", json!(true))]
#[case(Kind::ListOrBoolean(Format::Host), "a.b, c", json!(["a.b", "c"]))]
#[case(Kind::ListOrWord("auto"), " auto ", json!("auto"))]
#[case(Kind::ListOrWord("auto"), "auto,b", json!(["auto", "b"]))]
#[case(Kind::ListOrWord("auto"), "", json!([]))]
#[case(Kind::Map, "{ read = \"file_read\" }", json!({"read": "file_read"}))]
fn a_variable_reads_as_its_key_demands(
    #[case] kind: Kind,
    #[case] text: &str,
    #[case] value: Value,
) {
    assert_eq!(kind.read(text), value);
}

#[rstest]
#[case("memory:", true)]
#[case("sqlite:a.db", true)]
#[case("sqlite:", false)]
#[case("json:a.json", false)]
#[case("postgres://h/d", false)]
fn a_store_is_one_that_exists(#[case] text: &str, #[case] fits: bool) {
    assert_eq!(
        Kind::Text(Format::StoreUrl).check(&json!(text)).is_empty(),
        fits
    );
}

/// A key was put where the name of its variable belongs, and a password stood in an address that
/// is none.
#[rstest]
#[case(Kind::Text(Format::Variable), "sk-test-not-a-real-key")]
#[case(Kind::Text(Format::HttpUrl), "https://ann:not-a-real-word@h:99999/")]
#[case(Kind::Text(Format::Address), "ann:not-a-real-word@h:99999")]
fn what_may_be_a_secret_was_shown_where_it_does_not_fit(#[case] kind: Kind, #[case] text: &str) {
    let found = kind.check(&json!(text));
    let [wrong] = found.as_slice() else {
        panic!("{found:?}");
    };
    let What::Value(why) = &wrong.what else {
        panic!("{wrong:?}");
    };
    assert!(!why.contains("not-a-real"), "{why}");
    assert!(why.starts_with("must be "), "{why}");
}

/// A number without a most is one that no machine has.
#[test]
fn a_number_could_be_as_large_as_one_liked() {
    fn unbounded(key: &Key, found: &mut Vec<String>) {
        if let Kind::Integer { most: None, .. } = key.kind {
            found.push(key.path.clone());
        }
        let tables = [key.of_each(), key.of_rows(), key.of_table()];
        for inner in tables.into_iter().flatten().flatten() {
            unbounded(inner, found);
        }
    }
    let mut found = Vec::new();
    for key in crate::config::Catalogue::get().keys() {
        unbounded(key, &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
}
