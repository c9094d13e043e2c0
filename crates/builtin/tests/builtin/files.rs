//! The tools on files, on real files.

use encoding_rs::{GBK, WINDOWS_1252};
use outfitter_builtin::{BuiltinOptions, FilesOptions};
use outfitter_core::{Code, Hash, Role};
use rstest::rstest;
use serde_json::{Value, json};

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

fn paths(entries: &Value) -> Vec<&str> {
    let mut paths: Vec<&str> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    paths
}

#[tokio::test]
async fn what_the_model_wrote_is_what_lands() {
    let ws = Workspace::new();
    let content = "a\\n\t\"b\" $1 \u{0} 你好\r\n<|x|> &amp;\n\n";
    let wrote = ws
        .ok(
            "file_write",
            json!({"path": "new/deep/f.txt", "content": content}),
        )
        .await;
    assert_eq!(ws.get("new/deep/f.txt"), content.as_bytes());
    assert_eq!(
        wrote,
        json!({"bytes_written": content.len(), "hash": Hash::of(content), "created": true})
    );
}

#[tokio::test]
async fn appending_leaves_every_byte_that_was_there() {
    let ws = Workspace::new();
    let before = GBK.encode("你好,世界,这是旧内容\r\n").0.into_owned();
    ws.put("gbk.txt", &before);
    let wrote = ws
        .ok(
            "file_write",
            json!({"path": "gbk.txt", "content": "新的一行\n", "mode": "append"}),
        )
        .await;
    let after = ws.get("gbk.txt");
    assert_eq!(after, [&before[..], "新的一行\n".as_bytes()].concat());
    assert_eq!(wrote["bytes_written"], "新的一行\n".len());
    assert_eq!(wrote["created"], false);
    assert_eq!(wrote["hash"], json!(Hash::of(&after)));
    assert!(
        wrote["notice"]
            .as_str()
            .unwrap()
            .starts_with("the file is gbk")
    );

    let wrote = ws
        .ok(
            "file_write",
            json!({"path": "plain.txt", "content": "x\n", "mode": "append"}),
        )
        .await;
    assert_eq!(wrote["created"], true);
    assert_eq!(wrote.get("notice"), None);
}

#[tokio::test]
async fn a_write_from_a_stale_reading_is_a_conflict() {
    let ws = Workspace::new();
    ws.put("a.txt", "old");
    let hash = ws.ok("file_read", json!({"path": "a.txt"})).await["hash"].clone();
    ws.put("a.txt", "new");
    for (tool, args) in [
        (
            "file_write",
            json!({"path": "a.txt", "content": "mine", "if_hash": hash}),
        ),
        (
            "file_update",
            json!({"path": "a.txt", "if_hash": hash, "operations": [{"kind": "replace", "old": "new", "new": "x"}]}),
        ),
    ] {
        let error = ws.refused(tool, args).await;
        assert_eq!(error.code(), Code::Conflict, "{tool}");
        let info = error.info();
        assert_eq!(info.got, Some(json!({"hash": Hash::of("new")})));
        assert!(info.hint.as_deref().unwrap().contains("read it again"));
    }
    assert_eq!(ws.get("a.txt"), b"new");
}

#[tokio::test]
async fn what_is_no_hash_is_refused() {
    let ws = Workspace::new();
    let args = json!({"path": "a.txt", "content": "x", "if_hash": "yesterday's"});
    let error = ws.refused("file_write", args).await;
    assert_eq!(error.info().path.as_deref(), Some("/if_hash"));
    assert!(!ws.path().join("a.txt").exists());
}

#[tokio::test]
async fn create_does_not_replace() {
    let ws = Workspace::new();
    ws.put("a.txt", "old");
    let args = json!({"path": "a.txt", "content": "new", "mode": "create"});
    assert_eq!(ws.refused("file_write", args).await.code(), Code::Conflict);
    assert_eq!(ws.get("a.txt"), b"old");
}

#[tokio::test]
async fn an_update_changes_what_was_asked_and_tells_it() {
    let ws = Workspace::new();
    let before = b"\xef\xbb\xbfalpha\r\nbeta\r\ngamma\r\n";
    ws.put("f.txt", before);
    let args = json!({"path": "f.txt", "operations": [
        {"kind": "replace", "old": "alpha\nbeta", "new": "ALPHA\nBETA"},
        {"kind": "lines", "start": 3, "end": 3, "new": "GAMMA"},
    ]});
    let updated = ws.ok("file_update", args).await;
    let after = ws.get("f.txt");
    assert_eq!(after, b"\xef\xbb\xbfALPHA\r\nBETA\r\nGAMMA\r\n");
    assert_eq!(updated["replacements"], 2);
    assert_eq!(updated["hash"], json!(Hash::of(&after)));
    assert!(updated["diff"].as_str().unwrap().contains("+GAMMA"));
}

#[tokio::test]
async fn one_failing_operation_leaves_the_file_alone() {
    let ws = Workspace::new();
    ws.put("f.txt", "one\ntwo\n");
    let args = json!({"path": "f.txt", "operations": [
        {"kind": "replace", "old": "one", "new": "1"},
        {"kind": "replace", "old": "three", "new": "3"},
    ]});
    let error = ws.refused("file_update", args).await;
    assert_eq!(error.info().path.as_deref(), Some("/operations/1/old"));
    assert_eq!(ws.get("f.txt"), b"one\ntwo\n");
}

#[tokio::test]
async fn the_line_numbers_of_reading_are_those_of_updating() {
    let ws = Workspace::new();
    ws.put("f.txt", "a\nb\nc\n");
    let read = ws
        .ok(
            "file_read",
            json!({"path": "f.txt", "start_line": 2, "end_line": 2}),
        )
        .await;
    assert_eq!(read["content"], "   2| b");
    let args = json!({"path": "f.txt", "operations": [{"kind": "lines", "start": 2, "end": 2, "new": "B\n"}]});
    ws.ok("file_update", args).await;
    assert_eq!(ws.get("f.txt"), b"a\nB\nc\n");
}

#[tokio::test]
async fn two_updates_of_one_file_at_once_lose_nothing() {
    let ws = Workspace::new();
    ws.put("f.txt", "a\nb\n");
    let change = |old: &str, new: &str| json!({"path": "f.txt", "operations": [{"kind": "replace", "old": old, "new": new}]});
    let (one, two) = tokio::join!(
        ws.call("file_update", change("a", "A")),
        ws.call("file_update", change("b", "B")),
    );
    let text = ws.get("f.txt");
    for (result, changed, kept) in [(one, "A", "a"), (two, "B", "b")] {
        let text = std::str::from_utf8(&text).unwrap();
        match result {
            Ok(_) => assert!(text.contains(changed), "{text}"),
            Err(error) => {
                assert_eq!(error.code(), Code::Conflict);
                assert!(text.contains(kept), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn a_directory_is_listed_as_deep_as_asked() {
    let ws = Workspace::new();
    ws.put("src/lib.rs", "fn a() {}");
    ws.put("src/deep/mod.rs", "");
    ws.put(".env.example", "");
    ws.put(".gitignore", "target\n");
    ws.put("target/x", "");
    let listed = ws.ok("list_dir", json!({})).await;
    assert_eq!(paths(&listed["entries"]), ["src", "src/deep", "src/lib.rs"]);
    let file = &listed["entries"].as_array().unwrap()[2];
    assert_eq!(
        *file,
        json!({"path": "src/lib.rs", "kind": "file", "size": 9})
    );

    let listed = ws
        .ok("list_dir", json!({"depth": 1, "include_hidden": true}))
        .await;
    assert_eq!(
        paths(&listed["entries"]),
        [".env.example", ".gitignore", "src", "target"]
    );

    let listed = ws.ok("list_dir", json!({"depth": 3, "max_items": 2})).await;
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2);
    assert_eq!(listed["truncated"], true);
    assert_eq!(listed["notice"], "cut at max_items 2");
}

#[tokio::test]
async fn files_are_found_by_name() {
    let ws = Workspace::new();
    for path in ["a.rs", "src/b.rs", "src/c.txt"] {
        ws.put(path, "x");
    }
    let found = ws.ok("glob", json!({"pattern": "**/*.rs"})).await;
    let mut files: Vec<&str> = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    files.sort_unstable();
    assert_eq!(files, ["a.rs", "src/b.rs"]);
    assert_eq!(found["count"], 2);
    assert_eq!(found.get("truncated"), None);
    // A star does not cross directories.
    assert_eq!(ws.ok("glob", json!({"pattern": "*.rs"})).await["count"], 1);

    let found = ws.ok("glob", json!({"pattern": "**/*", "limit": 1})).await;
    assert_eq!(found["files"].as_array().unwrap().len(), 1);
    assert_eq!(found["truncated"], true);
    assert_eq!(found["notice"], "cut at limit 1");
}

#[tokio::test]
async fn text_is_found_in_files() {
    let ws = Workspace::new();
    ws.put("a.rs", "fn one() {}\nfn two() {}\n// 你好 fn three\n");
    ws.put("b.py", "def fn_like(): pass\n");
    let found = ws
        .ok("grep", json!({"pattern": r"fn \w+\(", "before": 1}))
        .await;
    assert_eq!(
        found,
        json!({
            "matches": [
                {"path": "a.rs", "line": 1, "column": 1, "text": "fn one() {}"},
                {"path": "a.rs", "line": 2, "column": 1, "text": "fn two() {}", "before": ["fn one() {}"]},
            ],
            "count": 2,
        })
    );
    let found = ws.ok("grep", json!({"pattern": "fn three"})).await;
    assert_eq!(found["matches"][0]["column"], 7);
    let found = ws
        .ok(
            "grep",
            json!({"pattern": "FN", "case_insensitive": true, "type": "py", "mode": "files"}),
        )
        .await;
    assert_eq!(found["matches"], json!([{"path": "b.py"}]));
    let found = ws
        .ok(
            "grep",
            json!({"pattern": "fn", "glob": "*.rs", "mode": "count"}),
        )
        .await;
    assert_eq!(found["matches"], json!([{"path": "a.rs", "count": 3}]));
    let found = ws
        .ok(
            "grep",
            json!({"pattern": r"one\(\) \{\}\nfn two", "multiline": true}),
        )
        .await;
    assert_eq!(found["count"], 1);
    let found = ws.ok("grep", json!({"pattern": "fn", "limit": 1})).await;
    assert_eq!(found["truncated"], true);
    assert_eq!(found["notice"], "cut at limit 1");
}

#[rstest]
#[case("grep", json!({"pattern": "a("}), "/pattern")]
#[case("grep", json!({"pattern": "a", "glob": "["}), "/glob")]
#[case("grep", json!({"pattern": "a", "type": "no-such-type"}), "/type")]
#[case("glob", json!({"pattern": "["}), "/pattern")]
#[case("glob", json!({"pattern": "a\u{0}b"}), "/pattern")]
#[case("file_read", json!({"path": "a\u{0}b"}), "/path")]
#[case("file_write", json!({"path": "a\u{0}b", "content": ""}), "/path")]
#[case("list_dir", json!({"path": "a\u{0}b"}), "/path")]
#[tokio::test]
async fn what_cannot_be_understood_is_pointed_at(
    #[case] tool: &str,
    #[case] args: Value,
    #[case] at: &str,
) {
    let ws = Workspace::new();
    let error = ws.refused(tool, args).await;
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some(at));
}

#[tokio::test]
async fn guests_reach_no_file_and_outside_is_only_for_an_opened_administrator() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("s.txt");
    std::fs::write(&secret, "outside").unwrap();
    let secret = secret.to_str().unwrap();
    let open = BuiltinOptions {
        files: FilesOptions {
            admin_open: true,
            ..FilesOptions::default()
        },
        ..BuiltinOptions::default()
    };
    let shut = BuiltinOptions::default();
    for (options, role, allowed) in [
        (&shut, Role::Guest, false),
        (&open, Role::Guest, false),
        (&open, Role::User, false),
        (&shut, Role::Admin, false),
        (&open, Role::Admin, true),
    ] {
        let ws = Workspace::with(options, role);
        let read = ws.call("file_read", json!({"path": secret})).await;
        match read {
            Ok(read) => {
                assert!(allowed, "{role}");
                assert_eq!(read["content"], "   1| outside");
            }
            Err(error) => {
                assert!(!allowed, "{role}: {error}");
                assert_eq!(error.code(), Code::NotPermitted);
            }
        }
    }
}

#[rstest]
#[case("file_read", json!({"path": "a.txt"}))]
#[case("file_write", json!({"path": "a.txt", "content": "x"}))]
#[case("file_update", json!({"path": "a.txt", "operations": [{"kind": "replace", "old": "a", "new": "b"}]}))]
#[case("list_dir", json!({}))]
#[case("glob", json!({"pattern": "*"}))]
#[case("grep", json!({"pattern": "a"}))]
#[tokio::test]
async fn every_file_tool_refuses_a_guest(#[case] tool: &str, #[case] args: Value) {
    let ws = Workspace::with(&BuiltinOptions::default(), Role::Guest);
    ws.put("a.txt", "a");
    assert_eq!(ws.refused(tool, args).await.code(), Code::NotPermitted);
    assert_eq!(ws.get("a.txt"), b"a");
}

#[tokio::test]
async fn a_link_that_leads_outside_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("f"), "secret").unwrap();
    let ws = Workspace::new();
    ws.put("real/f", "inside");
    std::os::unix::fs::symlink(outside.path(), ws.path().join("out")).unwrap();
    std::os::unix::fs::symlink("real", ws.path().join("in")).unwrap();
    assert_eq!(
        ws.refused("file_read", json!({"path": "out/f"}))
            .await
            .code(),
        Code::NotPermitted
    );
    let write = json!({"path": "out/new", "content": "x"});
    assert_eq!(
        ws.refused("file_write", write).await.code(),
        Code::NotPermitted
    );
    assert!(!outside.path().join("new").exists());
    assert_eq!(
        ws.ok("file_read", json!({"path": "in/f"})).await["content"],
        "   1| inside"
    );
}

#[tokio::test]
async fn a_final_link_is_not_written_through_and_its_target_is_named() {
    let ws = Workspace::new();
    ws.put("real.txt", "real");
    std::os::unix::fs::symlink("real.txt", ws.path().join("link.txt")).unwrap();
    let error = ws
        .refused("file_write", json!({"path": "link.txt", "content": "x"}))
        .await;
    assert_eq!(error.code(), Code::NotPermitted);
    assert!(error.to_string().contains("real.txt"));
    assert_eq!(ws.get("real.txt"), b"real");
    assert!(ws.path().join("link.txt").is_symlink());
}

#[rstest]
#[case(".git/hooks/pre-commit")]
#[case(".GIT/config")]
#[case("sub/.git/config")]
#[tokio::test]
async fn a_repositorys_metadata_is_not_written(#[case] path: &str) {
    let ws = Workspace::new();
    let error = ws
        .refused("file_write", json!({"path": path, "content": "x"}))
        .await;
    assert_eq!(error.code(), Code::NotPermitted);
    assert!(!ws.path().join(path).exists());
    ws.ok(
        "file_write",
        json!({"path": ".gitignore", "content": "x\n"}),
    )
    .await;
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_by_schema_and_tool_alike() {
    let ws = Workspace::new();
    ws.put("a.txt", "a");
    let args = json!({"path": "a.txt", "encoding": "gbk"});
    assert!(!ws.tools.fits("file_read", &args));
    let error = ws
        .tools
        .call_unchecked("file_read", &ws.cx, args)
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
}
