//! What is no ordinary file, and names that are none: each tool says the same of each, at once, and
//! nothing changes.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use outfitter_core::Code;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::Workspace;

/// Calls of every tool that takes a path, on this one.
fn calls_on(path: &str) -> Vec<(&'static str, &'static str, Value)> {
    let patch =
        |body: String| json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch\n") });
    let write = |mode: &str| json!({"path": path, "content": "x\n", "mode": mode});
    vec![
        ("file_read", "", json!({ "path": path })),
        ("file_write", "over", write("overwrite")),
        ("file_write", "append", write("append")),
        ("file_write", "create", write("create")),
        (
            "file_update",
            "",
            json!({"path": path, "operations": [{"kind": "replace", "old": "one", "new": "1"}]}),
        ),
        (
            "apply_patch",
            "add",
            patch(format!("*** Add File: {path}\n+x")),
        ),
        (
            "apply_patch",
            "update",
            patch(format!("*** Update File: {path}\n-one\n+1")),
        ),
        (
            "apply_patch",
            "delete",
            patch(format!("*** Delete File: {path}")),
        ),
        (
            "apply_patch",
            "move",
            patch(format!(
                "*** Update File: {path}\n*** Move to: moved\n-one\n+1"
            )),
        ),
        (
            "apply_patch",
            "move to",
            patch(format!(
                "*** Update File: a.txt\n*** Move to: {path}\n-one\n+1"
            )),
        ),
        ("list_dir", "", json!({ "path": path })),
        ("glob", "", json!({"path": path, "pattern": "**"})),
        ("grep", "", json!({"path": path, "pattern": "one"})),
        ("analyze_image", "", json!({ "image": path })),
    ]
}

fn workspace() -> (Workspace, UnixListener) {
    let ws = Workspace::new();
    ws.put("a.txt", "one\n");
    ws.put("dir/b.txt", "one\n");
    let fifo = ws.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).unwrap();
    for (name, to) in [
        ("to-pipe", "pipe"),
        ("to-file", "a.txt"),
        ("dangling", "nowhere"),
        ("round", "round"),
    ] {
        symlink(to, ws.path().join(name)).unwrap();
    }
    let socket = UnixListener::bind(ws.path().join("socket")).unwrap();
    // A hole: it takes no room.
    let huge = std::fs::File::create(ws.path().join("huge.log")).unwrap();
    huge.set_len((16 << 20) + 1).unwrap();
    (ws, socket)
}

/// Every name below, with what it leads to or has.
fn all_of(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is = std::fs::symlink_metadata(&path).unwrap();
        let what = if is.is_symlink() {
            format!("{:?}", std::fs::read_link(&path).unwrap())
        } else if is.is_file() && is.len() < 100 {
            std::fs::read_to_string(&path).unwrap()
        } else {
            format!("{:?} {}", is.file_type(), is.len())
        };
        found.push(format!("{}: {what}", path.display()));
        if is.is_dir() {
            found.extend(all_of(&path));
        }
    }
    found.sort();
    found
}

#[rstest]
#[case::a_pipe("pipe")]
#[case::a_socket("socket")]
#[case::a_link_to_a_pipe("to-pipe")]
#[case::a_link_to_a_file("to-file")]
#[case::a_link_to_nothing("dangling")]
#[case::a_link_to_itself("round")]
#[case::a_directory("dir")]
#[case::a_directory_that_is_to_be_one("missing/")]
#[case::through_a_file("a.txt/x")]
#[case::nothing("missing")]
#[case::too_large_to_change("huge.log")]
#[case::the_workspace(".")]
#[tokio::test]
async fn each_tool_says_what_a_name_stands_for(#[case] path: &str) {
    let mut said = String::new();
    for (tool, how, args) in calls_on(path) {
        // What is there may be made, changed and removed; the others find it as it was.
        let (ws, _socket) = workspace();
        let before = all_of(ws.path());
        let outcome = ws.call(tool, args).await;
        match &outcome {
            Ok(_) => writeln!(said, "{tool} {how}: done"),
            Err(error) => {
                assert_eq!(all_of(ws.path()), before, "{tool} {how} changed something");
                let info = error.info();
                let at = info.path.as_deref().unwrap_or("");
                writeln!(said, "{tool} {how}: {} {at}: {}", info.code, info.message)
            }
        }
        .unwrap();
    }
    let name = path.replace(['/', '.'], "_");
    insta::assert_snapshot!(format!("odd_{name}"), said);
}

#[rstest]
#[case::one_name("x".repeat(256))]
#[case::in_a_directory(format!("dir/{}/y", "é".repeat(128)))]
#[tokio::test]
async fn a_name_that_no_file_can_have_is_an_argument_that_is_none(#[case] path: String) {
    let (ws, _socket) = workspace();
    let before = all_of(ws.path());
    for (tool, how, args) in calls_on(&path) {
        let error = ws.refused(tool, args).await;
        assert!(
            matches!(error.code(), Code::InvalidArguments | Code::NotFound),
            "{tool} {how}: {error}"
        );
    }
    assert_eq!(all_of(ws.path()), before);
}

/// 255 bytes are the most that a name may have here.
#[tokio::test]
async fn the_longest_name_is_one_for_every_tool() {
    let (ws, _socket) = workspace();
    let name = "é".repeat(127) + "x";
    ws.ok("file_write", json!({"path": name, "content": "one\n"}))
        .await;
    for (tool, how, args) in calls_on(&name) {
        if how == "delete" || how == "move" || tool == "analyze_image" {
            continue;
        }
        let outcome = ws.call(tool, args).await;
        let error = outcome.err().map(|error| error.to_string());
        let expected = match (tool, how) {
            ("file_write", "create") | ("apply_patch", "add" | "move to") => Some("exists already"),
            ("list_dir" | "glob", _) => Some("not a directory"),
            // What was written over it has other words.
            ("file_update" | "apply_patch", _) => Some("not"),
            _ => None,
        };
        match (error, expected) {
            (None, None) => {}
            (Some(error), Some(words)) => assert!(error.contains(words), "{tool} {how}: {error}"),
            (error, _) => panic!("{tool} {how}: {error:?}"),
        }
    }
    let found = ws.ok("glob", json!({"pattern": "é*"})).await;
    assert_eq!(found["files"], json!([name]));
}

#[rstest]
#[case(".git/config")]
#[case(".GIT/config")]
#[case("./dir/../.git/config")]
#[case("hidden/config")]
#[tokio::test]
async fn d09_no_tool_writes_what_git_runs(#[case] path: &str) {
    let (ws, _socket) = workspace();
    ws.put(".git/HEAD", "ref: refs/heads/main\n");
    ws.put(".git/config", "one\n");
    symlink(".git", ws.path().join("hidden")).unwrap();
    let before = all_of(ws.path());
    for (tool, how, args) in calls_on(path) {
        if matches!(
            tool,
            "file_read" | "grep" | "list_dir" | "glob" | "analyze_image"
        ) {
            continue;
        }
        let error = ws.refused(tool, args).await;
        let known = [Code::NotPermitted, Code::NotFound];
        assert!(known.contains(&error.code()), "{tool} {how}: {error}");
        assert_eq!(all_of(ws.path()), before, "{tool} {how}");
    }
}

/// D01: a link in the workspace that leads out of it.
#[tokio::test]
async fn d01_no_tool_follows_a_link_that_leads_outside() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("f"), "one\n").unwrap();
    let (ws, _socket) = workspace();
    symlink(outside.path(), ws.path().join("out")).unwrap();
    symlink(outside.path().join("f"), ws.path().join("to-f")).unwrap();
    symlink(outside.path().join("new"), ws.path().join("to-new")).unwrap();
    let before = (all_of(ws.path()), all_of(outside.path()));
    for path in ["out/f", "out/new", "out", "to-f", "to-new", "to-new/x"] {
        for (tool, how, args) in calls_on(path) {
            let error = ws.refused(tool, args).await;
            assert_eq!(
                error.code(),
                Code::NotPermitted,
                "{path} {tool} {how}: {error}"
            );
            let now = (all_of(ws.path()), all_of(outside.path()));
            assert_eq!(now, before, "{path} {tool} {how}");
        }
    }
    for args in [
        json!({"pattern": "out/**"}),
        json!({"pattern": "to-f"}),
        json!({"pattern": "**/f"}),
    ] {
        let found = ws.call("glob", args.clone()).await;
        assert!(found.map_or(true, |found| found["count"] == 0), "{args}");
    }
    let found = ws
        .ok("grep", json!({"pattern": "one", "glob": "out/**"}))
        .await;
    assert_eq!(found["count"], 0);
}
