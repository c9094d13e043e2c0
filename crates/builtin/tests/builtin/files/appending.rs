//! `file_write` with mode append: the file's encoding and line endings, or nothing at all.

use encoding_rs::{BIG5, Encoding, GB18030, GBK, SHIFT_JIS, WINDOWS_1252};
use outfitter_core::{Code, Hash, ToolError};
use rstest::rstest;
use serde_json::{Value, json};

use super::bytes::{utf16be, utf16le};
use crate::support::Workspace;

async fn append(ws: &Workspace, content: &str) -> Value {
    let args = json!({"path": "f", "content": content, "mode": "append"});
    ws.ok("file_write", args).await
}

async fn refused(ws: &Workspace, content: &str) -> ToolError {
    let args = json!({"path": "f", "content": content, "mode": "append"});
    ws.refused("file_write", args).await
}

const CHINESE: &str = "你好,世界,这是旧内容\r\n";

#[rstest]
#[case::utf8("naïve\n".as_bytes().to_vec(), "新\n", "新\n".as_bytes().to_vec())]
#[case::utf8_crlf(b"a\r\nb\r\n".to_vec(), "c\nd\r\n", b"c\r\nd\r\n".to_vec())]
#[case::utf8_with_a_mark(b"\xef\xbb\xbfa\r\n".to_vec(), "b\n", b"b\r\n".to_vec())]
#[case::utf8_with_a_stray("你好,世界\n\u{e9}".as_bytes().iter().copied().chain([0xff]).collect(), "新\n", "新\n".as_bytes().to_vec())]
#[case::as_its_last_line_ends(b"a\r\nb\n".to_vec(), "c\n", b"c\n".to_vec())]
#[case::without_lines(b"a".to_vec(), "b\r\nc\n", b"b\r\nc\n".to_vec())]
#[case::only_a_mark(b"\xff\xfe".to_vec(), "新\n", utf16le("新\n"))]
#[case::utf16le([&b"\xff\xfe"[..], &utf16le("h\r\n")].concat(), "新🦀\n", utf16le("新🦀\r\n"))]
#[case::utf16be([&b"\xfe\xff"[..], &utf16be("h\n")].concat(), "x\n", utf16be("x\n"))]
#[case::utf16_without_a_mark(utf16le("plain words\r\n"), "x\n", utf16le("x\r\n"))]
#[case::gbk(old(GBK, CHINESE), "新的一行\n", old(GBK, "新的一行\r\n"))]
#[case::ascii_to_gbk(old(GBK, CHINESE), "x\n", b"x\r\n".to_vec())]
#[case::gb18030(old(GB18030, "你好,世界,这是🦀旧内容\n"), "🦞\n", old(GB18030, "🦞\n"))]
#[case::latin1(
    old(WINDOWS_1252, "Le café était fermé à Noël\n"),
    "déjà\n",
    old(WINDOWS_1252, "déjà\n")
)]
#[case::big5(old(BIG5, "這是繁體中文的測試文件\n"), "繁體\n", old(BIG5, "繁體\n"))]
#[case::nothing(Vec::new(), "新\r\n", "新\r\n".as_bytes().to_vec())]
#[case::no_more(old(GBK, CHINESE), "", Vec::new())]
#[tokio::test]
async fn what_is_appended_is_in_the_encoding_and_the_endings_of_the_file(
    #[case] before: Vec<u8>,
    #[case] content: &str,
    #[case] added: Vec<u8>,
) {
    let ws = Workspace::new();
    ws.put("f", &before);
    let wrote = append(&ws, content).await;
    let after = ws.get("f");
    assert_eq!(after, [&before[..], &added].concat());
    assert_eq!(
        wrote,
        json!({"bytes_written": added.len(), "hash": Hash::of(&after), "created": false})
    );
}

fn old(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, replaced) = encoding.encode(text);
    assert!(!replaced);
    bytes.into_owned()
}

#[rstest]
#[case::lacking(old(GBK, CHINESE), "🦀\n", "/content", "f is gbk, which has no \"🦀\"")]
#[case::lacking_in_latin1(
    old(WINDOWS_1252, "Le café était fermé à Noël\n"),
    "你",
    "/content",
    "f is windows-1252, which has no \"你\""
)]
#[case::another_when_read(
    old(SHIFT_JIS, "これは日本語のテキストです\n"),
    "¥",
    "/content",
    "f is shift_jis, which has no \"¥\""
)]
#[case::half_a_unit([&b"\xff\xfe"[..], &utf16le("hello"), b"\n"].concat(), "x", "/path", "f is utf-16le and ends inside a character")]
#[case::half_of_gbk([&old(GBK, &CHINESE.repeat(60_000))[..], b"\xc4"].concat(), "x", "/path", "f is gbk and ends inside a character")]
#[case::a_picture(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01".to_vec(), "x", "/path", "f is not text, nothing can be added: image/png")]
#[case::utf32(b"\xff\xfe\0\0a\0\0\0\n\0\0\0".to_vec(), "x", "/path", "f is not text, nothing can be added: application/octet-stream")]
#[tokio::test]
async fn what_the_file_has_no_words_for_is_refused_and_nothing_is_written(
    #[case] before: Vec<u8>,
    #[case] content: &str,
    #[case] at: &str,
    #[case] message: &str,
) {
    let ws = Workspace::new();
    ws.put("f", &before);
    let error = refused(&ws, content).await;
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.to_string(), message);
    assert_eq!(error.info().path.as_deref(), Some(at));
    assert!(error.info().hint.is_some());
    assert!(ws.get("f") == before);
}

#[tokio::test]
async fn appending_to_nothing_makes_the_file() {
    let ws = Workspace::new();
    assert_eq!(append(&ws, "x\n").await["created"], true);
    assert_eq!(ws.get("f"), b"x\n");
}

#[tokio::test]
async fn appending_from_a_stale_reading_is_a_conflict_in_any_encoding() {
    let ws = Workspace::new();
    for before in [b"old\n".to_vec(), old(GBK, CHINESE)] {
        ws.put("f", &before);
        let args =
            json!({"path": "f", "content": "x", "mode": "append", "if_hash": Hash::of("other")});
        let error = ws.refused("file_write", args).await;
        assert_eq!(error.code(), Code::Conflict);
        assert_eq!(ws.get("f"), before);
    }
}

#[rstest]
#[case::utf8(b"begun\n".to_vec(), "x\n".as_bytes().to_vec())]
#[case::utf16([&b"\xff\xfe"[..], &utf16le("begun\r\n")].concat(), utf16le("x\r\n"))]
#[tokio::test]
async fn appends_at_once_lose_nothing(#[case] before: Vec<u8>, #[case] added: Vec<u8>) {
    let ws = Workspace::new();
    ws.put("f", &before);
    tokio::join!(
        append(&ws, "x\n"),
        append(&ws, "x\n"),
        append(&ws, "x\n"),
        append(&ws, "x\n"),
    );
    assert_eq!(ws.get("f"), [&before[..], &added.repeat(4)].concat());
}

/// What decides stands behind the first piece that is read.
#[tokio::test]
async fn the_encoding_of_a_long_file_is_that_of_all_of_it() {
    let ws = Workspace::new();
    let mut before = b"a line of plain words\r\n".repeat(100_000);
    before.extend(old(GBK, &"第二部分是中文\r\n".repeat(20)));
    ws.put("f", &before);
    append(&ws, "新\n").await;
    assert_eq!(ws.get("f"), [&before[..], &old(GBK, "新\r\n")].concat());
}

#[tokio::test]
async fn a_link_is_not_appended_through() {
    let ws = Workspace::new();
    ws.put("target", old(GBK, CHINESE));
    std::os::unix::fs::symlink("target", ws.path().join("f")).unwrap();
    let error = refused(&ws, "新").await;
    assert_eq!(error.code(), Code::NotPermitted);
    assert_eq!(ws.get("target"), old(GBK, CHINESE));
}
