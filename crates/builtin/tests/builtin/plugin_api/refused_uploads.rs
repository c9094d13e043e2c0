//! Files that are not sent, and what is said of them.

use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Code, Role, Targets};
use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;
use super::uploads::{form, of_files, parts, workspace};
use super::{call, document, offered, settings};
use crate::support::Workspace;

#[rstest]
#[case::gone("gone.png", Code::NotFound)]
#[case::absolute("/etc/hostname", Code::NotPermitted)]
#[case::above("../secret.txt", Code::NotPermitted)]
#[case::through_a_link("link.txt", Code::NotPermitted)]
#[case::below_a_link("out/hostname", Code::NotPermitted)]
#[case::a_directory("dir", Code::InvalidArguments)]
#[case::with_a_nul("a\0b", Code::InvalidArguments)]
#[tokio::test]
async fn what_no_file_tool_reads_was_sent_to_another_machine(
    #[case] path: &str,
    #[case] code: Code,
) {
    // Opened wide to administrators, and to nobody else.
    let mut options = BuiltinOptions::default();
    options.files.admin_open = true;
    let workspace = Workspace::with(&options, Role::Admin);
    workspace.put("ok.txt", "fine");
    workspace.put("dir/x", "x");
    std::os::unix::fs::symlink("/etc/hostname", workspace.path().join("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", workspace.path().join("out")).unwrap();
    let server = Server::json("{}");
    let tool = of_files(&server);
    let args = json!({ "album": "a", "files": ["ok.txt", path] });
    let error = call(&*tool, &workspace.cx, args).await.unwrap_err();
    assert_eq!(error.code(), code, "{:?}", error.info());
    assert_eq!(error.info().path.as_deref(), Some("/files/1"));
    assert_eq!(
        server.asked().len(),
        0,
        "nothing leaves before all was read"
    );
}

#[rstest]
#[case(".ssh/id_ed25519")]
#[case(".SSH/../.ssh/./id_ed25519")]
#[case(".aws/credentials")]
#[case("hard_link")]
#[tokio::test]
async fn a_hidden_file_of_credentials_is_not_sent(#[case] path: &str) {
    let workspace = Workspace::at_home(&BuiltinOptions::default(), Role::Admin);
    workspace.put(".ssh/id_ed25519", "secret");
    workspace.put(".aws/credentials", "secret");
    let linked = workspace.path().join("hard_link");
    std::fs::hard_link(workspace.path().join(".ssh/id_ed25519"), linked).unwrap();
    let server = Server::json("{}");
    let args = json!({ "album": "a", "files": [path] });
    let error = call(&*of_files(&server), &workspace.cx, args)
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotPermitted, "{:?}", error.info());
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn files_have_a_bound_together() {
    let workspace = workspace();
    let half = vec![7; (16 << 20) + 1];
    workspace.put("one", &half);
    workspace.put("two", &half);
    let huge = std::fs::File::create(workspace.path().join("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let server = Server::json("{}");
    let tool = of_files(&server);
    let of = async |files: Value| {
        let args = json!({ "album": "a", "files": files });
        call(&*tool, &workspace.cx, args).await
    };
    of(json!(["one"])).await.unwrap();
    assert_eq!(parts(&server.last())[0].bytes, half);
    for (files, at) in [
        (json!(["one", "two"]), "/files/1"),
        (json!(["huge"]), "/files/0"),
    ] {
        let error = of(files).await.unwrap_err();
        assert_eq!(error.code(), Code::TooLarge);
        assert_eq!(error.info().path.as_deref(), Some(at));
        assert!(error.info().message.contains("33554432"));
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn guests_have_no_files_to_send() {
    let server = Server::json("{}");
    let workspace = Workspace::with(&BuiltinOptions::default(), Role::Guest);
    workspace.put("ok.txt", "fine");
    let args = json!({ "album": "a", "files": ["ok.txt"] });
    let error = call(&*of_files(&server), &workspace.cx, args)
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotPermitted);
}

#[tokio::test]
async fn a_call_that_sends_files_reads_them() {
    let server = Server::json("{}");
    let tool = of_files(&server);
    let args = json!({ "album": "a", "files": ["x/../y", "art_1", "z"] });
    let facts = tool.facts(&args).unwrap();
    let paths = ["x/../y", "z"].map(str::to_owned).to_vec();
    assert_eq!(facts.targets, Targets::Reads(paths));
    let none = tool.facts(&json!({ "album": "a" })).unwrap();
    assert_eq!(none.targets, Targets::Arguments);
    assert!(facts.effects.has(outfitter_core::Effect::Read));
}

#[test]
fn what_cannot_be_written_of_a_form_is_said() {
    let properties = json!({
        "a": { "type": "string", "format": "binary" },
        "b": { "type": "object" },
        "c": { "type": "string", "format": "binary" },
    });
    let encoding = json!({
        "a": { "contentType": "not a type" },
        "b": { "contentType": "application/xml" },
        "c": { "headers": { "X-Sum": { "required": true, "schema": { "type": "string" } } } },
    });
    let text = json!({
        "openapi": "3.0.3",
        "servers": [{ "url": "https://a.invalid" }],
        "paths": { "/a": { "post": {
            "operationId": "add",
            "requestBody": { "content": form(&json!({ "properties": properties }), &encoding) },
        } } },
    });
    let (tools, faults) = offered(&settings("x", None), document(&text.to_string()));
    assert_eq!(tools.len(), 1);
    let whys: Vec<&str> = faults.iter().map(|fault| fault.why.as_str()).collect();
    assert_eq!(
        whys,
        [
            "its field \"a\": \"not a type\" is no media type",
            "its field \"b\": its part is an object and no JSON, and only JSON is written",
            "its field \"c\": its part needs the header \"X-Sum\", which is not written",
        ]
    );
}
