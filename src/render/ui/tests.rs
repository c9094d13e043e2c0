//! Every kind of node, as it is drawn.

use outfitter_codec::ui::{UiSchema, compile_hints};
use outfitter_core::UiHints;
use rstest::rstest;
use serde_json::{Value, json};

use super::draw;
use crate::render::text::columns;
use crate::render::{Colour, Detail, Face};

fn schema(hints: Value, result: &Value) -> UiSchema {
    compile_hints(&UiHints(hints), result)
}

fn wide(width: usize) -> Face {
    Face {
        terminal: true,
        colour: Colour::Off,
        width: Some(width),
    }
}

fn everything() -> UiSchema {
    let result = json!({
        "events": [
            { "start": "2026-12-01T09:00:00Z", "title": "Look at the gauge of Kiel, and at the one of Helgoland if there is time", "people": 2, "url": "https://example.org/kiel" },
            { "start": 1_796_202_030_000_i64, "title": "写报告 \u{1b}[2J", "people": 12, "url": "javascript:alert(1)" },
        ],
        "none": [],
        "patch": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n",
        "code": "fn main() {\n\tgo();\n}",
        "size": 12_345,
        "levels": [{ "at": "Kiel", "mm": 511 }, { "at": "Cuxhaven", "mm": 1535 }],
    });
    let hints = json!({ "template": "group", "title": "Everything", "children": [
        { "template": "text", "text": "Two events, and a good many words about them that need more than one line.", "tone": "warning" },
        { "template": "table", "title": "Calendar", "from": "/events", "columns": [
            { "path": "/start", "label": "Begins", "format": "datetime" },
            { "path": "/title", "label": "What" },
            { "path": "/people", "label": "People" },
        ] },
        { "template": "table", "from": "/none", "empty": "no events" },
        { "template": "key_values", "title": "One", "from": "", "entries": [
            { "path": "/size", "label": "Size", "format": "bytes" },
            { "path": "/events/0/title", "label": "Title" },
        ] },
        { "template": "list", "from": "/events", "path": "/url", "format": "link", "ordered": true },
        { "template": "code", "title": "Code", "from": "/code", "language": "rust" },
        { "template": "diff", "from": "/patch" },
        { "template": "link", "label": "The sea", "url": "https://example.org/sea" },
        { "template": "image", "alt": "the sea", "url": "https://example.org/sea.png" },
        { "template": "chart", "title": "Levels", "from": "/levels", "x": "/at", "series": [{ "path": "/mm", "label": "mm" }] },
        { "template": "actions", "actions": [{ "label": "Show next week", "prompt": "next week" }] },
    ] });
    let schema = schema(hints, &result);
    assert!(
        schema
            .diagnostics
            .iter()
            .all(|one| one.message.contains("URL"))
    );
    schema
}

#[test]
fn every_kind_of_node_is_drawn() {
    insta::assert_snapshot!(draw(wide(72), Detail::Full, &everything()));
}

#[test]
fn a_pipe_has_whole_lines_and_no_colour() {
    let drawn = draw(Face::PLAIN, Detail::Full, &everything());
    assert!(drawn.contains("and at the one of Helgoland if there is time"));
    assert!(!drawn.contains('\u{1b}'));
}

#[rstest]
fn no_line_is_wider_than_the_terminal(#[values(20, 33, 40, 60, 80, 120)] width: usize) {
    let drawn = draw(wide(width), Detail::Full, &everything());
    for line in drawn.lines() {
        assert!(
            columns(line) <= width,
            "{} of {width}: {line}",
            columns(line)
        );
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn where_columns_have_no_room_rows_are_pairs() {
    let rows = json!([{ "a": "one one one", "b": "two two two", "c": "three three" },
        { "a": "1", "b": "2", "c": "3" }]);
    let schema = schema(json!({ "template": "table" }), &rows);
    insta::assert_snapshot!(draw(wide(28), Detail::Calm, &schema));
}

#[test]
fn a_time_is_whole_or_not_in_a_column() {
    let rows = json!([{ "at": "2026-12-01T09:00:00Z", "what": "Look at the gauges" }]);
    let hints = json!({ "template": "table", "columns": [
        { "path": "/at", "label": "Begins", "format": "datetime" },
        { "path": "/what", "label": "What" },
    ] });
    let schema = schema(hints, &rows);
    let drawn = draw(wide(40), Detail::Calm, &schema);
    assert!(
        drawn.contains("│ 2026-12-01 09:00 UTC  Look at the g…\n"),
        "{drawn}"
    );
    let drawn = draw(wide(32), Detail::Calm, &schema);
    assert!(
        drawn.contains("│ Begins  2026-12-01 09:00 UTC\n"),
        "{drawn}"
    );
}

#[test]
fn a_long_table_is_cut_and_says_so() {
    let rows: Vec<Value> = (0..100).map(|n| json!({ "n": n })).collect();
    let schema = schema(json!({ "template": "table" }), &json!(rows));
    let drawn = draw(wide(80), Detail::Calm, &schema);
    assert!(drawn.ends_with("  │ … 77 more lines\n"), "{drawn}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let coloured = Face {
        colour: Colour::On,
        ..wide(80)
    };
    let drawn = draw(coloured, Detail::Full, &everything());
    assert!(drawn.contains('\u{1b}'));
    let plain = outfitter_text::ansi::fold(&drawn);
    assert_eq!(plain, draw(wide(80), Detail::Full, &everything()));
}
