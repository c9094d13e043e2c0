//! Every way to change a part of a file, in every encoding: only what was asked for differs.

use encoding_rs::{GB18030, GBK, WINDOWS_1252};
use outfitter_core::Code;
use rstest::rstest;
use serde_json::{Value, json};

use super::bytes::{utf16be, utf16le};
use crate::support::Workspace;

/// How a file writes its text.
#[derive(Debug, Clone, Copy)]
enum Written {
    Utf8,
    Marked,
    Utf16Le,
    Utf16Be,
    Unmarked16,
    Gbk,
    Gb18030,
    Latin1,
}

impl Written {
    fn of(self, text: &str) -> Vec<u8> {
        let old = |encoding: &'static encoding_rs::Encoding| {
            let (bytes, _, replaced) = encoding.encode(text);
            assert!(!replaced, "{text}");
            bytes.into_owned()
        };
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Marked => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Self::Utf16Le => [&b"\xff\xfe"[..], &utf16le(text)].concat(),
            Self::Utf16Be => [&b"\xfe\xff"[..], &utf16be(text)].concat(),
            Self::Unmarked16 => utf16le(text),
            Self::Gbk => old(GBK),
            Self::Gb18030 => old(GB18030),
            Self::Latin1 => old(WINDOWS_1252),
        }
    }

    /// Words that the encoding has and by which it is known.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Latin1 | Self::Unmarked16 => ("Le café était fermé", "à Noël", "déjà"),
            Self::Gb18030 => ("标题,第一行🦀", "内容二", "内容三🦞"),
            Self::Utf8 | Self::Marked | Self::Utf16Le | Self::Utf16Be | Self::Gbk => {
                ("标题,第一行", "内容二", "内容三")
            }
        }
    }
}

/// A way to put other words in the place of the second line's.
type Way = fn(&str, &str, &str) -> (&'static str, Value);

fn replaced(_: &str, old: &str, new: &str) -> (&'static str, Value) {
    update(&json!({"kind": "replace", "old": old, "new": new}))
}

fn replaced_over_lines(first: &str, old: &str, new: &str) -> (&'static str, Value) {
    let (old, new) = (format!("{first}\n{old}"), format!("{first}\n{new}"));
    update(&json!({"kind": "replace", "old": old, "new": new}))
}

fn by_expression(_: &str, old: &str, new: &str) -> (&'static str, Value) {
    let pattern = format!("^{}$", regex_syntax_free(old));
    update(&json!({"kind": "regex", "pattern": pattern, "new": new, "all": true}))
}

fn by_expression_over_lines(first: &str, old: &str, new: &str) -> (&'static str, Value) {
    let pattern = format!(r"({first})\n{old}\n");
    update(&json!({"kind": "regex", "pattern": pattern, "new": format!("$1\n{new}\n")}))
}

fn by_lines(_: &str, _: &str, new: &str) -> (&'static str, Value) {
    update(&json!({"kind": "lines", "start": 2, "end": 2, "new": new}))
}

fn by_envelope(first: &str, old: &str, new: &str) -> (&'static str, Value) {
    let patch = format!(
        "*** Begin Patch\n*** Update File: f\n@@\n {first}\n-{old}\n+{new}\n*** End Patch\n"
    );
    ("apply_patch", json!({ "patch": patch }))
}

fn by_diff(first: &str, old: &str, new: &str) -> (&'static str, Value) {
    let patch = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n {first}\n-{old}\n+{new}\n");
    ("apply_patch", json!({ "patch": patch }))
}

fn update(operation: &Value) -> (&'static str, Value) {
    (
        "file_update",
        json!({"path": "f", "operations": [operation]}),
    )
}

/// The words of these tests mean themselves in an expression.
fn regex_syntax_free(words: &str) -> &str {
    assert!(!words.contains(['.', '(', '[', '*', '+', '?', '$', '^', '|']));
    words
}

#[rstest]
#[tokio::test]
async fn only_what_was_asked_for_differs(
    #[values(
        Written::Utf8,
        Written::Marked,
        Written::Utf16Le,
        Written::Utf16Be,
        Written::Unmarked16,
        Written::Gbk,
        Written::Gb18030,
        Written::Latin1
    )]
    written: Written,
    #[values("\n", "\r\n")] end: &str,
    #[values(
        replaced as Way,
        replaced_over_lines,
        by_expression,
        by_expression_over_lines,
        by_lines,
        by_envelope,
        by_diff
    )]
    way: Way,
) {
    let ws = Workspace::new();
    let (first, old, new) = written.words();
    // The last line ends otherwise than the others, or not at all, and stays so.
    let text = |second: &str| format!("{first}{end}{second}{end}{first}\t{end}{first}\n{first}");
    ws.put("f", written.of(&text(old)));
    let (tool, args) = way(first, old, new);
    ws.ok(tool, args).await;
    assert_eq!(ws.get("f"), written.of(&text(new)), "{tool}");
}

#[rstest]
#[case(replaced)]
#[case(by_expression)]
#[case(by_lines)]
#[case(by_envelope)]
#[case(by_diff)]
#[tokio::test]
async fn a_word_that_the_encoding_lacks_changes_nothing(#[case] way: Way) {
    let ws = Workspace::new();
    for (written, lacking) in [(Written::Gbk, "🦀"), (Written::Latin1, "你好")] {
        let (first, old, _) = written.words();
        let before = written.of(&format!("{first}\r\n{old}\r\n"));
        ws.put("f", &before);
        let (tool, args) = way(first, old, lacking);
        let error = ws.refused(tool, args).await;
        assert_eq!(error.code(), Code::InvalidArguments, "{tool}");
        assert!(error.to_string().contains("which has no"), "{error}");
        assert_eq!(ws.get("f"), before, "{tool}");
    }
}

/// What a file says of its encoding when it is read, it says when something is found in it, and the
/// words are the same.
#[rstest]
#[tokio::test]
async fn what_is_read_is_found_and_shown_as_it_is_read(
    #[values(
        Written::Utf8,
        Written::Marked,
        Written::Utf16Le,
        Written::Utf16Be,
        Written::Unmarked16,
        Written::Gbk,
        Written::Gb18030,
        Written::Latin1
    )]
    written: Written,
    #[values("", "plain words ahead, as many as a program has\n")] ahead: &str,
) {
    let ws = Workspace::new();
    let (first, old, _) = written.words();
    let text = format!("{}{first}\r\n{old}\r\n{first}\n", ahead.repeat(2000));
    ws.put("f", written.of(&text));
    let read = ws
        .ok("file_read", json!({"path": "f", "end_line": 1}))
        .await;
    let found = ws
        .ok("grep", json!({"pattern": old, "before": 1, "after": 1}))
        .await;
    let [hit] = found["matches"].as_array().unwrap().as_slice() else {
        panic!("{found}");
    };
    assert_eq!(hit["text"], old);
    assert_eq!(
        (&hit["before"], &hit["after"]),
        (&json!([first]), &json!([first]))
    );
    match read["encoding"].as_str().unwrap() {
        "utf-8" => assert_eq!(hit.get("encoding"), None),
        encoding => assert_eq!(hit["encoding"], encoding),
    }
}

/// In the words in which it is said of a command's output.
#[rstest]
#[case::few_characters(
    b"\xd6\xd0\xce\xc4\n",
    Some("the file is no UTF-8 and was read as gbk, which is a guess by few characters")
)]
#[case::stray(
    b"\xe4\xbd\xa0\xe5\xa5\xbd\xff\n",
    Some("the file has bytes that are no UTF-8; each run of them shows as U+FFFD")
)]
#[case::utf8("你好\n".as_bytes(), None)]
#[tokio::test]
async fn doubt_about_an_encoding_is_said(#[case] bytes: &[u8], #[case] notice: Option<&str>) {
    let ws = Workspace::new();
    ws.put("f", bytes);
    let read = ws.ok("file_read", json!({"path": "f"})).await;
    assert_eq!(read.get("notice").and_then(Value::as_str), notice);
}
