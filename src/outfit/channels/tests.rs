use std::os::unix::fs::PermissionsExt as _;

use outfitter_builtin::Addressee;
use outfitter_core::{Code, Role, SystemClock};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use outfitter_agent::{Inbox as _, LetterFrom};
use outfitter_core::{Scope, SessionId};
use outfitter_store::StoreUrl;

use super::*;

fn ann() -> Principal {
    Principal {
        tenant: "t".into(),
        subject: "ann".into(),
        role: Role::User,
        channel: "chat".into(),
        stream: None,
    }
}

fn letter() -> Letter {
    Letter {
        key: "call_1-1".to_owned(),
        to: Addressee::User("bob".to_owned()),
        part: 1,
        parts: 2,
        text: "你好".to_owned(),
    }
}

fn of(channels: Value, dir: &Path) -> Arc<dyn Messenger> {
    let config = Config {
        channels: serde_json::from_value(channels).unwrap(),
        ..Config::default()
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let log = outfitter_store::open(&StoreUrl::Memory, dir, clock.clone()).log;
    super::channels(&config, dir, &Inboxes::new(dir, log), &clock).unwrap()
}

/// Answers each request with the next of these, and keeps what came.
async fn hook(answers: Vec<&'static str>) -> (String, JoinSet<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://{}/bot-secret/in?key=secret",
        listener.local_addr().unwrap()
    );
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut came = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let (mut request, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                request.push_str(&line);
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            request.push_str(&String::from_utf8(body).unwrap());
            came.push(request);
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
        came
    });
    (url, tasks)
}

async fn delivered(messenger: &dyn Messenger) -> Result<Taken, ToolError> {
    let route = messenger.route(None).unwrap();
    messenger.deliver(&ann(), &route, &letter()).await
}

const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const LATER: &str =
    "HTTP/1.1 429 Later\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const NO: &str = "HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const YES: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"stream_id\":\"s9\",\"created\":true}";

#[tokio::test]
async fn a_webhook_that_is_busy_is_tried_again_with_the_same_key() {
    let (url, mut came) = hook(vec![BUSY, LATER, YES]).await;
    let dir = tempfile::tempdir().unwrap();
    let messenger = of(json!({"bot": {"kind": "webhook", "url": url}}), dir.path());
    let taken = delivered(&*messenger).await.unwrap();
    assert_eq!(
        taken,
        Taken {
            stream_id: Some("s9".to_owned()),
            created: true
        }
    );
    let came = came.join_next().await.unwrap().unwrap();
    assert_eq!(came.len(), 3);
    for request in &came {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("POST /bot-secret/in?key=secret HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(head.contains("idempotency-key: call_1-1\r\n"), "{head}");
        let mut body: Value = serde_json::from_str(body).unwrap();
        assert!(body["at"].take().is_u64());
        assert_eq!(
            body,
            json!({
                "v": 1, "key": "call_1-1", "at": null, "platform": "bot", "user_id": "bob",
                "part": 1, "parts": 2, "text": "你好",
                "from": {"tenant": "t", "subject": "ann"},
            })
        );
    }
}

#[tokio::test]
async fn a_webhook_that_refuses_is_not_tried_again_and_its_url_is_not_told() {
    let (url, mut came) = hook(vec![NO]).await;
    let dir = tempfile::tempdir().unwrap();
    let messenger = of(json!({"bot": {"url": url}}), dir.path());
    let error = delivered(&*messenger).await.unwrap_err();
    assert_eq!(error.code(), Code::Failed);
    assert_eq!(came.join_next().await.unwrap().unwrap().len(), 1);
    // Nobody is there any more.
    let messenger = of(json!({"bot": {"url": url, "retries": 0}}), dir.path());
    let gone = delivered(&*messenger).await.unwrap_err();
    assert_eq!(gone.code(), Code::Unavailable);
    for error in [error, gone] {
        let told = serde_json::to_string(error.info()).unwrap();
        assert!(!told.contains("secret"), "{told}");
    }
}

#[tokio::test]
async fn a_webhook_that_stays_busy_uses_its_retries_up() {
    let (url, mut came) = hook(vec![LATER, LATER]).await;
    let dir = tempfile::tempdir().unwrap();
    let messenger = of(json!({"bot": {"url": url, "retries": 1}}), dir.path());
    let error = delivered(&*messenger).await.unwrap_err();
    assert_eq!(error.code(), Code::RateLimited);
    assert!(error.info().retryable);
    assert_eq!(came.join_next().await.unwrap().unwrap().len(), 2);
}

#[tokio::test]
async fn a_file_has_a_line_for_each_part_and_one_reader() {
    let dir = tempfile::tempdir().unwrap();
    let messenger = of(
        json!({"notes": {"kind": "file", "url": "out/notes.jsonl"}}),
        dir.path(),
    );
    assert!(delivered(&*messenger).await.unwrap().created);
    assert!(!delivered(&*messenger).await.unwrap().created);
    let path = dir.path().join("out/notes.jsonl");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let lines: Vec<Value> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["text"], "你好");
    assert_eq!(lines[1]["user_id"], "bob");
}

#[test]
fn a_platform_chooses_among_channels() {
    let dir = tempfile::tempdir().unwrap();
    let two = of(
        json!({
            "a": {"kind": "file", "platform": "qq", "split_chars": 7, "split_parts": 2},
            "b": {"kind": "file"},
        }),
        dir.path(),
    );
    let route = two.route(Some("qq")).unwrap();
    assert_eq!(
        (&*route.channel, route.split_chars, route.split_parts),
        ("a", 7, 2)
    );
    assert_eq!(two.route(Some("b")).unwrap().channel, "b");
    for platform in [None, Some("mail")] {
        let error = two.route(platform).unwrap_err();
        assert_eq!(error.info().path.as_deref(), Some("/platform"));
        assert!(
            error.info().message.contains("b, qq"),
            "{}",
            error.info().message
        );
    }
}

#[tokio::test]
async fn a_channel_that_cannot_work_says_why() {
    let dir = tempfile::tempdir().unwrap();
    for url in [Value::Null, json!("ftp://secret@x/"), json!("not a url")] {
        let messenger = of(json!({"bot": {"kind": "webhook", "url": url}}), dir.path());
        let error = delivered(&*messenger).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert!(!error.info().message.contains("secret"));
    }
}

fn inboxes(dir: &Path) -> (Arc<dyn Messenger>, Inboxes) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let log = outfitter_store::open(&StoreUrl::Memory, dir, clock.clone()).log;
    let inboxes = Inboxes::new(dir, log);
    let mut config = Config::default();
    let channels = json!({"team": {"kind": "inbox", "split_chars": 1}});
    config.channels = serde_json::from_value(channels).unwrap();
    let messenger = super::channels(&config, dir, &inboxes, &clock).unwrap();
    (messenger, inboxes)
}

fn scope(tenant: &str, subject: &str) -> Scope {
    Scope {
        tenant: tenant.into(),
        subject: subject.into(),
    }
}

#[tokio::test]
async fn a_letter_is_for_one_person_of_the_tenant_and_is_taken_by_one_session() {
    let dir = tempfile::tempdir().unwrap();
    let (messenger, inboxes) = inboxes(dir.path());
    assert_eq!(messenger.route(None).unwrap().split_parts, 1);
    assert!(delivered(&*messenger).await.unwrap().created);
    let one = SessionId::new("one").unwrap();
    let two = SessionId::new("two").unwrap();
    for (tenant, subject) in [("t", "ann"), ("other", "bob"), ("other", "ann")] {
        let nothing = inboxes.waiting(&scope(tenant, subject), &one).await;
        assert!(nothing.is_empty(), "{tenant}/{subject}");
    }
    let bob = scope("t", "bob");
    let letters = inboxes.waiting(&bob, &one).await;
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].text, "你好");
    assert_eq!(letters[0].from, LetterFrom::Subject("ann".to_owned()));
    // It is of the first session now, until that has it in its log.
    assert!(inboxes.waiting(&bob, &two).await.is_empty());
    assert_eq!(inboxes.waiting(&bob, &one).await, letters);
    inboxes.done(&bob, &one, &letters).await;
    assert!(inboxes.waiting(&bob, &one).await.is_empty());
}

#[tokio::test]
async fn letters_are_ours_alone_on_the_disk_and_their_number_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let (messenger, inboxes) = inboxes(dir.path());
    let route = messenger.route(None).unwrap();
    let send = async |n: usize, to: &str| {
        let letter = Letter {
            key: format!("call_{n}-1"),
            to: Addressee::User(to.to_owned()),
            ..letter()
        };
        messenger.deliver(&ann(), &route, &letter).await
    };
    for n in 0..100 {
        assert_eq!(send(n, "bob").await.unwrap().created, n == 0);
    }
    let full = send(100, "bob").await.unwrap_err();
    assert_eq!(full.code(), Code::TooLarge);
    // One full inbox is no other's; and no name leaves its folder.
    for to in ["cleo", "../bob", "@", "/etc/passwd"] {
        send(101, to).await.unwrap();
    }
    let one = SessionId::new("one").unwrap();
    assert_eq!(inboxes.waiting(&scope("t", "bob"), &one).await.len(), 100);
    let tenants: Vec<_> = std::fs::read_dir(dir.path().join("inbox"))
        .unwrap()
        .collect();
    assert_eq!(tenants.len(), 1);
    let mut open = vec![dir.path().join("inbox")];
    while let Some(path) = open.pop() {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            open.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn an_inbox_has_no_groups_and_only_sessions_that_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let (messenger, _) = inboxes(dir.path());
    let route = messenger.route(None).unwrap();
    for (to, code) in [
        (Addressee::Group("g".to_owned()), Code::InvalidArguments),
        (Addressee::Stream("nobody".to_owned()), Code::NotFound),
        (Addressee::Stream("../x".to_owned()), Code::NotFound),
    ] {
        let letter = Letter { to, ..letter() };
        let error = messenger
            .deliver(&ann(), &route, &letter)
            .await
            .unwrap_err();
        assert_eq!(error.code(), code);
    }
    assert!(!dir.path().join("inbox").exists());
}
