//! Files that grow, and results that would: what is read and what is given has an end.

use std::sync::Arc;

use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Code, Role};
use serde_json::json;

use crate::support::{Growing, Tools, Workspace, context};

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn a_file_that_grows_as_it_is_read_is_read_to_an_end() {
    let log = Arc::new(Growing::new(2 * MIB, 2 * MIB));
    let tools = Tools::new(&BuiltinOptions::default());
    let cx = context(log.clone(), Role::User);
    let args = json!({"path": "f.log", "start_line": 2, "end_line": 3});
    let read = tools.call("file_read", &cx, args).await.unwrap().result;
    let line = "a line of a log";
    assert_eq!(read["content"], format!("   2| {line}\n   3| {line}"));
    assert_eq!(read.get("hash"), None);
    assert_eq!(read.get("total_lines"), None);
    assert_eq!(read.get("truncated"), None, "what was asked for is there");
    let notice = read["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("the file grew by 67108864 bytes while it was read"),
        "{notice}"
    );
    assert!(log.read() <= 68 * MIB, "{} bytes", log.read());
    assert!(log.largest() <= MIB, "{} bytes at once", log.largest());

    // A line that was not reached is no line that does not exist.
    let args = json!({"path": "f.log", "start_line": 900_000_000});
    let read = tools.call("file_read", &cx, args).await.unwrap().result;
    assert_eq!(read["content"], "");
    assert_eq!(read["truncated"], true);
}

#[tokio::test]
async fn nothing_is_appended_to_what_grows_too_fast_to_be_known() {
    let log = Arc::new(Growing::new(2 * MIB, 2 * MIB));
    let tools = Tools::new(&BuiltinOptions::default());
    let cx = context(log.clone(), Role::User);
    let args = json!({"path": "f.log", "content": "x\n", "mode": "append"});
    let error = tools.call("file_write", &cx, args).await.unwrap_err();
    assert_eq!(error.code(), Code::Failed);
    assert!(
        error.to_string().contains("grows faster than it is read"),
        "{error}"
    );
    assert!(log.read() <= 68 * MIB, "{} bytes", log.read());
    assert!(log.largest() <= MIB, "{} bytes at once", log.largest());
}

#[tokio::test]
async fn a_line_behind_the_end_is_said_with_the_end() {
    let ws = Workspace::new();
    ws.put("f", "one\ntwo\n");
    let error = ws
        .refused("file_read", json!({"path": "f", "start_line": 3}))
        .await;
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some("/start_line"));
    assert_eq!(
        error.to_string(),
        "line 3 does not exist: the file has 2 lines"
    );
    // One behind the last line is as far as there is.
    let read = ws
        .ok(
            "file_read",
            json!({"path": "f", "start_line": 2, "end_line": 99}),
        )
        .await;
    assert_eq!(
        (&read["content"], &read["end_line"]),
        (&json!("   2| two"), &json!(2))
    );
}

#[tokio::test]
async fn a_cut_never_halves_a_character_in_any_encoding() {
    let ws = Workspace::new();
    let text = "你好世界".repeat(20);
    let gbk = encoding_rs::GBK.encode(&text).0.into_owned();
    let wide = [&b"\xff\xfe"[..], &super::bytes::utf16le(&text)].concat();
    for bytes in [text.as_bytes(), &gbk, &wide] {
        ws.put("f", bytes);
        for max_bytes in 3..40 {
            let args = json!({"path": "f", "max_bytes": max_bytes});
            let read = ws.ok("file_read", args).await;
            let content = read["content"].as_str().unwrap();
            let shown = content.strip_prefix("   1| ").unwrap();
            assert!(text.starts_with(shown), "{max_bytes}: {content:?}");
            assert!(shown.len() <= max_bytes * 2, "{max_bytes}: {content:?}");
            assert_eq!(read["truncated"], true);
        }
    }
}

#[tokio::test]
async fn the_rest_behind_a_line_that_is_too_long_can_be_read() {
    let ws = Workspace::new();
    ws.put("f", format!("short\n{}\nlast\n", "x".repeat(500)));
    let read = ws
        .ok("file_read", json!({"path": "f", "max_bytes": 100}))
        .await;
    assert_eq!(read["content"], "   1| short");
    assert_eq!(read["notice"], "cut at 100 bytes; go on with start_line 2");
    let args = json!({"path": "f", "max_bytes": 100, "start_line": 2});
    let read = ws.ok("file_read", args).await;
    assert_eq!(read["content"], format!("   2| {}", "x".repeat(100)));
    assert_eq!(read["end_line"], 2);
    assert_eq!(
        read["notice"],
        "line 2 is longer than 100 bytes and is cut; go on with start_line 3"
    );
    let args = json!({"path": "f", "max_bytes": 100, "start_line": 3});
    assert_eq!(ws.ok("file_read", args).await["content"], "   3| last");
}

/// Two thousand hits with a hundred long lines around each would be two hundred megabytes.
#[tokio::test]
async fn what_a_search_gives_has_an_end_in_bytes() {
    let ws = Workspace::new();
    let line = "needle".to_owned() + &"x".repeat(900);
    for file in 0..40 {
        ws.put(&format!("{file:02}"), format!("{line}\n").repeat(200));
    }
    let args = json!({"pattern": "needle", "before": 50, "after": 50, "limit": 2000});
    let found = ws.ok("grep", args).await;
    assert_eq!(found["truncated"], true);
    assert_eq!(
        found["notice"],
        "cut where a walk ends at the latest; ask for a smaller part"
    );
    let given = found.to_string().len();
    assert!((1 << 20..12 << 20).contains(&given), "{given} bytes");
    let hits = found["matches"].as_array().unwrap();
    assert_eq!(found["count"], hits.len());
    assert_eq!(
        (&hits[0]["path"], &hits[0]["line"]),
        (&json!("00"), &json!(1))
    );
    // Without so much around them, all that the limit takes are there.
    let args = json!({"pattern": "needle", "limit": 2000});
    let found = ws.ok("grep", args).await;
    assert_eq!(found["count"], 2000);
    assert_eq!(found["notice"], "cut at limit 2000");
}
