//! Pages and pictures, from real servers on this machine.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use outfitter_builtin::{
    AnalyzeImage, BuiltinOptions, FetchWebpages, Fetcher, FileAccess, WebOptions,
};
use outfitter_core::{
    Cancel, Code, Effects, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest,
    ModelStream, Outcome, OutcomeState, Part, Reply, Role, StopReason, Tool, ToolContext,
    ToolError,
};
use outfitter_net::OwnAddresses;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Shelf, Workspace, context};

/// Serves the same reply to everybody, until the test ends.
fn serve(reply: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let _gone = stream.write_all(&reply);
        }
    });
    address
}

pub(crate) fn reply(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let mut reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    reply.extend_from_slice(body);
    reply
}

pub(crate) fn page(content_type: &str, body: &[u8]) -> String {
    format!("http://{}/page", serve(reply("200 OK", content_type, body)))
}

pub(crate) fn open() -> WebOptions {
    WebOptions {
        block_private: false,
        ..WebOptions::default()
    }
}

pub(crate) fn reader() -> ToolContext {
    let mut cx = ToolContext::detached();
    cx.artifacts = Arc::new(Shelf::default());
    cx
}

pub(crate) async fn call(
    tool: &dyn Tool,
    cx: &ToolContext,
    args: Value,
) -> Result<Outcome, ToolError> {
    let input = jsonschema::validator_for(&tool.spec().input_schema).unwrap();
    assert!(input.is_valid(&args), "{args}");
    let reply = tokio::time::timeout(PATIENCE, tool.call(cx, args))
        .await
        .unwrap()?;
    let Reply::Done(outcome) = reply else {
        panic!("it does not wait");
    };
    let output = tool.spec().output_schema.clone().unwrap();
    jsonschema::validator_for(&output)
        .unwrap()
        .validate(&outcome.result)
        .unwrap();
    Ok(*outcome)
}

pub(crate) async fn fetch(options: &WebOptions, args: Value) -> Outcome {
    let tool = FetchWebpages::new(Arc::new(Fetcher::new(options, &OwnAddresses::default())));
    call(&tool, &reader(), args).await.unwrap()
}

pub(crate) async fn one(content_type: &str, body: &[u8], extra: Value) -> Value {
    let mut args = json!({ "urls": [page(content_type, body)] });
    args.as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    fetch(&open(), args).await.result["results"][0].clone()
}

const ARTICLE: &str = "<!doctype html><html><head><title> Tea &amp; water </title>\
    <style>p{color:red}</style><script>alert('</p>')</script></head><body>\
    <nav><a href='/'>Home</a></nav><h1>Tea</h1><p>Boil   <b>water</b>,\n then <a href='steep?x=1'>steep</a>.</p>\
    <ul><li>green<li>black</ul><ol><li>one</li><li>two</li></ol><pre>a  b\nc</pre>\
    <a href='javascript:alert(1)'>no link</a><img src=cup.png alt='a cup'><footer>All rights</footer></body></html>";

#[tokio::test]
async fn a_page_is_given_as_markdown() {
    let got = one("text/html; charset=utf-8", ARTICLE.as_bytes(), json!({})).await;
    let origin = got["final_url"]
        .as_str()
        .unwrap()
        .strip_suffix("/page")
        .unwrap();
    assert_eq!(got["status"], 200);
    assert_eq!(got["title"], "Tea & water");
    let content = got["content"].as_str().unwrap().replace(origin, "http://o");
    assert!(
        content.starts_with("# Tea\n\nBoil **water**, then [steep](http://o/steep?x=1)."),
        "{content}"
    );
    assert!(content.contains("- green\n- black"), "{content}");
    assert!(content.contains("1. one\n2. two"), "{content}");
    assert!(content.contains("```\na  b\nc\n```"), "{content}");
    assert!(
        content.contains("no link") && !content.contains("javascript"),
        "{content}"
    );
    assert!(content.contains("![a cup](http://o/cup.png)"), "{content}");
    for left_out in ["alert", "color", "Home", "rights"] {
        assert!(!content.contains(left_out), "{left_out}: {content}");
    }
    assert!(got.get("artifact").is_none() && got.get("error").is_none());
}

#[tokio::test]
async fn a_page_is_given_as_its_words_or_as_it_came() {
    let text = one("text/html", ARTICLE.as_bytes(), json!({"format": "text"})).await;
    let text = text["content"].as_str().unwrap();
    assert!(text.starts_with("Tea\n\nBoil water, then steep."), "{text}");
    assert!(!text.contains("http"), "{text}");
    let raw = one("text/html", ARTICLE.as_bytes(), json!({"format": "raw"})).await;
    assert_eq!(raw["content"], ARTICLE);
}

#[rstest]
#[case::json("application/json", br#"{"a": [1, 2]}"#, r#"{"a": [1, 2]}"#)]
#[case::text("text/plain", b"<b>not html</b>", "<b>not html</b>")]
#[case::gbk("text/plain; charset=gbk", b"\xc7\xe5\xbb\xaa", "清华")]
#[case::gbk_page("text/html", b"<meta charset=gbk><p>\xc7\xe5\xbb\xaa", "清华")]
#[case::empty("text/html", b"", "")]
#[tokio::test]
async fn text_is_read_as_what_it_is(
    #[case] content_type: &str,
    #[case] body: &[u8],
    #[case] content: &str,
) {
    assert_eq!(one(content_type, body, json!({})).await["content"], content);
}

#[tokio::test]
async fn what_is_no_text_is_described_and_kept() {
    let got = one("text/html", b"%PDF-1.7\n\0\x01\x02", json!({})).await;
    assert_eq!(
        got["content"],
        "[no text: application/pdf, 12 bytes; it is kept as the artifact art_1]"
    );
    assert_eq!(got["artifact"], "art_1");
}

#[tokio::test]
async fn a_page_that_is_longer_than_asked_for_is_kept_whole() {
    let words = "清".repeat(500);
    let got = one(
        "text/plain; charset=utf-8",
        words.as_bytes(),
        json!({"max_chars": 100}),
    )
    .await;
    let expected = format!(
        "{}\n[400 more characters are in the artifact art_1]",
        "清".repeat(100)
    );
    assert_eq!(got["content"], expected);
    assert_eq!(got["artifact"], "art_1");
}

#[tokio::test]
async fn a_page_over_the_bound_of_bytes_is_cut_and_says_so() {
    let options = WebOptions {
        max_bytes: 1024,
        ..open()
    };
    let url = page("text/plain", &[b'a'; 5000]);
    let got = fetch(&options, json!({"urls": [url]})).await;
    let content = got.result["results"][0]["content"].as_str().unwrap();
    assert!(
        content.ends_with("a\n[only the first 1024 bytes of the page were read: [web] max_bytes]")
    );
}

#[tokio::test]
async fn one_page_that_fails_does_not_lose_the_others() {
    let good = page("text/plain", b"here");
    let gone = format!(
        "http://{}/x",
        serve(reply("404 Not Found", "text/plain", b"no such page"))
    );
    let urls = json!([good, "ftp://a/b", "http://me:pw@a/", "nonsense", gone]);
    let got = fetch(&open(), json!({"urls": urls})).await;
    assert_eq!(got.state, OutcomeState::Partial);
    assert!(got.failed.is_none());
    let results = got.result["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    assert_eq!(results[0]["content"], "here");
    for bad in &results[1..4] {
        assert_eq!(bad["error"]["code"], "invalid_arguments", "{bad}");
    }
    assert_eq!(results[4]["status"], 404);
    assert_eq!(results[4]["content"], "no such page");
    assert_eq!(results[4]["error"]["code"], "not_found");
}

#[rstest]
#[case("http://127.0.0.1:1/")]
#[case("http://localhost:1/")]
#[case("http://169.254.169.254/latest/meta-data")]
#[case("http://[::ffff:10.0.0.1]/")]
#[tokio::test]
async fn private_addresses_are_refused_where_nothing_else_is_said(#[case] url: &str) {
    let got = fetch(&WebOptions::default(), json!({"urls": [url]})).await;
    assert_eq!(got.failed.unwrap().code, Code::NotPermitted);
    assert_eq!(got.result["results"][0]["error"]["code"], "not_permitted");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let got = fetch(&open(), json!({"urls": [url], "timeout_seconds": 1})).await;
    assert_eq!(got.failed.unwrap().code, Code::Timeout);
}

#[tokio::test]
async fn pages_that_nest_for_ever_are_read() {
    for piece in [
        "<div>",
        "<b a=1>",
        "<table><td>",
        "<a href=x>",
        "<ul><li>",
        "<svg>",
        "<!--",
        "</p>",
        "<p><i>",
    ] {
        let mut body = piece.repeat(200_000);
        body.push_str("<p>end");
        let got = one("text/html", body.as_bytes(), json!({})).await;
        assert_eq!(got["status"], 200, "{piece}");
        assert!(got.get("error").is_none(), "{piece}");
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x02\0\0\0\x03\x08\x06\0\0\0";

#[tokio::test]
async fn a_picture_is_known_by_its_bytes_also_where_nobody_can_see_it() {
    let workspace = Workspace::new();
    workspace.put("a.jpg", PNG);
    let got = workspace
        .tools
        .call("analyze_image", &workspace.cx, json!({"image": "a.jpg"}))
        .await
        .unwrap();
    assert_eq!(
        got.result,
        json!({"mime": "image/png", "width": 258, "height": 3})
    );
    assert_eq!(got.failed.unwrap().code, Code::Unavailable);
}

#[tokio::test]
async fn a_picture_is_fetched_and_one_that_is_none_is_refused() {
    let access = FileAccess::new(&BuiltinOptions::default().files);
    let tool = AnalyzeImage::new(
        access,
        Some(Arc::new(Fetcher::new(&open(), &OwnAddresses::default()))),
    );
    let cx = context(ToolContext::detached().sandbox, Role::User);
    let got = call(&tool, &cx, json!({"image": page("text/html", PNG)}))
        .await
        .unwrap();
    assert_eq!(got.result["width"], 258);
    let error = call(&tool, &cx, json!({"image": page("image/png", b"<svg/>")}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    let error = call(&tool, &cx, json!({"image": "art_none"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let local = tool.facts(&json!({"image": "a.png"})).unwrap();
    assert_eq!(local.effects, Effects::READ);
    let remote = tool.facts(&json!({"image": "https://a/b.png"})).unwrap();
    assert!(!remote.effects.read_only());
}

/// A model that can see, and says what it was shown.
struct Seer(ModelInfo);

#[async_trait]
impl ModelProvider for Seer {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, request: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        let [Part::Image { mime, .. }, Part::Text { text }] = &request.messages[0].parts[..] else {
            panic!("a picture and a question: {request:?}");
        };
        let said = format!("{mime}: {text}");
        let deltas = [
            ModelDelta::Reasoning("hm".into()),
            ModelDelta::Text(said),
            ModelDelta::Stopped(StopReason::End),
        ];
        Ok(Box::pin(futures_util::stream::iter(deltas.map(Ok))))
    }
}

#[rstest]
#[case::sees(PNG.to_vec(), true, Ok("image/png: How many?"))]
#[case::blind(PNG.to_vec(), false, Err(Code::Unavailable))]
#[case::huge([&PNG[..16], &[0x7f, 0xff, 0xff, 0xff][..], &PNG[20..]].concat(), true, Err(Code::TooLarge))]
#[tokio::test]
async fn a_picture_is_described_by_a_model_that_can_see(
    #[case] bytes: Vec<u8>,
    #[case] vision: bool,
    #[case] expected: Result<&str, Code>,
) {
    let mut workspace = Workspace::new();
    workspace.put("a.png", bytes);
    let model: Arc<dyn ModelProvider> = Arc::new(Seer(ModelInfo {
        provider: "test".into(),
        name: "seer".into(),
        vision,
        context_tokens: None,
    }));
    workspace.cx.services = workspace.cx.services.clone().with(model);
    let args = json!({"image": "a.png", "prompt": "How many?"});
    let got = workspace
        .tools
        .call("analyze_image", &workspace.cx, args)
        .await
        .unwrap();
    match expected {
        Ok(description) => assert_eq!(got.result["description"], description),
        Err(code) => {
            assert!(got.result.get("description").is_none());
            assert_eq!(got.failed.unwrap().code, code);
        }
    }
}

#[test]
fn without_the_web_nothing_is_fetched() {
    let names = |enabled| {
        let web = WebOptions {
            enabled,
            timeout: std::time::Duration::from_secs(7),
            ..WebOptions::default()
        };
        let options = BuiltinOptions {
            web,
            ..BuiltinOptions::default()
        };
        outfitter_builtin::builtin_tools(&options)
    };
    let there = names(true);
    let fetch = there
        .iter()
        .find(|tool| tool.spec().name.as_str() == "fetch_webpages");
    let schema = &fetch.unwrap().spec().input_schema;
    assert_eq!(schema["properties"]["timeout_seconds"]["default"], 7);
    assert!(
        names(false)
            .iter()
            .all(|tool| tool.spec().name.as_str() != "fetch_webpages")
    );
}

#[tokio::test]
async fn a_server_is_told_the_name_that_is_configured() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        stream
            .write_all(&reply("200 OK", "text/plain", b"x"))
            .unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    let options = WebOptions {
        user_agent: Some("tea-reader/1".to_owned()),
        ..open()
    };
    fetch(&options, json!({"urls": [url]})).await;
    assert!(
        heard
            .join()
            .unwrap()
            .contains("user-agent: tea-reader/1\r\n")
    );
}
