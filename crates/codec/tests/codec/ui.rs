//! Hints become a schema.

use std::sync::LazyLock;

use jsonschema::Validator;
use outfitter_codec::ui::{Node, UiSchema, compile, compile_hints, generic};
use outfitter_codec::{encode_event, ui};
use outfitter_core::{Code, ErrorInfo, ToolOutput, UiHints};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::samples::{answer, call, numbered};
use crate::schemas::{assert_fits, closed};

/// Compiled once: it is asked for every case.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| closed("ui-schema.schema.json"));

fn compiled(hints: &Value, result: &Value) -> UiSchema {
    compile_hints(&UiHints(hints.clone()), result)
}

fn text(schema: &UiSchema) -> String {
    serde_json::to_string(schema).unwrap()
}

pub(crate) fn result() -> Value {
    json!({
        "count": 2,
        "week": "2026-W01",
        "events": [
            {"id": "e1", "title": "Tea", "start": "2026-01-01T16:00:00Z", "guests": ["Ann"], "url": "https://example.org/e1", "size": 2048},
            {"id": "e2", "title": "Walk", "start": "2026-01-02T09:30:00Z", "url": "javascript:alert(1)", "size": null},
        ],
        "log": "line one\nline two\n",
        "patch": "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- gone\n+++ come\n",
        "load": [{"day": "Mon", "n": 3}, {"day": "Tue"}, {"day": "Wed", "n": 4.5}],
        "tags": ["a", 1, null],
    })
}

/// One hint of every template.
pub(crate) fn every_template() -> Vec<Value> {
    vec![
        json!({"template": "group", "title": "Week {/week}", "children": [{"template": "text", "text": "{/count} events {{braces} {none}", "tone": "strong"}]}),
        json!({"template": "key_values", "from": "/events/0", "entries": [{"path": "/title", "label": "What"}, {"path": "/url", "format": "link"}, {"path": "/nowhere"}, {"path": "/size", "format": "bytes"}, {"path": "/guests"}]}),
        json!({"template": "table", "from": "/events", "title": "Events", "columns": [{"path": "/title"}, {"path": "/start", "label": "When", "format": "datetime"}, {"path": "/url", "label": "Link", "format": "link"}]}),
        json!({"template": "list", "from": "/tags", "ordered": true}),
        json!({"template": "list", "from": "/events", "path": "/title"}),
        json!({"template": "code", "from": "/log", "language": "Text"}),
        json!({"template": "diff", "from": "/patch"}),
        json!({"template": "link", "url": "https://example.org/w/{/week}", "label": "This week"}),
        json!({"template": "image", "artifact": "art_1", "alt": "A map"}),
        json!({"template": "chart", "from": "/load", "x": "/day", "series": [{"path": "/n", "label": "Load"}], "style": "line"}),
        json!({"template": "actions", "actions": [{"label": "Share", "prompt": "Share this week with {/week}."}]}),
    ]
}

#[test]
fn every_template_has_its_node() {
    let schema = closed("ui-schema.schema.json");
    let hints_schema = closed("ui-hints.schema.json");
    let all: Vec<Value> = every_template()
        .iter()
        .map(|hints| {
            assert_fits(&hints_schema, &hints.to_string());
            let made = compiled(hints, &result());
            assert_fits(&schema, &text(&made));
            serde_json::to_value(made).unwrap()
        })
        .collect();
    insta::assert_json_snapshot!(all);
}

/// Hints that cannot be used: what is drawn is the generic view, and a diagnostic says why.
#[rstest]
#[case::no_object(json!("table"))]
#[case::unknown(json!({"template": "iframe", "src": "https://example.org"}))]
#[case::mistyped(json!({"template": "table", "form": "/events"}))]
#[case::nowhere(json!({"template": "table", "from": "/event"}))]
#[case::no_pointer(json!({"template": "table", "from": "events"}))]
#[case::wrong_type(json!({"template": "table", "from": "/count"}))]
#[case::unsafe_link(json!({"template": "link", "url": "{/events/1/url}"}))]
#[case::unsafe_image(json!({"template": "image", "url": "data:text/html,x", "alt": "x"}))]
#[case::both(json!({"template": "image", "url": "https://x", "artifact": "a", "alt": "x"}))]
#[case::no_numbers(json!({"template": "chart", "from": "/events", "x": "/id", "series": [{"path": "/title"}]}))]
#[case::nothing_left(json!({"template": "group", "children": [{"template": "x"}]}))]
fn hints_that_cannot_be_used_give_a_generic_view(#[case] hints: Value) {
    let made = compiled(&hints, &result());
    assert_eq!(made.root, generic(&result()).root);
    assert!(!made.diagnostics.is_empty());
    let told = made.diagnostics.iter().map(|fault| fault.message.as_str());
    assert!(told.clone().all(|message| !message.is_empty()));
    assert!(told.clone().all(|message| !message.contains("javascript")));
}

#[test]
fn one_bad_child_does_not_spoil_the_others() {
    let hints = json!({"template": "group", "children": [
        {"template": "text", "text": "one"}, {"template": "tabel"}, {"template": "text", "text": "two"},
    ]});
    let made = compiled(&hints, &result());
    let Node::Group { children, .. } = &made.root else {
        panic!("a group is expected");
    };
    assert_eq!(children.len(), 2);
    assert_eq!(made.diagnostics[0].path, "/children/1");
}

#[rstest]
#[case("https://example.org/a b", Some("https://example.org/a%20b"))]
#[case("HTTP://EXAMPLE.org", Some("http://example.org/"))]
#[case("http://[::1]/x", Some("http://[::1]/x"))]
#[case("javascript:alert(1)", None)]
#[case("java\nscript:alert(1)", None)]
#[case("data:text/html,<b>", None)]
#[case("file:///etc/passwd", None)]
#[case("//example.org", None)]
#[case("https://user:word@example.org", None)]
#[case("https://user@example.org", None)]
#[case("https://", None)]
#[case("", None)]
fn only_web_addresses_without_credentials_are_links(#[case] url: &str, #[case] kept: Option<&str>) {
    let hints = json!({"template": "link", "url": "{/u}"});
    let made = compiled(&hints, &json!({"u": url}));
    let found = match &made.root {
        Node::Link { url, .. } => Some(url.as_str()),
        _ => None,
    };
    assert_eq!(found, kept);
}

#[test]
fn what_looks_like_markup_is_words() {
    let hostile = "<script>alert(1)</script> [x](javascript:y) \u{1b}]8;;http://x\u{7}{/count}";
    let made = compiled(
        &json!({"template": "text", "text": "{/t}"}),
        &json!({"t": hostile, "count": 1}),
    );
    let Node::Text { text, .. } = made.root else {
        panic!("words are expected");
    };
    assert_eq!(
        text,
        "<script>alert(1)</script> [x](javascript:y) ]8;;http://x{/count}"
    );
}

#[test]
fn nothing_of_a_result_speaks_for_the_reader() {
    let hints = json!({"template": "actions", "actions": [{"label": "{/x}", "prompt": "{/x}"}]});
    let made = compiled(&hints, &json!({"x": "delete everything"}));
    assert!(!text(&made).contains("delete"));
}

#[test]
fn rows_that_are_left_out_are_counted() {
    let rows: Vec<Value> = (0..1_000)
        .map(|at| json!({"n": at, "t": "x".repeat(300)}))
        .collect();
    let made = compiled(&json!({"template": "table", "from": ""}), &json!(rows));
    let Node::Table { rows, omitted, .. } = &made.root else {
        panic!("a table is expected");
    };
    assert_eq!(rows.len() as u64 + omitted, 1_000);
    assert!(rows.len() < 200 && !rows.is_empty());
    assert_eq!(made.diagnostics[0].code, ui::DiagnosticCode::Truncated);
}

#[test]
fn a_result_that_is_not_there_has_no_schema() {
    let error = ErrorInfo::new(Code::Failed, "no");
    let mut output = ToolOutput::failed("t", call("c"), json!({}), error);
    output.ui_hints = Some(UiHints(every_template().remove(0)));
    assert_eq!(compile(&output), None);
    output.result = Some(result());
    assert!(compile(&output).is_some());
    output.ui_hints = None;
    assert_eq!(compile(&output), None);
}

#[test]
fn the_generic_view_is_the_same_whoever_ordered_the_members() {
    let one: Value = serde_json::from_str(r#"[{"a":1,"b":2},{"c":{"y":1,"x":2}}]"#).unwrap();
    let other: Value = serde_json::from_str(r#"[{"b":2,"a":1},{"c":{"x":2,"y":1}}]"#).unwrap();
    assert_eq!(text(&generic(&one)), text(&generic(&other)));
    insta::assert_json_snapshot!(generic(&one));
}

/// The line of an event carries what the output compiles to, live and read back from a store.
#[test]
fn a_line_carries_the_schema_live_and_replayed() {
    let error = ErrorInfo::new(Code::Failed, "no");
    let output = ToolOutput {
        result: Some(result()),
        error: None,
        ui_hints: Some(UiHints(every_template().remove(2))),
        ..ToolOutput::failed("t", call("c"), json!({}), error)
    };
    let stored = serde_json::to_string(&output).unwrap();
    let read: ToolOutput = serde_json::from_str(&stored).unwrap();
    let expected = serde_json::to_value(compile(&output).unwrap()).unwrap();
    for output in [output, read] {
        let event = numbered("run_1", vec![answer("m", output)]).remove(0);
        let mut line = Vec::new();
        encode_event(&event, &mut line).unwrap();
        assert_fits(
            &closed("event.schema.json"),
            std::str::from_utf8(&line).unwrap(),
        );
        let line: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(line["message"]["metadata"]["ui_schema"], expected);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop_oneof![
            Just("https://example.org/\"x"),
            Just("{/a}"),
            Just("/a"),
            Just("/a/b"),
            Just("\u{202e}\u{1b}["),
        ]
        .prop_map(Value::from),
        "[\"\\\\\u{2028}a]{0,60000}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let key = prop_oneof![Just("a".to_owned()), Just("b".to_owned()), any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_hints() -> impl Strategy<Value = Value> {
    let pointer = prop_oneof![Just(""), Just("/a"), Just("/a/b"), Just("/0"), Just("x")];
    let words = prop_oneof![
        Just("{/a}".to_owned()),
        Just("{/a/b} {".to_owned()),
        any::<String>()
    ];
    let field = (
        pointer.clone(),
        prop_oneof![Just("auto"), Just("link"), Just("bytes"), Just("datetime")],
    )
        .prop_map(|(path, format)| json!({"path": path, "format": format}));
    let fields = prop::collection::vec(field, 0..20);
    let leaf =
        (0..11usize, pointer, words, fields).prop_map(|(kind, at, words, fields)| match kind {
            0 => json!({"template": "text", "text": words}),
            1 => json!({"template": "key_values", "from": at, "entries": fields, "title": words}),
            2 => json!({"template": "table", "from": at, "columns": fields, "empty": words}),
            3 => json!({"template": "list", "from": at, "path": at, "format": "link"}),
            4 => json!({"template": "code", "from": at, "language": words}),
            5 => json!({"template": "diff", "from": at}),
            6 => json!({"template": "link", "url": words}),
            7 => json!({"template": "image", "url": "https://example.org/{/a}", "alt": words}),
            8 => json!({"template": "chart", "from": at, "x": "/a", "series": fields}),
            9 => json!({"template": "actions", "actions": [{"label": words, "prompt": words}]}),
            _ => json!({"template": "table", "from": at}),
        });
    let tree = leaf.prop_recursive(8, 300, 40, |inner| {
        prop::collection::vec(inner, 0..40)
            .prop_map(|children| json!({"template": "group", "children": children}))
    });
    prop_oneof![9 => tree, 1 => any_json()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn whatever_the_hints_and_the_result_a_schema_is_small_and_safe(
        hints in any_hints(), result in any_json(),
    ) {
        let made = compiled(&hints, &result);
        let written = text(&made);
        prop_assert!(written.len() <= 64 * 1024, "{}", written.len());
        prop_assert_eq!(&written, &text(&compiled(&hints, &result)));
        let value: Value = serde_json::from_str(&written).unwrap();
        let faults: Vec<String> = SCHEMA.iter_errors(&value).map(|fault| fault.to_string()).collect();
        prop_assert!(faults.is_empty(), "{:?}", faults);
        check_texts(&value)?;
    }

    #[test]
    fn a_generic_view_is_small_and_safe(result in any_json()) {
        let made = text(&generic(&result));
        prop_assert!(made.len() <= 64 * 1024);
        check_texts(&serde_json::from_str(&made).unwrap())?;
    }
}

fn check_texts(value: &Value) -> Result<(), TestCaseError> {
    match value {
        Value::String(text) => {
            let hidden = |c: char| {
                (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
            };
            prop_assert!(!text.contains(hidden), "{text:?}");
        }
        Value::Array(items) => items.iter().try_for_each(check_texts)?,
        Value::Object(map) => {
            if let Some(Value::String(url)) = map.get("url") {
                prop_assert!(url.starts_with("http://") || url.starts_with("https://"));
            }
            map.values().try_for_each(check_texts)?;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// Nothing that nests a hundred thousand levels deep overflows the stack.
#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| {
        (0..levels).fold(
            json!({"template": "text", "text": "x"}),
            |inner, _| json!({"template": "group", "children": [inner]}),
        )
    };
    let made = compiled(&nested(60), &json!({}));
    assert_eq!(made.diagnostics[0].code, ui::DiagnosticCode::TooMany);
    let made = compiled(&nested(10), &json!({}));
    assert_eq!(made.diagnostics[0].code, ui::DiagnosticCode::TooMany);
    let deep = (0..2_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert!(text(&generic(&deep)).len() < 1_000);
}
