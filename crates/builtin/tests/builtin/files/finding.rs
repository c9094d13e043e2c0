//! `list_dir`, `glob` and `grep`.

use outfitter_core::Code;
use rstest::rstest;
use serde_json::{Value, json};

use super::paths;
use crate::support::Workspace;

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
