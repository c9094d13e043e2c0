//! Who may call at all: names, pages, kinds and sizes of bodies, tokens.

use rstest::rstest;
use serde_json::{Value, json};

use crate::client::{Ask, get, post};
use crate::harness::World;

#[rstest]
#[case("localhost", 200)]
#[case("LOCALHOST:1234", 200)]
#[case("127.0.0.1:8470", 200)]
#[case("127.8.9.1", 200)]
#[case("[::1]:8470", 200)]
#[case("api.example.org", 200)]
#[case("evil.example", 403)]
#[case("localhost.evil.example", 403)]
#[case("127.0.0.1.evil.example", 403)]
#[case("user@localhost", 403)]
#[case("localhost/x", 403)]
#[case("0.0.0.0:8470", 403)]
#[case("169.254.169.254", 403)]
#[tokio::test]
async fn only_names_of_this_machine_lead_here(#[case] host: &str, #[case] status: u16) {
    let mut world = World::new();
    world.config.allowed_origins = vec!["https://api.example.org".to_owned()];
    let served = world.serve().await;
    for path in ["/healthz", "/v1/sessions"] {
        let answer = get(path).header("host", host).send(served.at).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    served.stop().await;
}

#[rstest]
#[case("http://localhost:3000", true)]
#[case("https://127.0.0.1", true)]
#[case("https://app.example.org", true)]
#[case("https://app.example.org:444", false)]
#[case("http://app.example.org", false)]
#[case("https://evil.example", false)]
#[case("null", false)]
#[case("file://", false)]
#[tokio::test]
async fn only_pages_of_this_machine_and_of_allowed_origins_may_call(
    #[case] origin: &str,
    #[case] may: bool,
) {
    let mut world = World::new();
    world.config.allowed_origins = vec!["https://app.example.org".to_owned()];
    let served = world.serve().await;
    let body = json!({ "session_id": "a", "input": "hi" });
    let answer = post("/v1/runs", &body)
        .header("origin", origin)
        .send(served.at)
        .await;
    let preflight = Ask::new("OPTIONS", "/agui".to_owned())
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .send(served.at)
        .await;
    let session = get("/v1/sessions/a").send(served.at).await;
    if may {
        assert_eq!(
            (answer.status, preflight.status, session.status),
            (200, 204, 200)
        );
        for allowed in [&answer, &preflight] {
            assert_eq!(allowed.headers["access-control-allow-origin"], origin);
        }
    } else {
        answer.is_problem(403, "not_permitted");
        preflight.is_problem(403, "not_permitted");
        assert_eq!(session.status, 404, "a run was made");
    }
    served.stop().await;
}

#[rstest]
#[case(Some("application/json"), 200)]
#[case(Some("application/JSON; charset=utf-8"), 200)]
#[case(Some("text/plain"), 415)]
#[case(Some("application/x-www-form-urlencoded"), 415)]
#[case(Some("multipart/form-data; boundary=x"), 415)]
#[case(None, 415)]
#[tokio::test]
async fn a_body_is_json_and_says_so(#[case] kind: Option<&str>, #[case] status: u16) {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "hi" });
    let ask = post("/v1/runs", &body).header("content-type", kind.unwrap_or_default());
    assert_eq!(ask.send(served.at).await.status, status);
    let session = get("/v1/sessions/a").send(served.at).await;
    assert_eq!(session.status, if status == 200 { 200 } else { 404 });
    served.stop().await;
}

#[rstest]
#[case("Bearer nobody")]
#[case("Bearer ")]
#[case("Basic dXNlcjpwYXNz")]
#[case("nonsense")]
#[tokio::test]
async fn a_credential_that_nothing_accepts_is_401_and_never_a_guest(#[case] sent: &str) {
    let served = World::new().serve().await;
    for ask in [
        get("/v1/sessions"),
        post("/agui", &json!({})),
        post("/v1/runs", &json!({ "input": "hi" })),
    ] {
        let answer = ask.header("authorization", sent).send(served.at).await;
        answer.is_problem(401, "unauthenticated");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    served.stop().await;
}

#[tokio::test]
async fn what_cannot_be_read_as_an_address_is_a_problem_too() {
    let served = World::new().serve().await;
    let path = get("/v1/runs/%ff").send(served.at).await;
    path.is_problem(400, "invalid_arguments");
    let whole = get("http://evil.example/healthz").header("host", "localhost");
    whole.send(served.at).await.is_problem(403, "not_permitted");
    let ours = get("http://localhost/healthz").header("host", "localhost");
    assert_eq!(ours.send(served.at).await.status, 200);
    served.stop().await;
}

#[tokio::test]
async fn a_body_beyond_the_bound_is_413_whatever_it_says_of_its_size() {
    let served = World::new().serve().await;
    let large = "x".repeat(outfitter_server::DEFAULT_BODY_BYTES);
    let body = json!({ "input": large });
    let answer = post("/v1/runs", &body).send(served.at).await;
    answer.is_problem(413, "too_large");
    let sessions: Value = get("/v1/sessions").send(served.at).await.json();
    assert_eq!(sessions["sessions"], json!([]));
    served.stop().await;
}

/// What is answered to these bytes, which are no request that a client of ours could make.
async fn answer_to(at: std::net::SocketAddr, bytes: &[u8]) -> (String, Value) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    crate::client::patient(stream.read_to_end(&mut answer))
        .await
        .unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let last = answer.rfind("HTTP/1.1 ").unwrap();
    let (head, body) = answer[last..].split_once("\r\n\r\n").unwrap();
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

/// What cannot be read as a request was refused by a bare status, that says nothing.
#[tokio::test]
async fn a_head_that_is_no_request_was_refused_without_a_word() {
    let served = World::new().serve().await;
    let host = format!("host: {}\r\n", served.at);
    let long = "x".repeat(300 * 1024);
    let first = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
    for (bytes, status, code) in [
        (
            format!("GET / HTTP/1.1\r\n{host}x: {long}\r\n\r\n"),
            431,
            "too_large",
        ),
        (
            format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(65_600)),
            414,
            "too_large",
        ),
        (
            "no request at all\r\n\r\n".to_owned(),
            400,
            "invalid_arguments",
        ),
        (
            format!("GET / HTTP/1.1\r\n{host}a b: c\r\n\r\n"),
            400,
            "invalid_arguments",
        ),
        // Also behind a request that was answered.
        (format!("{first}nonsense\r\n\r\n"), 400, "invalid_arguments"),
        (
            format!("POST / HTTP/1.1\r\n{host}content-length: -1\r\n\r\n"),
            400,
            "invalid_arguments",
        ),
    ] {
        let (head, problem) = answer_to(served.at, bytes.as_bytes()).await;
        let shown = &bytes[..bytes.len().min(80)];
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status} ")),
            "{shown:?}: {head}"
        );
        assert!(
            head.contains("content-type: application/problem+json"),
            "{head}"
        );
        assert_eq!(problem["status"], status);
        assert_eq!(problem["code"], code, "{problem}");
        assert!(problem["detail"].as_str().unwrap().starts_with("the "));
    }
    served.stop().await;
}

/// Who is refused is told what to do next.
#[rstest]
#[case("GET", "/v1/nothing", 404)]
#[case("PUT", "/v1/sessions", 405)]
#[case("GET", "/v1/runs/run_nothing", 404)]
#[case("GET", "/v1/runs/a%20b", 404)]
#[case("POST", "/v1/runs/run_nothing/cancel", 404)]
#[case("GET", "/v1/sessions/nothing", 404)]
#[case("GET", "/v1/sessions/a%20b", 404)]
#[case("GET", "/v1/artifacts/art_nothing", 404)]
#[case("POST", "/v1/questions/int_nothing/answer", 404)]
#[case("DELETE", "/v1/approvals/apr_nothing", 404)]
#[case("POST", "/v1/runs", 400)]
#[tokio::test]
async fn a_refusal_did_not_say_what_to_do(
    #[case] method: &'static str,
    #[case] path: &str,
    #[case] status: u16,
) {
    let served = World::new().serve().await;
    let body = match path {
        "/v1/runs" => json!({ "input": " " }),
        _ => json!({ "answer": "yes" }),
    };
    let asked = match method {
        "POST" => post(path, &body),
        _ => Ask::new(method, path.to_owned()),
    };
    let told = asked.send(served.at).await;
    assert_eq!(told.status, status, "{}", told.text());
    let problem = told.json();
    assert!(problem["hint"].is_string(), "{problem}");
    if status == 405 {
        assert!(told.headers.contains_key("allow"), "{:?}", told.headers);
    }
    served.stop().await;
}
