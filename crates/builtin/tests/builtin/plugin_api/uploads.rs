//! Files in the bodies of requests: what is sent of them, and which are not.

use std::sync::Arc;

use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Bytes, Code, NewArtifact, Role, Scope, Targets, Tool, ToolContext};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::server::{Asked, Server};
use super::{call, document, offered, settings, tool};
use crate::support::{Shelf, Workspace};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\xff\xfe--";

/// A part, as a server reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    name: String,
    file: Option<String>,
    kind: Option<String>,
    pub(super) bytes: Vec<u8>,
}

fn part(name: &str, file: Option<&str>, kind: Option<&str>, bytes: impl AsRef<[u8]>) -> Part {
    Part {
        name: name.to_owned(),
        file: file.map(str::to_owned),
        kind: kind.map(str::to_owned),
        bytes: bytes.as_ref().to_owned(),
    }
}

/// Reads a body by RFC 7578 alone: delimiters on lines of their own, names in quotes.
pub(super) fn parts(asked: &Asked) -> Vec<Part> {
    let kind = asked.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    // RFC 2046, 5.1.1.
    assert!((1..=70).contains(&boundary.len()), "{boundary}");
    let find = |text: &[u8], what: &[u8]| text.windows(what.len()).position(|at| at == what);
    let delimiter = format!("\r\n--{boundary}");
    let mut rest = asked.bytes.as_slice();
    rest = rest.strip_prefix(&delimiter.as_bytes()[2..]).unwrap();
    let mut parts = Vec::new();
    while rest != b"--\r\n" {
        rest = rest.strip_prefix(b"\r\n").unwrap();
        let head = find(rest, b"\r\n\r\n").unwrap();
        let lines = std::str::from_utf8(&rest[..head]).unwrap().split("\r\n");
        rest = &rest[head + 4..];
        let end = find(rest, delimiter.as_bytes()).unwrap();
        let mut read = part("", None, None, &rest[..end]);
        rest = &rest[end + delimiter.len()..];
        for line in lines {
            let (header, value) = line.split_once(": ").unwrap();
            match header {
                "Content-Type" => read.kind = Some(value.to_owned()),
                "Content-Disposition" => {
                    let value = value.strip_prefix("form-data; name=\"").unwrap();
                    let value = value.strip_suffix('"').unwrap();
                    // A name may begin with what stands between two.
                    let both = value.split_once("\"; filename=\"");
                    let (name, file) =
                        both.map_or((value, None), |(name, file)| (name, Some(file)));
                    assert!(
                        !name.contains('"') && !file.unwrap_or_default().contains('"'),
                        "{line}"
                    );
                    read.name = unescaped(name);
                    read.file = file.map(unescaped);
                }
                other => panic!("{other}"),
            }
        }
        parts.push(read);
    }
    parts
}

fn unescaped(text: &str) -> String {
    text.replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0A", "\n")
}

/// The tool of one operation with this body.
fn of_body(server: &Server, version: &str, content: &Value) -> Arc<dyn Tool> {
    let text = json!({
        "openapi": version,
        "paths": { "/albums/{album}": { "post": {
            "operationId": "add",
            "parameters": [
                { "name": "album", "in": "path", "required": true, "schema": { "type": "string" } },
            ],
            "requestBody": { "required": true, "content": content },
        } } },
    });
    let settings = settings("photos", Some(&server.url("")));
    let (tools, faults) = offered(&settings, document(&text.to_string()));
    assert_eq!(faults, []);
    tool(&tools, "call_photos_add")
}

pub(super) fn form(schema: &Value, encoding: &Value) -> Value {
    json!({ "multipart/form-data": { "schema": schema, "encoding": encoding } })
}

pub(super) fn workspace() -> Workspace {
    let mut workspace = Workspace::with(&BuiltinOptions::default(), Role::Admin);
    workspace.cx.artifacts = Arc::new(Shelf::default());
    workspace
}

fn photo(version: &str) -> Value {
    match version {
        "3.0.3" => json!({ "type": "string", "format": "binary", "description": "It." }),
        _ => json!({ "description": "It." }),
    }
}

#[rstest]
#[case::older("3.0.3")]
#[case::newer("3.1.0")]
#[tokio::test]
async fn a_form_has_the_bytes_of_files_with_their_names_and_types(#[case] version: &str) {
    let server = Server::json("{}");
    let schema = json!({
        "type": "object",
        "required": ["photo"],
        "properties": {
            "photo": photo(version),
            "more": { "type": "array", "items": photo(version), "minItems": 1 },
            "place": { "type": "object", "properties": { "x": { "type": "number" } } },
            "tags": { "type": "array", "items": { "type": "string" } },
            "title": { "type": "string" },
        },
    });
    let tool = of_body(&server, version, &form(&schema, &json!({})));
    let given = &tool.spec().input_schema["properties"];
    assert_eq!(given["photo"]["type"], "string");
    let said = given["photo"]["description"].as_str().unwrap();
    assert!(said.starts_with("It.\nA file: its path"), "{said}");
    assert_eq!(given["more"]["items"]["type"], "string");
    assert_eq!(given["more"]["minItems"], 1);

    let workspace = workspace();
    workspace.put("a/Tässe \"1\".PNG", PNG);
    workspace.put("b.csv", "x\r\n--y\n");
    workspace.put("empty", "");
    workspace.put("line\r\nX-Evil: 1\r\n\r\n", "z");
    let args = json!({
        "album": "a b",
        "photo": "a/Tässe \"1\".PNG",
        "more": ["./b.csv", "empty", "line\r\nX-Evil: 1\r\n\r\n"],
        "place": { "x": 1.5 },
        "tags": ["u", "v"],
        "title": "t\"\r\nn",
    });
    call(&*tool, &workspace.cx, args).await.unwrap();
    let asked = server.last();
    assert_eq!(asked.line, "POST /albums/a%20b HTTP/1.1");
    let text = Some("text/plain");
    let expected = [
        part("photo", Some("Tässe \"1\".PNG"), Some("image/png"), PNG),
        part("more", Some("b.csv"), Some("text/csv"), "x\r\n--y\n"),
        part("more", Some("empty"), text, ""),
        part("more", Some("line\r\nX-Evil: 1\r\n\r\n"), text, "z"),
        part("place", None, Some("application/json"), r#"{"x":1.5}"#),
        part("tags", None, None, "u"),
        part("tags", None, None, "v"),
        part("title", None, None, "t\"\r\nn"),
    ];
    assert_eq!(parts(&asked), expected);
}

/// What frameworks write of a file that need not be there.
#[rstest]
#[case(json!({ "anyOf": [{ "type": "string", "format": "binary" }, { "type": "null" }] }))]
#[case(json!({ "type": ["string", "null"], "contentMediaType": "application/octet-stream" }))]
#[case(json!({ "oneOf": [{ "allOf": [{ "format": "binary" }] }] }))]
#[case(json!(true))]
#[tokio::test]
async fn a_file_or_null_is_a_file(#[case] schema: Value) {
    let server = Server::json("{}");
    let schema = json!({ "type": "object", "properties": { "photo": schema } });
    let tool = of_body(&server, "3.1.0", &form(&schema, &json!({})));
    let workspace = workspace();
    workspace.put("p.png", PNG);
    let args = json!({ "album": "a", "photo": "p.png" });
    call(&*tool, &workspace.cx, args).await.unwrap();
    let parts = parts(&server.last());
    assert_eq!(parts[0].bytes, PNG);
    assert_eq!(parts[0].file.as_deref(), Some("p.png"));
}

#[tokio::test]
async fn a_part_is_what_its_encoding_says() {
    let server = Server::json("{}");
    let schema = json!({
        "type": "object",
        "properties": {
            "photo": { "type": "string" },
            "icon": { "contentMediaType": "image/png", "contentEncoding": "base64" },
            "data": { "type": "object" },
            "one": { "type": "array", "items": { "type": "string" } },
            "each": { "type": "object" },
        },
    });
    let encoding = json!({
        "photo": { "contentType": "image/jpeg, image/png" },
        "data": { "contentType": "application/vnd.a+json" },
        "one": { "style": "pipeDelimited", "explode": false },
        "each": { "style": "form" },
    });
    let tool = of_body(&server, "3.1.0", &form(&schema, &encoding));
    let workspace = workspace();
    workspace.put("p", PNG);
    workspace.put("note.txt", "words");
    let args = json!({
        "album": "a", "photo": "p", "icon": "p", "data": { "b": 1 }, "one": ["x y", "z"],
        "each": { "k": "v w" },
    });
    call(&*tool, &workspace.cx, args).await.unwrap();
    let expected = [
        part("photo", Some("p"), Some("image/png"), PNG),
        part(
            "icon",
            Some("p"),
            Some("image/png"),
            "iVBORw0KGgoAAAANSUhEUgD//i0t",
        ),
        part("data", None, Some("application/vnd.a+json"), r#"{"b":1}"#),
        part("one", None, None, "x y|z"),
        part("k", None, None, "v w"),
    ];
    let mut got = parts(&server.last());
    got.sort_by_key(|part| expected.iter().position(|one| one.name == part.name));
    assert_eq!(got, expected);
    // One that it does not take is not sent.
    let args = json!({ "album": "a", "photo": "note.txt" });
    let error = call(&*tool, &workspace.cx, args).await.unwrap_err();
    let info = error.info();
    assert_eq!(info.code, Code::InvalidArguments);
    assert_eq!(info.path.as_deref(), Some("/photo"));
    assert!(
        info.message.contains("takes image/jpeg, image/png"),
        "{}",
        info.message
    );
    assert_eq!(server.asked().len(), 1);
}

#[rstest]
#[case::bytes("3.0.3", json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } }), "image/png", PNG)]
#[case::without_a_schema("3.0.3", json!({ "application/octet-stream": {} }), "image/png", PNG)]
#[case::with_an_empty_one("3.0.3", json!({ "application/vnd.shape": { "schema": {} } }), "application/vnd.shape", PNG)]
#[case::a_picture("3.1.0", json!({ "image/*": {} }), "image/png", PNG)]
#[case::one_of("3.1.0", json!({ "image/jpeg": {}, "image/png": {} }), "image/png", PNG)]
#[case::whatever("3.0.3", json!({ "*/*": { "schema": { "format": "binary" } } }), "image/png", PNG)]
#[case::as_text("3.1.0", json!({ "image/png": { "schema": { "contentMediaType": "image/png", "contentEncoding": "base64" } } }),
    "image/png", b"iVBORw0KGgoAAAANSUhEUgD//i0t")]
#[tokio::test]
async fn a_body_is_a_file(
    #[case] version: &str,
    #[case] content: Value,
    #[case] kind: &str,
    #[case] bytes: &[u8],
) {
    let server = Server::json("{}");
    let tool = of_body(&server, version, &content);
    let workspace = workspace();
    workspace.put("p.png", PNG);
    let args = json!({ "album": "a", "file": "p.png" });
    call(&*tool, &workspace.cx, args).await.unwrap();
    let asked = server.last();
    let kind = match content.get("application/octet-stream") {
        Some(_) => "application/octet-stream",
        None => kind,
    };
    assert_eq!(asked.header("content-type"), Some(kind));
    assert_eq!(asked.bytes, bytes);
}

/// It was sent, and said to be what it is not.
#[rstest]
#[case(json!({ "image/png": {} }))]
#[case(json!({ "image/png": {}, "image/jpeg": {} }))]
#[tokio::test]
async fn a_text_was_sent_as_the_one_picture_that_an_api_takes(#[case] content: Value) {
    let server = Server::json("{}");
    let tool = of_body(&server, "3.1.0", &content);
    let workspace = workspace();
    workspace.put("a.txt", "words");
    let args = json!({ "album": "a", "file": "a.txt" });
    let error = call(&*tool, &workspace.cx, args).await.unwrap_err();
    let info = error.info();
    assert_eq!(info.code, Code::InvalidArguments);
    assert_eq!(info.path.as_deref(), Some("/file"));
    let says = "\"a.txt\" is text/plain, and the API takes image/";
    assert!(info.message.contains(says), "{}", info.message);
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn an_artifact_is_sent_by_its_id() {
    let server = Server::json("{}");
    let tool = of_body(&server, "3.1.0", &json!({ "image/*": {}, "audio/*": {} }));
    let workspace = workspace();
    let cx = &workspace.cx;
    let scope = Scope::from(&*cx.who);
    let new = NewArtifact {
        mime: "audio/aac".to_owned(),
        name: "reply".to_owned(),
    };
    let id = cx.artifacts.create(&scope, &cx.session, new).await.unwrap();
    let bytes = Bytes::from_static(b"\xff\xf1\0");
    let kept = cx.artifacts.append(&scope, &cx.session, &id, bytes);
    kept.await.unwrap();
    let args = json!({ "album": "a", "file": id.as_str() });
    assert_eq!(tool.facts(&args).unwrap().targets, Targets::Arguments);
    call(&*tool, cx, args).await.unwrap();
    assert_eq!(server.last().header("content-type"), Some("audio/aac"));
    assert_eq!(server.last().bytes, b"\xff\xf1\0");
    let gone = json!({ "album": "a", "file": "art_9" });
    let error = call(&*tool, cx, gone).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert_eq!(error.info().path.as_deref(), Some("/file"));
}

/// The tool of a form with one list of files, and a server that shall not be asked.
pub(super) fn of_files(server: &Server) -> Arc<dyn Tool> {
    let files = json!({ "type": "array", "items": { "type": "string", "format": "binary" } });
    let schema = json!({ "type": "object", "properties": { "files": files } });
    of_body(server, "3.0.3", &form(&schema, &json!({})))
}

/// A redirect that keeps what was asked sends all of it again.
#[tokio::test]
async fn files_are_sent_again_where_the_server_says_so() {
    let server = Server::new(|asked| {
        let once = asked.line.contains("/albums/a ");
        Some(match once {
            true => super::server::with("307 Temporary", &[("location", "/other")], b""),
            false => super::server::reply("200 OK", "application/json", b"{}"),
        })
    });
    let workspace = workspace();
    workspace.put("p.png", PNG);
    let args = json!({ "album": "a", "files": ["p.png"] });
    call(&*of_files(&server), &workspace.cx, args)
        .await
        .unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(parts(&asked[0]), parts(&asked[1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_and_any_name_arrive_as_they_are(
        name in "[a-zA-Z0-9 äß茶\"\\\\;=\r\n%-]{1,20}",
        content in proptest::collection::vec(any::<u8>(), 0..3000),
        title in "[ -~\r\n\"]{0,40}",
    ) {
        prop_assume!(name != "." && name != ".." && !name.contains("%22") && !name.contains("%0"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::json("{}");
            let schema = json!({ "properties": {
                "f": { "type": "string", "format": "binary" }, "title": { "type": "string" },
            } });
            let tool = of_body(&server, "3.0.3", &form(&schema, &json!({})));
            let workspace = workspace();
            workspace.put(&name, &content);
            let args = json!({ "album": "a", "f": format!("./{name}"), "title": title });
            let cx: &ToolContext = &workspace.cx;
            call(&*tool, cx, args).await.unwrap();
            let got = parts(&server.last());
            assert_eq!(got.len(), 2);
            assert_eq!((got[0].file.as_deref(), &got[0].bytes), (Some(&*name), &content));
            assert_eq!(got[1], part("title", None, None, title));
        });
    }
}
