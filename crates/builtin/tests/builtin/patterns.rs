//! Waiting for a pattern in the output of a job.

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Code, OutcomeState, Role, Stream, ToolContext};
use rstest::rstest;
use serde_json::json;

use crate::support::{Pieces, Screen, Script, Tools, context};

const OUT: Stream = Stream::Stdout;
const ERR: Stream = Stream::Stderr;

fn set_up(script: Script) -> (Tools, ToolContext, Arc<Script>, Arc<Screen>) {
    let script = Arc::new(script);
    let mut cx = context(script.clone(), Role::Admin);
    let screen = Screen::watch(&mut cx);
    (Tools::new(&BuiltinOptions::default()), cx, script, screen)
}

/// The words come in pieces that cut a word and a character.
#[tokio::test]
async fn a_wait_ends_with_the_pattern_while_the_job_goes_on() {
    let text = "starting\n服务已就绪 on :8080\n".as_bytes();
    let (tools, cx, script, screen) = set_up(Script::new(Pieces(vec![(OUT, text)])));
    let args = json!({"task_id": "job_1", "pattern": "就绪 on :\\d+"});
    let wait = tools.call("await_shell", &cx, args);
    let feeder = async {
        for printed in 1..=text.len() as u64 {
            script.print(printed);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let (outcome, ()) = tokio::join!(wait, feeder);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.state, OutcomeState::Running);
    assert_eq!(outcome.result["status"], "running");
    assert_eq!(outcome.result["matched"], true);
    assert!(!script.was_killed());
    assert!(screen.text().contains("就绪"));
}

/// What another wait has been shown already counts, and is not shown again.
#[tokio::test]
async fn what_was_printed_before_is_looked_at_too() {
    let pieces = Pieces(vec![(OUT, b"rea"), (OUT, b"dy\nmore\n")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces));
    script.print(8);
    let look = json!({"task_id": "job_1", "block_until_ms": 0});
    tools.call("await_shell", &cx, look).await.unwrap();
    assert_eq!(screen.text(), "ready\nmo");

    let args = json!({"task_id": "job_1", "pattern": "^ready$"});
    let outcome = tools.call("await_shell", &cx, args).await.unwrap();
    assert_eq!(outcome.result["status"], "running");
    assert_eq!(outcome.result["matched"], true);
    assert_eq!(screen.text(), "ready\nmo");
}

/// Time over without a match is told as that; so is an end without one.
#[tokio::test]
async fn a_wait_without_a_match_says_so() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"abc\n")])));
    script.print(4);
    let args = json!({"task_id": "job_1", "pattern": "ready", "block_until_ms": 20});
    let outcome = tools.call("await_shell", &cx, args.clone()).await.unwrap();
    assert_eq!(outcome.result["status"], "running");
    assert_eq!(outcome.result["matched"], false);

    script.end(0);
    let outcome = tools.call("await_shell", &cx, args).await.unwrap();
    assert_eq!(outcome.result["status"], "completed");
    assert_eq!(outcome.result["matched"], false);

    let plain = json!({"task_id": "job_1"});
    let outcome = tools.call("await_shell", &cx, plain).await.unwrap();
    assert_eq!(outcome.result.get("matched"), None);
}

#[tokio::test]
async fn a_job_that_has_ended_is_told_whole_where_it_matched() {
    let (tools, cx, script, _) =
        set_up(Script::new(Pieces(vec![(OUT, b"ready\n"), (OUT, b"bye")])));
    script.end(0);
    for pattern in ["ready", "bye$"] {
        let args = json!({"task_id": "job_1", "pattern": pattern});
        let outcome = tools.call("await_shell", &cx, args).await.unwrap();
        assert_eq!(outcome.result["status"], "completed");
        assert_eq!(outcome.result["stdout"], "ready\nbye");
        assert_eq!(outcome.result["matched"], true, "{pattern}");
    }
}

#[rstest]
#[case("one two", true)]
#[case("oops", true)]
#[case("one oops", false)]
#[tokio::test]
async fn each_stream_is_looked_at_for_itself(#[case] pattern: &str, #[case] matched: bool) {
    let pieces = Pieces(vec![(OUT, b"one "), (ERR, b"oops"), (OUT, b"two")]);
    let (tools, cx, script, _) = set_up(Script::new(pieces));
    script.end(0);
    let args = json!({"task_id": "job_1", "pattern": pattern});
    let outcome = tools.call("await_shell", &cx, args).await.unwrap();
    assert_eq!(outcome.result["matched"], matched);
}

#[tokio::test]
async fn a_backend_without_ranges_is_looked_at_by_its_tail() {
    let pieces = Pieces(vec![(OUT, b"sta"), (OUT, b"rted"), (OUT, b" and on")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces).without_ranges());
    script.print(3);
    let feeder = async {
        screen.until("sta").await;
        script.print(7);
    };
    let args = json!({"task_id": "job_1", "pattern": "started"});
    let (outcome, ()) = tokio::join!(tools.call("await_shell", &cx, args), feeder);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.result["status"], "running");
    assert_eq!(outcome.result["matched"], true);
}

#[rstest]
#[case("a(")]
#[case("(?=x)")]
#[case("((a{100}){100}){100}")]
#[case("a\u{0}")]
#[tokio::test]
async fn what_is_no_expression_is_pointed_at(#[case] pattern: &str) {
    let (tools, cx, _, _) = set_up(Script::new(Pieces::default()));
    let args = json!({"task_id": "job_1", "pattern": pattern, "block_until_ms": 0});
    let error = tools.call("await_shell", &cx, args).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some("/pattern"));
}
