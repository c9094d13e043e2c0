//! `file_write` and `file_update`.

use outfitter_core::{Code, Hash};
use serde_json::json;

use crate::support::Workspace;

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
