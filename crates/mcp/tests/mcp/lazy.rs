//! Servers that are started at their first call.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use outfitter_core::{Cancel, Code, Reply, SpecCache, ToolContext, ToolSource as _};
use outfitter_mcp::{Host, McpSource, ServerState, Start, StdioServer};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{LONG, call, call_in, faults, host, id, names, tool, until};

/// What is kept, for as long as a test lasts.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<String, Vec<u8>>>);

impl SpecCache for Kept {
    fn load(&self, server: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(server).cloned()
    }

    fn keep(&self, server: &str, specs: &[u8]) {
        let mut all = self.0.lock().unwrap();
        all.insert(server.to_owned(), specs.to_owned());
    }
}

/// A server in one of its modes, as often as it is configured.
struct Lazy {
    dir: TempDir,
    kept: Arc<Kept>,
    mode: &'static str,
}

impl Lazy {
    fn new(mode: &'static str) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            kept: Arc::default(),
            mode,
        }
    }

    fn record(&self) -> std::path::PathBuf {
        self.dir.path().join("told")
    }

    fn source(&self) -> McpSource {
        self.source_with(|_| {})
    }

    fn source_with(&self, change: impl FnOnce(&mut StdioServer)) -> McpSource {
        let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/servers");
        let script = servers.join("odd.py").into_os_string();
        let args = [script, self.mode.into(), self.record().into()];
        let mut server = StdioServer::new(id("odd"), "python3", "/").args(args);
        server.start = Start::AtFirstCall;
        change(&mut server);
        let host = Host {
            specs: Some(self.kept.clone()),
            ..host()
        };
        McpSource::start(server, host).unwrap()
    }

    /// One that was asked once what it offers.
    async fn listed(mode: &'static str) -> Self {
        let lazy = Self::new(mode);
        let source = lazy.source();
        source.settled(LONG).await;
        assert_eq!(source.status().status, ServerState::Idle);
        source.stop().await;
        assert_eq!(lazy.lives(), 1);
        lazy
    }

    fn lives(&self) -> u64 {
        std::fs::metadata(self.record().with_extension("lives")).map_or(0, |file| file.len())
    }
}

#[tokio::test]
async fn without_what_was_kept_it_is_asked_once_and_ended() {
    let lazy = Lazy::new("plain");
    let source = lazy.source();
    source.settled(LONG).await;
    let status = source.status();
    assert_eq!(
        (status.status, status.tools, status.lazy),
        (ServerState::Idle, 1, true)
    );
    assert_eq!(faults(&source), <[&str; 0]>::default());
    assert_eq!((lazy.lives(), status.restarts), (1, 0));
    // And its first call starts it, to stay.
    for _ in 0..3 {
        call(&source, "echo", json!({})).await.unwrap();
    }
    assert_eq!(
        (lazy.lives(), source.status().status),
        (2, ServerState::Ready)
    );
}

/// Whose tools they were nobody knows then, and they were kept for the other.
#[tokio::test]
async fn what_a_server_listed_before_an_upgrade_was_kept_as_what_it_lists_after_it() {
    let lazy = Lazy::new("plain");
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/servers");
    let program = std::fs::read_to_string(servers.join("odd.py")).unwrap();
    let script = lazy.dir.path().join("server.py");
    let next = lazy.dir.path().join("next.py");
    // It replaces itself before it does anything else.
    let upgrades = format!("import os\nos.rename({next:?}, {script:?})\n");
    std::fs::write(&next, &program).unwrap();
    std::fs::write(&script, upgrades + &program).unwrap();
    let source = || lazy.source_with(|server| server.args[0] = script.clone().into());
    for (lives, kept) in [(1, false), (2, true), (2, true)] {
        let source = source();
        source.settled(LONG).await;
        assert_eq!(names(&source), ["echo"]);
        source.stop().await;
        assert_eq!(
            (lazy.lives(), lazy.kept.load("odd").is_some()),
            (lives, kept)
        );
    }
}

#[tokio::test]
async fn with_what_was_kept_it_is_not_started_before_its_first_call() {
    let lazy = Lazy::listed("plain").await;
    let source = lazy.source();
    // At once, without waiting for anything.
    assert_eq!(
        (names(&source), source.status().status),
        (vec!["echo".to_owned()], ServerState::Idle)
    );
    let before = source.snapshot().tools[0].clone();
    assert_eq!(lazy.lives(), 1);
    call(&source, "echo", json!({})).await.unwrap();
    assert_eq!(lazy.lives(), 2);
    let status = source.status();
    assert_eq!((status.status, status.changed), (ServerState::Ready, None));
    // What has not changed is the same tool.
    assert!(Arc::ptr_eq(&before, &source.snapshot().tools[0]));
}

#[tokio::test]
async fn many_first_calls_start_it_once() {
    let lazy = Lazy::listed("late").await;
    let source = lazy.source();
    let calls = (0..8).map(|_| call(&source, "echo", json!({})));
    for called in futures_util::future::join_all(calls).await {
        called.unwrap();
    }
    assert_eq!(lazy.lives(), 2);
    assert_eq!(source.status().restarts, 0);
}

#[tokio::test]
async fn a_call_that_is_stopped_while_it_starts_ends_and_the_next_works() {
    let lazy = Lazy::listed("late").await;
    let source = lazy.source();
    let mut cx = ToolContext::detached();
    cx.cancel = Cancel::new();
    let stop = async {
        until(|| lazy.lives() == 2).await;
        cx.cancel.cancel();
    };
    let (called, ()) = tokio::join!(call_in(&source, "echo", json!({}), &cx), stop);
    assert_eq!(called.unwrap_err().code(), Code::Cancelled);
    call(&source, "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn one_that_does_not_start_is_unavailable_with_the_reason_and_tried_at_each_call() {
    let lazy = Lazy::listed("lists_once").await;
    let source = lazy.source();
    for time in 2..4 {
        let error = call(&source, "echo", json!({})).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.to_string().contains("it has no licence"), "{error}");
        // Asked for its era and then not, which is how some servers want it.
        let tries = lazy.lives();
        assert!(tries >= time, "{tries}");
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(
            lazy.lives(),
            tries,
            "it is started when it is wanted and else not"
        );
    }
    let status = source.status();
    assert_eq!((status.status, status.tools), (ServerState::Down, 1));
}

#[tokio::test]
async fn what_it_offers_now_takes_the_place_of_what_was_kept() {
    let lazy = Lazy::listed("by_life").await;
    let source = lazy.source();
    assert_eq!(names(&source), ["same", "old", "other"]);
    let before = source.snapshot().generation;
    // What was judged is not there any more, so nothing is called.
    for changed in ["old", "other"] {
        let source = lazy.source();
        let error = call(&source, changed, json!({})).await.unwrap_err();
        assert_eq!(error.code(), Code::Conflict, "{error}");
        assert_eq!(names(&source), ["same", "new", "other"]);
        call(&source, "other", json!({})).await.unwrap();
        source.stop().await;
        // Kept anew; for the next one as it was.
        let fresh = lazy.source();
        assert_eq!(names(&fresh), ["same", "new", "other"]);
        fresh.stop().await;
        std::fs::remove_file(lazy.record().with_extension("lives")).unwrap();
        lazy.kept.0.lock().unwrap().clear();
        let again = lazy.source();
        again.settled(LONG).await;
        again.stop().await;
    }
    // What is the same is called as if nothing had been.
    call(&source, "same", json!({})).await.unwrap();
    assert!(source.snapshot().generation > before);
    let changed = source.status().changed;
    assert_eq!(
        changed.as_deref(),
        Some("new: new; gone: old; changed: other")
    );
}

#[tokio::test]
async fn the_second_call_of_a_reply_is_not_made_by_the_schema_that_was_kept() {
    let lazy = Lazy::listed("by_life").await;
    let source = lazy.source_with(|server| server.concurrency = 1);
    // The second waits for the place of the first, and is let in when the change is known.
    let both = ["other", "old"].map(|name| call(&source, name, json!({})));
    for called in futures_util::future::join_all(both).await {
        let error = called.unwrap_err();
        assert_eq!(error.code(), Code::Conflict, "{error}");
    }
}

#[tokio::test]
async fn another_server_under_the_name_is_asked_anew() {
    let lazy = Lazy::listed("plain").await;
    let source = lazy.source_with(|server| server.env.push(("LEVEL".into(), "2".into())));
    assert_eq!(source.status().status, ServerState::Starting);
    source.settled(LONG).await;
    assert_eq!(
        (lazy.lives(), source.status().status),
        (2, ServerState::Idle)
    );
    source.stop().await;
    // What is kept and makes no sense is as good as none.
    lazy.kept.keep("odd", b"{\"form\":1");
    let source = lazy.source();
    source.settled(LONG).await;
    assert_eq!((lazy.lives(), names(&source)), (3, vec!["echo".to_owned()]));
}

#[tokio::test]
async fn one_that_died_is_started_again_by_a_call_and_not_before() {
    let lazy = Lazy::listed("dies").await;
    let source = lazy.source();
    call(&source, "echo", json!({})).await.unwrap();
    assert!(call(&source, "die", json!({})).await.is_err());
    until(|| source.status().status == ServerState::Down).await;
    let lives = lazy.lives();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(lazy.lives(), lives);
    call(&source, "echo", json!({})).await.unwrap();
    assert_eq!(lazy.lives(), lives + 1);
}

#[tokio::test]
async fn stopping_one_that_never_ran_ends_it() {
    let lazy = Lazy::listed("plain").await;
    let source = lazy.source();
    let tool = tool(&source, "echo");
    source.stop().await;
    assert_eq!(source.status().status, ServerState::Down);
    let cx = ToolContext::detached();
    let called = tokio::time::timeout(LONG, tool.call(&cx, json!({}))).await;
    let called: Result<Reply, _> = called.unwrap();
    assert_eq!(called.unwrap_err().code(), Code::Unavailable);
    let source = lazy.source();
    drop(source);
    assert_eq!(lazy.lives(), 1);
}

#[tokio::test]
async fn one_that_is_turned_off_is_not_idle() {
    let lazy = Lazy::listed("plain").await;
    let source = lazy.source_with(|server| server.state = outfitter_mcp::Enabled::No);
    assert_eq!(source.status().status, ServerState::Disabled);
    assert!(names(&source).is_empty());
}

#[tokio::test]
async fn a_server_that_cannot_be_started_at_its_first_call_was_idle_and_right() {
    use std::os::unix::fs::PermissionsExt as _;
    let lazy = Lazy::new("plain");
    let started = lazy.dir.path().join("started");
    std::fs::write(&started, "#!/bin/sh\nexec python3 \"$@\"\n").unwrap();
    let mode = |mode| std::fs::set_permissions(&started, std::fs::Permissions::from_mode(mode));
    mode(0o700).unwrap();
    let source = || lazy.source_with(|server| server.command = started.clone().into());
    let first = source();
    first.settled(LONG).await;
    assert_eq!(first.status().last_error, None);
    first.stop().await;
    mode(0o600).unwrap();
    let later = source();
    let status = later.status();
    assert_eq!(status.status, ServerState::Idle);
    assert_eq!(
        status.last_error.unwrap(),
        format!("{} is not executable", started.display())
    );
    let error = call(&later, "echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    // Nor are its tools lost with the file: they say why.
    later.stop().await;
    std::fs::remove_file(&started).unwrap();
    let gone = source();
    let (status, said) = (gone.status(), format!("{} is not there", started.display()));
    assert_eq!((status.status, status.tools), (ServerState::Idle, 1));
    assert_eq!(status.last_error.unwrap(), said);
    let error = call(&gone, "echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert_eq!(names(&gone), ["echo"]);
}

/// One that was gone kept its tools, and one that was broken lost them.
#[tokio::test]
async fn a_lazy_server_that_breaks_had_no_tools_any_more() {
    use std::os::unix::fs::PermissionsExt as _;
    let lazy = Lazy::new("plain");
    let started = lazy.dir.path().join("started");
    let script = |text: &str| {
        std::fs::write(&started, text).unwrap();
        std::fs::set_permissions(&started, std::fs::Permissions::from_mode(0o700)).unwrap();
    };
    let works = "#!/bin/sh\nexec python3 \"$@\"\n";
    script(works);
    let source = || lazy.source_with(|server| server.command = started.clone().into());
    let first = source();
    first.settled(LONG).await;
    first.stop().await;
    script("#!/bin/sh\necho out of order >&2\nexit 3\n");
    let broken = source();
    broken.settled(LONG).await;
    let status = broken.status();
    assert_eq!((status.status, status.tools), (ServerState::Idle, 1));
    let why = status.last_error.unwrap();
    assert!(why.contains("out of order"), "{why}");
    assert_eq!(names(&broken), ["echo"]);
    let error = call(&broken, "echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    // Mended, the next call starts it.
    script(works);
    call(&broken, "echo", json!({})).await.unwrap();
    assert_eq!(broken.status().status, ServerState::Ready);
    broken.stop().await;
}
