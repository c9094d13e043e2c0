//! `run_command`, with jobs that print what a test says. Real processes are tested where there is
//! a real sandbox.

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{BuiltinOptions, ShellOptions};
use outfitter_core::{Code, CommandLine, Deadline, Exit, OutcomeState, Role, Stream, ToolContext};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Pieces, Screen, Script, Tools, context};

fn set_up(script: Script) -> (Tools, ToolContext, Arc<Script>, Arc<Screen>) {
    let script = Arc::new(script);
    let mut cx = context(script.clone(), Role::Admin);
    let screen = Screen::watch(&mut cx);
    (Tools::new(&BuiltinOptions::default()), cx, script, screen)
}

fn pieces() -> Pieces {
    Pieces(vec![
        (Stream::Stdout, b"one\n"),
        (Stream::Stderr, b"warn\n"),
    ])
}

#[tokio::test]
async fn a_command_is_told_in_one_piece_and_watched() {
    let (tools, cx, script, screen) = set_up(Script::new(pieces()));
    script.end(3);
    let args = json!({"command": "make", "cwd": "sub", "timeout_seconds": 5.0});
    let outcome = tools.call("run_command", &cx, args).await.unwrap();
    assert_eq!(
        outcome.result,
        json!({
            "exit_code": 3, "stdout": "one\n", "stderr": "warn\n",
            "timed_out": false, "truncated": false, "duration_seconds": 1.234,
        })
    );
    assert_eq!(outcome.state, OutcomeState::Complete);
    assert_eq!(outcome.failed, None);
    assert_eq!(screen.text(), "one\nwarn\n");
    let spawned = script.spawned.lock().unwrap();
    assert_eq!(spawned[0].command, CommandLine::Shell("make".to_owned()));
    assert_eq!(spawned[0].workdir, "sub");
    assert_eq!(spawned[0].timeout, Duration::from_secs(5));
}

#[rstest]
#[case(60, 1800, json!({}), 60)]
#[case(5, 1800, json!({}), 5)]
#[case(60, 10, json!({}), 10)]
#[case(60, 1800, json!({"timeout_seconds": 90}), 90)]
#[case(60, 1800, json!({"timeout_seconds": 9000}), 1800)]
#[tokio::test]
async fn it_has_the_time_that_is_configured(
    #[case] default: u64,
    #[case] most: u64,
    #[case] asked: Value,
    #[case] given: u64,
) {
    let (_, cx, script, _) = set_up(Script::new(Pieces::default()));
    script.end(0);
    let tools = Tools::new(&BuiltinOptions {
        shell: ShellOptions {
            timeout: Duration::from_secs(default),
            max_timeout: Duration::from_secs(most),
            ..ShellOptions::default()
        },
        ..BuiltinOptions::default()
    });
    let mut args = asked.clone();
    args["command"] = "x".into();
    let outcome = tools.call("run_command", &cx, args).await.unwrap();
    let spawned = script.spawned.lock().unwrap();
    assert_eq!(spawned[0].timeout, Duration::from_secs(given));
    let told = outcome.result.get("notices").is_some();
    assert_eq!(told, asked["timeout_seconds"].as_u64() > Some(most));
}

#[tokio::test]
async fn out_of_time_it_gives_what_was_printed() {
    let (tools, cx, script, _) = set_up(Script::new(pieces()));
    script.exit(
        4,
        Exit {
            signal: Some(9),
            timed_out: true,
            ..Exit::default()
        },
    );
    let args = json!({"command": "x", "timeout_seconds": 1});
    let outcome = tools.call("run_command", &cx, args).await.unwrap();
    assert_eq!(outcome.result["timed_out"], true);
    assert_eq!(outcome.result["exit_code"], 137);
    assert_eq!(outcome.result["stdout"], "one\n");
    assert_eq!(outcome.failed.unwrap().code, Code::Timeout);
}

/// There is no call that could take it up again, so it does not go on.
#[tokio::test]
async fn a_call_that_is_nearly_over_takes_its_command_with_it() {
    let (tools, mut cx, script, _) = set_up(Script::new(pieces()));
    script.print(4);
    cx.deadline = Deadline::after(Duration::from_millis(1050));
    let outcome = tools
        .call("run_command", &cx, json!({"command": "x"}))
        .await
        .unwrap();
    assert!(script.was_killed());
    assert_eq!(outcome.result["timed_out"], true);
    assert_eq!(outcome.result["stdout"], "one\n");
    assert_eq!(outcome.failed.unwrap().code, Code::Timeout);
}

#[tokio::test]
async fn a_cancelled_call_is_no_timeout() {
    let (tools, cx, script, screen) = set_up(Script::new(pieces()));
    script.print(4);
    let canceller = async {
        screen.until("one").await;
        cx.cancel.cancel();
    };
    let run = tools.call("run_command", &cx, json!({"command": "x"}));
    let (outcome, ()) = tokio::join!(run, canceller);
    let outcome = outcome.unwrap();
    assert!(script.was_killed());
    assert_eq!(outcome.result["timed_out"], false);
    assert_eq!(outcome.failed.unwrap().code, Code::Cancelled);
}

#[rstest]
#[case(json!({"command": " "}), "/command")]
#[case(json!({"command": "a\u{0}"}), "/command")]
#[case(json!({"command": "a", "cwd": "b\u{0}"}), "/cwd")]
#[tokio::test]
async fn what_cannot_be_started_is_pointed_at(#[case] args: Value, #[case] at: &str) {
    let (tools, cx, script, _) = set_up(Script::new(pieces()));
    let error = tools.call("run_command", &cx, args).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    assert_eq!(error.info().path.as_deref(), Some(at));
    assert!(script.spawned.lock().unwrap().is_empty());
}
