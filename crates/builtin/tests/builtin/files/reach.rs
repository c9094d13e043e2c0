//! Who reaches what.

use outfitter_builtin::{BuiltinOptions, FilesOptions};
use outfitter_core::{Code, Role};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::Workspace;

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
