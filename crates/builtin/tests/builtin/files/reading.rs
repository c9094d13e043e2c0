//! `file_read`.

use encoding_rs::{GBK, WINDOWS_1252};
use outfitter_builtin::{BuiltinOptions, FilesOptions};
use outfitter_core::{Code, Hash, Role};
use rstest::rstest;
use serde_json::json;

use super::paths;
use crate::support::Workspace;

#[tokio::test]
async fn a_file_is_read_with_numbers_and_all_that_is_needed_to_change_it() {
    let ws = Workspace::new();
    ws.put("a.txt", "one\ntwo\nthree\n");
    let read = ws.ok("file_read", json!({"path": "a.txt"})).await;
    assert_eq!(
        read,
        json!({
            "content": "   1| one\n   2| two\n   3| three",
            "total_lines": 3, "start_line": 1, "end_line": 3,
            "encoding": "utf-8", "eol": "lf", "bom": false,
            "hash": Hash::of("one\ntwo\nthree\n"),
        })
    );
}

#[rstest]
#[case(2, Some(2), "   2| two", 2)]
#[case(2, None, "   2| two\n   3| three", 3)]
#[case(2, Some(99), "   2| two\n   3| three", 3)]
#[case(3, Some(3), "   3| three", 3)]
#[tokio::test]
async fn a_range_of_lines_includes_both_ends(
    #[case] start: u64,
    #[case] end: Option<u64>,
    #[case] content: &str,
    #[case] last: u64,
) {
    let ws = Workspace::new();
    ws.put("a.txt", "one\ntwo\nthree");
    let mut args = json!({"path": "a.txt", "start_line": start});
    if let Some(end) = end {
        args["end_line"] = end.into();
    }
    let read = ws.ok("file_read", args).await;
    assert_eq!(read["content"], content);
    assert_eq!(read["end_line"], last);
    assert_eq!(read["total_lines"], 3);
}

#[tokio::test]
async fn a_range_outside_the_file_says_how_long_it_is() {
    let ws = Workspace::new();
    ws.put("a.txt", "one\ntwo\n");
    let error = ws
        .refused("file_read", json!({"path": "a.txt", "start_line": 3}))
        .await;
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(
        error.to_string(),
        "line 3 does not exist: the file has 2 lines"
    );
    let error = ws
        .refused(
            "file_read",
            json!({"path": "a.txt", "start_line": 2, "end_line": 1}),
        )
        .await;
    assert_eq!(error.info().path.as_deref(), Some("/end_line"));
}

#[tokio::test]
async fn an_empty_file_has_no_lines() {
    let ws = Workspace::new();
    ws.put("empty", "");
    let read = ws.ok("file_read", json!({"path": "empty"})).await;
    assert_eq!(read["content"], "");
    assert_eq!(read["total_lines"], 0);
    assert_eq!(read["end_line"], 0);
    assert_eq!(read["eol"], "none");
}

#[tokio::test]
async fn a_long_file_is_counted_to_its_end_and_given_up_to_the_limit() {
    let ws = Workspace::with(
        &BuiltinOptions {
            files: FilesOptions {
                max_read_bytes: 1000,
                ..FilesOptions::default()
            },
            ..BuiltinOptions::default()
        },
        Role::User,
    );
    let text: String = (1..=400_000).map(|n| format!("line {n:06}\n")).collect();
    ws.put("long.txt", &text);
    let read = ws
        .ok(
            "file_read",
            json!({"path": "long.txt", "start_line": 300_000}),
        )
        .await;
    assert_eq!(read["total_lines"], 400_000);
    assert_eq!(read["hash"], json!(Hash::of(&text)));
    assert_eq!(read["truncated"], true);
    assert_eq!(read["end_line"], 300_082);
    assert_eq!(
        read["notice"],
        "cut at 1000 bytes; go on with start_line 300083"
    );
    let content = read["content"].as_str().unwrap();
    assert!(content.starts_with("300000| line 300000\n"));
    assert!(content.ends_with("300082| line 300082"));
    // No more than the operator allows, whatever is asked for.
    let read = ws
        .ok(
            "file_read",
            json!({"path": "long.txt", "max_bytes": 999_999}),
        )
        .await;
    assert_eq!(read["end_line"], 83);
}

#[tokio::test]
async fn one_endless_line_is_cut_and_never_inside_a_character() {
    let ws = Workspace::new();
    ws.put("line.txt", "你".repeat(200_000));
    let read = ws
        .ok("file_read", json!({"path": "line.txt", "max_bytes": 100}))
        .await;
    assert_eq!(read["content"], format!("   1| {}", "你".repeat(33)));
    assert_eq!(read["total_lines"], 1);
    assert_eq!(read["truncated"], true);
    assert!(
        read["notice"]
            .as_str()
            .unwrap()
            .contains("longer than 100 bytes")
    );
}

#[rstest]
#[case("utf-8", "naïve 你好\r\nb\r\n".as_bytes().to_vec(), "naïve 你好", "crlf", false)]
#[case("utf-8", b"\xef\xbb\xbfa\nb\n".to_vec(), "a", "lf", true)]
#[case("gbk", GBK.encode("你好,世界\r\n第二行\n").0.into_owned(), "你好,世界", "mixed", false)]
#[case("windows-1252", WINDOWS_1252.encode("café à Noël\nb\n").0.into_owned(), "café à Noël", "lf", false)]
#[case("utf-16le", b"\xff\xfeh\0i\0\r\0\n\0b\0".to_vec(), "hi", "crlf", true)]
#[case("utf-16be", b"\xfe\xff\0h\0i\0\n\0b".to_vec(), "hi", "lf", true)]
#[tokio::test]
async fn the_encoding_of_a_file_is_found(
    #[case] encoding: &str,
    #[case] bytes: Vec<u8>,
    #[case] first: &str,
    #[case] eol: &str,
    #[case] bom: bool,
) {
    let ws = Workspace::new();
    ws.put("f", &bytes);
    let read = ws
        .ok("file_read", json!({"path": "f", "end_line": 1}))
        .await;
    assert_eq!(read["content"], format!("   1| {first}"));
    assert_eq!(read["encoding"], encoding);
    assert_eq!(read["eol"], eol);
    assert_eq!(read["bom"], bom);
    assert_eq!(read["total_lines"], 2);
    assert_eq!(read["hash"], json!(Hash::of(&bytes)));
}

#[tokio::test]
async fn a_long_utf16_file_is_cut_into_chunks_without_harm() {
    let ws = Workspace::new();
    let text: String = (0..200_000).map(|n| format!("行 {n} 🦀\n")).collect();
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    ws.put("f", &bytes);
    let read = ws
        .ok(
            "file_read",
            json!({"path": "f", "start_line": 150_000, "end_line": 150_000}),
        )
        .await;
    assert_eq!(read["content"], "150000| 行 149999 🦀");
    assert_eq!(read["total_lines"], 200_000);
}

#[tokio::test]
async fn a_binary_file_is_named_and_a_directory_gives_its_entries() {
    let ws = Workspace::new();
    ws.put("p.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01");
    ws.put("d/x.txt", "x");
    ws.put("d/.hidden", "x");
    assert_eq!(
        ws.ok("file_read", json!({"path": "p.png"})).await,
        json!({"binary": true, "mime": "image/png", "size": 20})
    );
    let read = ws.ok("file_read", json!({"path": "d"})).await;
    assert_eq!(read["directory"], true);
    assert_eq!(paths(&read["entries"]), ["d/.hidden", "d/x.txt"]);
}

#[tokio::test]
async fn a_file_too_large_to_count_is_read_where_it_is_asked_for_and_says_so() {
    let ws = Workspace::new();
    ws.put("huge.log", "one\ntwo\nthree\n".repeat(1000));
    let huge = std::fs::File::options()
        .write(true)
        .open(ws.path().join("huge.log"))
        .unwrap();
    // A hole: it takes no room.
    huge.set_len(300 << 20).unwrap();
    let read = ws
        .ok(
            "file_read",
            json!({"path": "huge.log", "start_line": 2, "end_line": 2}),
        )
        .await;
    assert_eq!(read["content"], "   2| two");
    assert_eq!(read.get("total_lines"), None);
    assert_eq!(read.get("hash"), None);
    assert_eq!(
        read["notice"],
        "the file has more than 268435456 bytes, so total_lines and hash are left out"
    );
}

#[tokio::test]
async fn a_cancelled_reading_stops() {
    let ws = Workspace::new();
    ws.put("long.txt", "line\n".repeat(1 << 20));
    ws.cx.cancel.cancel();
    let error = ws.refused("file_read", json!({"path": "long.txt"})).await;
    assert_eq!(error.code(), Code::Cancelled);
}
