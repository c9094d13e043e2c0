//! `apply_patch`.

use std::os::unix::fs::{PermissionsExt, symlink};

use encoding_rs::GBK;
use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Code, Role};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::support::Workspace;

fn envelope(body: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

#[tokio::test]
async fn an_envelope_changes_many_files_and_tells_each() {
    let ws = Workspace::new();
    ws.put("src/a.py", "def f():\n    return 1\n");
    ws.put("old.md", "# Old\ntext\n");
    ws.put("gone.txt", "1\n2\n3\n");
    let patched = ws
        .ok(
            "apply_patch",
            envelope(
                "*** Add File: new/deep.txt\n+one\n+two\n\
                 *** Update File: src/a.py\n@@ def f():\n-    return 1\n+    return 2\n+    # two\n\
                 *** Update File: old.md\n*** Move to: docs/new.md\n-# Old\n+# New\n text\n\
                 *** Delete File: gone.txt\n",
            ),
        )
        .await;
    assert_eq!(
        patched,
        json!({ "files": [
            { "path": "new/deep.txt", "action": "create", "additions": 2, "deletions": 0 },
            { "path": "src/a.py", "action": "update", "additions": 2, "deletions": 1 },
            { "path": "docs/new.md", "action": "rename", "additions": 1, "deletions": 1 },
            { "path": "gone.txt", "action": "delete", "additions": 0, "deletions": 3 },
        ]})
    );
    assert_eq!(ws.get("new/deep.txt"), b"one\ntwo\n");
    assert_eq!(ws.get("src/a.py"), b"def f():\n    return 2\n    # two\n");
    assert_eq!(ws.get("docs/new.md"), b"# New\ntext\n");
    assert!(!ws.path().join("gone.txt").exists());
    assert!(!ws.path().join("old.md").exists());
}

#[tokio::test]
async fn a_diff_of_git_is_applied_with_modes_and_names() {
    let ws = Workspace::new();
    ws.put("tool.sh", "echo a\n");
    ws.put("img.bin", [0_u8, 1, 2, 255]);
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(ws.path().join("tool.sh"), runs).unwrap();
    let patch = "diff --git a/tool.sh b/bin/tool.sh\nsimilarity index 50%\nrename from tool.sh\nrename to bin/tool.sh\n\
        --- a/tool.sh\n+++ b/bin/tool.sh\n@@ -1 +1,2 @@\n echo a\n+echo b\n\
        diff --git a/img.bin b/pic.bin\nsimilarity index 100%\nrename from img.bin\nrename to pic.bin\n\
        diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+#!/bin/sh\n\\ No newline at end of file\n";
    let patched = ws.ok("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(
        patched["files"],
        json!([
            { "path": "bin/tool.sh", "action": "rename", "additions": 1, "deletions": 0 },
            { "path": "pic.bin", "action": "rename", "additions": 0, "deletions": 0 },
            { "path": "run", "action": "create", "additions": 1, "deletions": 0 },
        ])
    );
    let mode = |path: &str| {
        let meta = std::fs::metadata(ws.path().join(path)).unwrap();
        meta.permissions().mode() & 0o111
    };
    assert_eq!(ws.get("bin/tool.sh"), b"echo a\necho b\n");
    assert_eq!(mode("bin/tool.sh"), 0o111);
    assert_eq!(ws.get("pic.bin"), [0_u8, 1, 2, 255]);
    assert_eq!(ws.get("run"), b"#!/bin/sh");
    assert_ne!(mode("run"), 0);
}

/// D07: only the lines that were named differ, whatever the file is written in.
#[tokio::test]
async fn encoding_mark_and_line_endings_stay() {
    let ws = Workspace::new();
    let gbk = |text: &str| GBK.encode(text).0.into_owned();
    ws.put("gbk.txt", gbk("第一行,内容\r\n第二行,内容\r\n"));
    ws.put("bom.txt", "\u{feff}one\r\ntwo\r\nthree");
    ws.ok(
        "apply_patch",
        envelope(
            "*** Update File: gbk.txt\n-第二行,内容\n+第二行,改了\n+第三行\n\
             *** Update File: bom.txt\n-one\n+1\n@@\n-three\n+3\n",
        ),
    )
    .await;
    assert_eq!(
        ws.get("gbk.txt"),
        gbk("第一行,内容\r\n第二行,改了\r\n第三行\r\n")
    );
    assert_eq!(ws.get("bom.txt"), "\u{feff}1\r\ntwo\r\n3".as_bytes());
}

/// All or nothing: each of these spoils a patch whose first half is good.
#[rstest]
#[case::no_such_lines("*** Update File: b.txt\n-nowhere\n+x\n", Code::Failed)]
#[case::in_two_places("*** Update File: b.txt\n-same\n+x\n", Code::Failed)]
#[case::no_such_file("*** Update File: none.txt\n-a\n+b\n", Code::NotFound)]
#[case::there_already("*** Add File: b.txt\n+x\n", Code::Conflict)]
#[case::there_already_by_rename("*** Update File: b.txt\n*** Move to: link\n", Code::NotPermitted)]
#[case::outside("*** Add File: ../out.txt\n+x\n", Code::NotPermitted)]
#[case::outside_by_rename(
    "*** Update File: b.txt\n*** Move to: /tmp/outfitter-patch\n",
    Code::NotPermitted
)]
#[case::metadata("*** Add File: .git/hooks/pre-commit\n+x\n", Code::NotPermitted)]
#[case::metadata_that_is_there("*** Update File: .git/config\n-a\n+b\n", Code::NotPermitted)]
#[case::metadata_to_delete("*** Delete File: .git/config\n", Code::NotPermitted)]
#[case::metadata_in_capitals("*** Add File: .GIT/config\n+b\n", Code::NotPermitted)]
#[case::metadata_by_rename(
    "*** Update File: b.txt\n*** Move to: sub/.Git/x\n",
    Code::NotPermitted
)]
#[case::through_a_link("*** Update File: link\n-good\n+x\n", Code::NotPermitted)]
#[case::a_link_to_delete("*** Delete File: link\n", Code::NotPermitted)]
#[case::beyond_a_link("*** Add File: out/f\n+x\n", Code::NotPermitted)]
#[case::beyond_a_link_to_delete("*** Delete File: out/secret\n", Code::NotPermitted)]
#[case::a_directory("*** Delete File: sub\n", Code::InvalidArguments)]
#[case::twice("*** Update File: a.txt\n+more\n", Code::InvalidArguments)]
#[case::binary("*** Update File: bin\n-a\n+b\n", Code::InvalidArguments)]
#[case::an_empty_path("*** Add File: \n+b\n", Code::InvalidArguments)]
#[tokio::test]
async fn a_patch_that_is_refused_changes_nothing(#[case] bad: &str, #[case] code: Code) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    let ws = Workspace::new();
    ws.put("a.txt", "good\n");
    ws.put("b.txt", "same\nother\nsame\n");
    ws.put("sub/f", "f");
    ws.put("bin", [0_u8, 1, 2, 3, 255, 0]);
    ws.put(".git/config", "a\n");
    symlink("a.txt", ws.path().join("link")).unwrap();
    symlink(outside.path(), ws.path().join("out")).unwrap();
    let good = "*** Add File: fresh/new.txt\n+x\n*** Update File: a.txt\n-good\n+better\n";
    let error = ws
        .refused("apply_patch", envelope(&format!("{good}{bad}")))
        .await;
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(error.info().path.as_deref(), Some("/patch"), "{error}");
    assert_eq!(ws.get("a.txt"), b"good\n");
    assert_eq!(ws.get("b.txt"), b"same\nother\nsame\n");
    assert_eq!(ws.get(".git/config"), b"a\n");
    assert!(!ws.path().join("fresh").exists());
    assert!(outside.path().join("secret").exists());
    let left = std::fs::read_dir(ws.path()).unwrap().count();
    assert_eq!(left, 7, "nothing in the making is left");
}

#[tokio::test]
async fn a_hunk_that_fits_twice_is_told_with_its_places() {
    let ws = Workspace::new();
    ws.put("f", "same\nother\nsame\n");
    let args = envelope("*** Update File: f\n-same\n+x\n");
    let error = ws.refused("apply_patch", args).await;
    insta::assert_json_snapshot!(error.info());
}

#[tokio::test]
async fn a_hunk_that_fits_nowhere_is_told_with_what_is_there() {
    let ws = Workspace::new();
    ws.put("f", "one\ntwo\nthree\n");
    let args = envelope("*** Update File: f\n one\n two\n-four\n+4\n");
    let error = ws.refused("apply_patch", args).await;
    insta::assert_json_snapshot!(error.info());
}

#[tokio::test]
async fn a_diff_that_deletes_must_know_the_whole_file() {
    let ws = Workspace::new();
    ws.put("f", "one\ntwo\n");
    let diff = |body: &str| json!({ "patch": format!("--- a/f\n+++ /dev/null\n{body}") });
    let error = ws
        .refused("apply_patch", diff("@@ -1 +0,0 @@\n-one\n"))
        .await;
    assert_eq!(error.code(), Code::Failed);
    assert_eq!(ws.get("f"), b"one\ntwo\n");
    let patched = ws
        .ok("apply_patch", diff("@@ -1,2 +0,0 @@\n-one\n-two\n"))
        .await;
    assert_eq!(patched["files"][0]["deletions"], 2);
    assert!(!ws.path().join("f").exists());
}

#[tokio::test]
async fn a_guest_patches_nothing() {
    let ws = Workspace::with(&BuiltinOptions::default(), Role::Guest);
    let error = ws
        .refused("apply_patch", envelope("*** Add File: f\n+x\n"))
        .await;
    assert_eq!(error.code(), Code::NotPermitted);
    assert!(!ws.path().join("f").exists());
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a\n", "b\n", "\n", "你好\n", "x\r\n", "- y\n", "+ z\n",
    ]);
    (
        prop::collection::vec(line, 0..12),
        prop::sample::select(vec!["", "end"]),
    )
        .prop_map(|(lines, end)| lines.concat() + end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Two files that were changed together become what they were changed to.
    #[test]
    fn diffs_of_two_files_make_the_ones_of_the_others(before in [text(), text()], after in [text(), text()]) {
        prop_assume!(before[0] != after[0] && before[1] != after[1]);
        let ws = Workspace::new();
        let mut patch = String::new();
        for (index, name) in ["f", "g"].into_iter().enumerate() {
            ws.put(name, &before[index]);
            let diff = TextDiff::from_lines(before[index].as_str(), after[index].as_str());
            let mut unified = diff.unified_diff();
            let (a, b) = (format!("a/{name}"), format!("b/{name}"));
            patch.push_str(&unified.missing_newline_hint(true).header(&a, &b).to_string());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let patched = runtime.block_on(ws.call("apply_patch", json!({ "patch": patch })));
        prop_assert!(patched.is_ok(), "{:?}\n{patch}", patched.err().map(outfitter_core::ToolError::into_info));
        prop_assert_eq!(ws.get("f"), after[0].as_bytes());
        prop_assert_eq!(ws.get("g"), after[1].as_bytes());
    }
}

#[tokio::test]
async fn a_file_that_a_patch_adds_could_not_be_changed_by_the_same_patch() {
    let ws = Workspace::new();
    let patched = ws
        .ok(
            "apply_patch",
            envelope(
                "*** Add File: a.txt\n+one\n+two\n\
                 *** Add File: b.txt\n+b\n\
                 *** Update File: a.txt\n@@\n-two\n+2\n+three\n\
                 *** Update File: b.txt\n*** Move to: c/b.txt\n-b\n+B\n",
            ),
        )
        .await;
    assert_eq!(
        patched,
        json!({ "files": [
            { "path": "a.txt", "action": "create", "additions": 3, "deletions": 0 },
            { "path": "c/b.txt", "action": "create", "additions": 1, "deletions": 0 },
        ]})
    );
    assert_eq!(ws.get("a.txt"), b"one\n2\nthree\n");
    assert_eq!(ws.get("c/b.txt"), b"B\n");
    assert!(!ws.path().join("b.txt").exists());
}

#[rstest]
#[case::a_command("apply_patch <<'EOF'\n", "EOF\n")]
#[case::a_fence("```patch\n", "```")]
#[tokio::test]
async fn a_wrapped_patch_was_refused(#[case] before: &str, #[case] after: &str) {
    let ws = Workspace::new();
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+EOF\n+```\n*** End Patch\n";
    let args = json!({ "patch": format!("{before}{patch}{after}") });
    ws.ok("apply_patch", args).await;
    assert_eq!(ws.get("a.txt"), b"EOF\n```\n");
}
