//! What `file_update` does to bytes.

use encoding_rs::{GBK, WINDOWS_1252};
use outfitter_core::Code;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::files::charset::Charset;

fn operations(list: Value) -> Vec<Operation> {
    serde_json::from_value(list).unwrap()
}

fn after(before: &[u8], list: Value) -> Vec<u8> {
    update(before, "f.txt", &operations(list))
        .unwrap()
        .bytes
        .to_vec()
}

fn refused(before: &[u8], list: Value) -> ToolError {
    update(before, "f.txt", &operations(list)).err().unwrap()
}

fn replace(old: &str, new: &str) -> Value {
    json!({"kind": "replace", "old": old, "new": new})
}

#[test]
fn only_the_bytes_asked_for_differ_in_a_crlf_file_with_a_mark() {
    let before = b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n";
    let got = after(before, json!([replace("one\ntwo\n", "1\n2\n")]));
    assert_eq!(got, b"\xef\xbb\xbf1\r\n2\r\nthree\r\n");
}

#[test]
fn each_line_of_a_mixed_file_keeps_its_own_ending() {
    let before = b"a\r\nb\nc\r\nd\n";
    let got = after(
        before,
        json!([replace("a\n", "A\nA\n"), replace("b\n", "B\nB\n")]),
    );
    assert_eq!(got, b"A\r\nA\r\nB\nB\nc\r\nd\n");
}

#[rstest]
#[case(
    GBK,
    "标题\r\n内容一\r\n内容二\r\n",
    "内容二",
    "内容三",
    "标题\r\n内容一\r\n内容三\r\n"
)]
#[case(
    WINDOWS_1252,
    "Le café était fermé\nà Noël\n",
    "Noël",
    "Pâques",
    "Le café était fermé\nà Pâques\n"
)]
fn a_file_stays_in_its_encoding(
    #[case] encoding: &'static encoding_rs::Encoding,
    #[case] before: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] wanted: &str,
) {
    let got = after(&encoding.encode(before).0, json!([replace(old, new)]));
    assert_eq!(got, encoding.encode(wanted).0.into_owned());
}

#[test]
fn utf16_stays_utf16_with_its_mark() {
    let wide = |text: &str| {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        bytes
    };
    let got = after(&wide("a=1\r\nb=2\r\n"), json!([replace("b=2", "b=🦀")]));
    assert_eq!(got, wide("a=1\r\nb=🦀\r\n"));
}

#[test]
fn bytes_that_are_no_utf8_stay_as_they_are() {
    let mut before = "你好,世界\nwörld\n".as_bytes().to_vec();
    before.splice(0..0, [0xff]);
    let got = after(&before, json!([replace("wörld", "Welt")]));
    let mut wanted = "你好,世界\nWelt\n".as_bytes().to_vec();
    wanted.splice(0..0, [0xff]);
    assert_eq!(got, wanted);
}

#[test]
fn a_character_that_the_encoding_lacks_is_refused() {
    let before = GBK.encode("你好,世界。这是一个测试。\n").0;
    let error = refused(&before, json!([replace("世界", "🦀")]));
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.to_string(), "f.txt is gbk, which has no \"🦀\"");
}

#[test]
fn text_is_literal_unless_said() {
    let error = refused(b"axb\n", json!([replace("a.b", "c")]));
    assert_eq!(error.to_string(), "it does not occur in the file");
    assert_eq!(
        after(b"foo(1)\n", json!([replace("foo(", "bar(")])),
        b"bar(1)\n"
    );
    assert_eq!(
        after(b"cost\n", json!([replace("cost", "$1 \\n")])),
        b"$1 \\n\n"
    );
}

#[test]
fn text_that_occurs_more_than_once_is_told_with_three_places() {
    let before = "x = 1\n  x = 1\n你 x = 1\nx = 1\n";
    let error = refused(before.as_bytes(), json!([replace("x = 1", "x = 2")]));
    assert_eq!(error.code(), Code::Failed);
    insta::assert_json_snapshot!(error.info());
}

#[test]
fn text_that_differs_in_space_is_told_with_the_lines_it_may_mean() {
    let before = b"fn main() {\n\tlet x = 1;\n}\n";
    let error = refused(before, json!([replace("    let x = 1;", "    let x = 2;")]));
    insta::assert_json_snapshot!(error.info());
}

#[test]
fn overlapping_occurrences_are_not_one() {
    let error = refused(b"aaa", json!([replace("aa", "b")]));
    assert_eq!(error.to_string(), "it occurs 2 times in the file");
}

#[test]
fn a_change_does_not_grow_without_bound() {
    let before = "a".repeat(3 << 20);
    let error = refused(before.as_bytes(), json!([replace("a", "b")]));
    assert_eq!(
        error.to_string(),
        "it occurs more than 1000 times in the file"
    );

    for kind in ["replace", "regex"] {
        let found = if kind == "replace" { "old" } else { "pattern" };
        let list = json!([{"kind": kind, found: "a", "new": "b", "all": true}]);
        let error = refused(before.as_bytes(), list);
        assert_eq!(
            error.to_string(),
            "it occurs more than 100000 times in the file"
        );
        assert_eq!(error.code(), Code::TooLarge);

        let list = json!([{"kind": kind, found: "a", "new": "b".repeat(1 << 20), "all": true}]);
        assert_eq!(
            refused(&before.as_bytes()[..100], list).code(),
            Code::TooLarge,
            "{kind}"
        );
    }
}

#[test]
fn all_replaces_every_occurrence() {
    let list = json!([{"kind": "replace", "old": "a", "new": "aa", "all": true}]);
    let updated = update(b"a b a\n", "f.txt", &operations(list)).unwrap();
    assert_eq!(&updated.bytes[..], b"aa b aa\n");
    assert_eq!(updated.replacements, 2);
}

#[rstest]
#[case(r"(\w+)=(\w+)", "$2=$1", "a=b\n", "b=a\n")]
#[case(r"^(?<key>a)", "${key}!", "a\n", "a!\n")]
#[case(r"a\nb", "c", "a\r\nb\r\n", "c\r\n")]
#[case("b$", "c", "a\r\nb\r\n", "a\r\nc\r\n")]
#[case("x", "$$5", "x", "$5")]
fn an_expression_has_groups_and_sees_lines(
    #[case] pattern: &str,
    #[case] new: &str,
    #[case] before: &str,
    #[case] wanted: &str,
) {
    let list = json!([{"kind": "regex", "pattern": pattern, "new": new}]);
    assert_eq!(after(before.as_bytes(), list), wanted.as_bytes());
}

#[test]
fn a_broken_expression_is_an_argument_that_cannot_be_used() {
    let error = refused(b"a", json!([{"kind": "regex", "pattern": "a(", "new": ""}]));
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some("/operations/0/pattern"));
}

#[test]
fn an_expression_that_would_explode_elsewhere_ends() {
    let before = format!("{}!\n", "a".repeat(50_000));
    let list = json!([{"kind": "regex", "pattern": "(a+)+$", "new": "b"}]);
    assert_eq!(refused(before.as_bytes(), list).code(), Code::Failed);
}

#[rstest]
#[case(2, 2, "TWO", "one\nTWO\nthree\n")]
#[case(2, 3, "x\ny\nz\n", "one\nx\ny\nz\n")]
#[case(2, 2, "", "one\nthree\n")]
#[case(1, 0, "zero", "zero\none\ntwo\nthree\n")]
#[case(3, 2, "between\n", "one\ntwo\nbetween\nthree\n")]
#[case(4, 3, "four", "one\ntwo\nthree\nfour\n")]
fn lines_are_those_that_file_read_shows(
    #[case] start: u64,
    #[case] end: u64,
    #[case] new: &str,
    #[case] wanted: &str,
) {
    let list = json!([{"kind": "lines", "start": start, "end": end, "new": new}]);
    assert_eq!(after(b"one\ntwo\nthree\n", list), wanted.as_bytes());
}

#[rstest]
#[case("one\ntwo", 2, 2, "TWO", "one\nTWO")]
#[case("one\ntwo", 3, 2, "three", "one\ntwo\nthree")]
#[case("one\r\ntwo", 2, 2, "a\nb", "one\r\na\r\nb")]
#[case("", 1, 0, "first", "first\n")]
fn a_last_line_without_a_break_stays_without_one(
    #[case] before: &str,
    #[case] start: u64,
    #[case] end: u64,
    #[case] new: &str,
    #[case] wanted: &str,
) {
    let list = json!([{"kind": "lines", "start": start, "end": end, "new": new}]);
    assert_eq!(
        String::from_utf8(after(before.as_bytes(), list)).unwrap(),
        wanted
    );
}

#[rstest]
#[case(0, 1, "/operations/0/start")]
#[case(4, 4, "/operations/0/start")]
#[case(5, 4, "/operations/0/start")]
#[case(2, 4, "/operations/0/end")]
#[case(3, 1, "/operations/0/end")]
fn lines_that_do_not_exist_are_refused(#[case] start: u64, #[case] end: u64, #[case] at: &str) {
    let list = json!([{"kind": "lines", "start": start, "end": end, "new": "x"}]);
    let error = refused(b"one\ntwo\nthree\n", list);
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some(at));
}

#[test]
fn line_numbers_are_those_before_any_operation() {
    let list = json!([
        {"kind": "lines", "start": 1, "end": 1, "new": "a\nb\nc\n"},
        {"kind": "lines", "start": 3, "end": 3, "new": "THREE\n"},
        replace("two", "2"),
    ]);
    assert_eq!(after(b"one\ntwo\nthree\n", list), b"a\nb\nc\n2\nTHREE\n");
}

#[test]
fn a_replacement_sees_what_the_one_before_left() {
    let list = json!([replace("one", "two"), replace("two", "three")]);
    assert_eq!(after(b"one\n", list), b"three\n");
}

#[test]
fn a_line_is_not_changed_twice_without_being_told() {
    let list = json!([replace("two", "2"), {"kind": "lines", "start": 2, "end": 2, "new": "x"}]);
    let error = refused(b"one\ntwo\n", list);
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some("/operations/1"));
}

#[test]
fn a_diff_shows_what_changed_and_is_bounded() {
    let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let list = operations(json!([replace("line 10\n", "line ten\n")]));
    let updated = update(before.as_bytes(), "src/f.txt", &list).unwrap();
    insta::assert_snapshot!(updated.diff);

    let list = operations(json!([{"kind": "regex", "pattern": "^", "new": "> ", "all": true}]));
    let before = "x\n".repeat(50_000);
    let updated = update(before.as_bytes(), "f.txt", &list).unwrap();
    assert!(updated.diff.chars().count() <= 8000);
    assert!(updated.diff.contains("left out and not kept"));
}

#[test]
fn a_binary_file_is_refused() {
    let error = refused(
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        json!([replace("PNG", "GIF")]),
    );
    assert_eq!(error.to_string(), "f.txt is not text: image/png");
}

#[test]
fn line_numbers_in_the_text_to_find_are_noticed() {
    let error = refused(b"one\ntwo\n", json!([replace("   1| one\n   2| two", "x")]));
    assert_eq!(
        error.info().hint.as_deref(),
        Some("leave out the line numbers that file_read puts in front")
    );
}

fn encoded(text: &str, encoding: usize) -> Vec<u8> {
    match encoding {
        0 => text.as_bytes().to_vec(),
        1 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        2 => [&b"\xff\xfe"[..], &Charset::Utf16Le.encode(text).unwrap()].concat(),
        _ => [&b"\xfe\xff"[..], &Charset::Utf16Be.encode(text).unwrap()].concat(),
    }
}

proptest! {
    /// Whatever a file is like, only the place that was named differs.
    #[test]
    fn every_untouched_byte_stays(
        before in "([a-c你é🦀 ]|\r\n|\n|\t){0,40}",
        after in "([a-c你é🦀 ]|\r\n|\n|\t){0,40}",
        new in "[x-z你]{0,8}",
        encoding in 0_usize..4,
    ) {
        let file = encoded(&format!("{before}OLD{after}"), encoding);
        let wanted = encoded(&format!("{before}{new}{after}"), encoding);
        let updated = update(&file, "f.txt", &operations(json!([replace("OLD", &new)]))).unwrap();
        prop_assert_eq!(&updated.bytes[..], &wanted[..]);
        prop_assert_eq!(updated.replacements, 1);
    }
}
