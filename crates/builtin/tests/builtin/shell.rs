//! The tools on commands, with jobs that print what a test says when it says it. Real processes
//! are tested where there is a real sandbox.

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::BuiltinOptions;
use outfitter_core::{Code, CommandLine, Deadline, Exit, OutcomeState, Role, Stream, ToolContext};
use serde_json::{Value, json};

use crate::support::{Pieces, Screen, Script, Tools, context};

pub(crate) const OUT: Stream = Stream::Stdout;
pub(crate) const ERR: Stream = Stream::Stderr;

pub(crate) fn set_up(script: Script) -> (Tools, ToolContext, Arc<Script>, Arc<Screen>) {
    set_up_with(script, &BuiltinOptions::default())
}

pub(crate) fn set_up_with(
    script: Script,
    options: &BuiltinOptions,
) -> (Tools, ToolContext, Arc<Script>, Arc<Screen>) {
    let script = Arc::new(script);
    let mut cx = context(script.clone(), Role::Admin);
    let screen = Screen::watch(&mut cx);
    (Tools::new(options), cx, script, screen)
}

pub(crate) async fn run(tools: &Tools, cx: &ToolContext, args: Value) -> outfitter_core::Outcome {
    tools.call("execute_shell_command", cx, args).await.unwrap()
}

#[tokio::test]
async fn a_finished_command_tells_all_of_it_and_was_watched_in_order() {
    let pieces = Pieces(vec![(OUT, b"one\n"), (ERR, b"warn\n"), (OUT, b"two\n")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces));
    script.end(3);
    let outcome = run(
        &tools,
        &cx,
        json!({
            "command": "make", "workdir": "sub", "env": {"A": "1"}, "timeout_seconds": 5.0,
        }),
    )
    .await;
    assert_eq!(
        outcome.result,
        json!({
            "status": "completed", "task_id": "job_1", "exit_code": 3,
            "stdout": "one\ntwo\n", "stderr": "warn\n", "duration_ms": 1234,
            "stdout_bytes": 8, "stderr_bytes": 5,
        })
    );
    assert_eq!(outcome.state, OutcomeState::Complete);
    assert_eq!(outcome.failed, None);
    assert_eq!(
        screen.streams(),
        [
            (OUT, "one\n".to_owned()),
            (ERR, "warn\n".to_owned()),
            (OUT, "two\n".to_owned()),
        ]
    );
    let spawned = script.spawned.lock().unwrap();
    assert_eq!(spawned[0].command, CommandLine::Shell("make".to_owned()));
    assert_eq!(spawned[0].workdir, "sub");
    assert_eq!(spawned[0].env, [("A".to_owned(), "1".to_owned())]);
    assert_eq!(spawned[0].timeout, Duration::from_secs(5));
}

#[tokio::test]
async fn progress_comes_while_the_command_runs() {
    let pieces = Pieces(vec![(OUT, b"first\n"), (OUT, b"second\n")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces));
    let watcher = async {
        script.print(6);
        screen.until("first\n").await;
        assert_eq!(screen.text(), "first\n");
        script.end(0);
    };
    let (outcome, ()) = tokio::join!(run(&tools, &cx, json!({"command": "x"})), watcher);
    assert_eq!(outcome.result["stdout"], "first\nsecond\n");
    assert_eq!(screen.text(), "first\nsecond\n");
}

#[tokio::test]
async fn a_wait_goes_on_at_the_byte_that_was_shown_last() {
    let pieces = Pieces(vec![(OUT, b"abc"), (OUT, b"def"), (OUT, b"ghi")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces));
    script.print(3);
    let outcome = run(&tools, &cx, json!({"command": "x", "block_until_ms": 0})).await;
    assert_eq!(outcome.state, OutcomeState::Running);
    assert_eq!(outcome.result["status"], "running");
    assert_eq!(outcome.result["tail"], "abc");
    assert!(outcome.result["running_for_ms"].as_u64().unwrap() > 0);
    assert_eq!(screen.text(), "abc");

    script.print(6);
    let look = json!({"task_id": "job_1", "block_until_ms": 0});
    let outcome = tools.call("await_shell", &cx, look.clone()).await.unwrap();
    assert_eq!(outcome.result["tail"], "abcdef");
    assert_eq!(screen.text(), "abcdef");

    script.end(0);
    let outcome = tools.call("await_shell", &cx, look.clone()).await.unwrap();
    assert_eq!(outcome.result["status"], "completed");
    assert_eq!(outcome.result["stdout"], "abcdefghi");
    assert_eq!(screen.text(), "abcdefghi");

    // Asked once more it tells the same and shows nothing twice.
    let outcome = tools.call("await_shell", &cx, look).await.unwrap();
    assert_eq!(outcome.result["stdout"], "abcdefghi");
    assert_eq!(screen.text(), "abcdefghi");
}

#[tokio::test]
async fn a_wait_ends_when_the_command_does() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"done\n")])));
    let wait = tools.call("await_shell", &cx, json!({"task_id": "job_1"}));
    let (outcome, ()) = tokio::join!(wait, async {
        tokio::task::yield_now().await;
        script.end(0);
    });
    assert_eq!(outcome.unwrap().result["stdout"], "done\n");
}

#[tokio::test]
async fn another_sessions_task_does_not_exist() {
    let (tools, cx, _, _) = set_up(Script::new(Pieces::default()));
    for tool in ["await_shell", "kill_shell"] {
        for id in ["job_2", "../job_1", "job 1"] {
            let error = tools
                .call(tool, &cx, json!({"task_id": id}))
                .await
                .unwrap_err();
            assert_eq!(error.code(), Code::NotFound);
            assert_eq!(error.info().path.as_deref(), Some("/task_id"));
        }
    }
}

#[tokio::test]
async fn killing_tells_whether_there_was_something_to_kill() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"up\n")])));
    script.print(3);
    run(
        &tools,
        &cx,
        json!({"command": "serve", "block_until_ms": 0}),
    )
    .await;
    for status in ["killed", "gone"] {
        let outcome = tools
            .call("kill_shell", &cx, json!({"task_id": "job_1"}))
            .await
            .unwrap();
        assert_eq!(outcome.result, json!({"status": status, "survivors": []}));
    }
    let outcome = tools
        .call("await_shell", &cx, json!({"task_id": "job_1"}))
        .await
        .unwrap();
    assert_eq!(outcome.result["signal"], 15);
    assert_eq!(outcome.result["exit_code"], 143);
    assert_eq!(outcome.result["stdout"], "up\n");
}

#[tokio::test]
async fn a_cancelled_call_kills_and_shows_what_there_was() {
    let (tools, cx, script, screen) = set_up(Script::new(Pieces(vec![
        (OUT, b"begun\n"),
        (OUT, b"never"),
    ])));
    script.print(6);
    let canceller = async {
        screen.until("begun").await;
        cx.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run(&tools, &cx, json!({"command": "x"})), canceller);
    assert!(script.was_killed());
    assert_eq!(outcome.result["status"], "cancelled");
    assert_eq!(outcome.result["stdout"], "begun\n");
    assert_eq!(outcome.failed.unwrap().code, Code::Cancelled);
}

#[tokio::test]
async fn a_command_out_of_time_is_a_timeout_with_its_output() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"so far\n")])));
    script.exit(
        7,
        Exit {
            signal: Some(9),
            timed_out: true,
            ..Exit::default()
        },
    );
    let outcome = run(&tools, &cx, json!({"command": "x", "timeout_seconds": 1})).await;
    assert_eq!(outcome.result["status"], "timeout");
    assert_eq!(outcome.result["stdout"], "so far\n");
    assert_eq!(outcome.failed.unwrap().code, Code::Timeout);
}

#[tokio::test]
async fn a_call_gives_back_before_its_own_deadline() {
    let (tools, mut cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"x")])));
    script.print(1);
    cx.deadline = Deadline::after(Duration::from_millis(1100));
    let outcome = run(
        &tools,
        &cx,
        json!({"command": "x", "block_until_ms": 600_000}),
    )
    .await;
    assert_eq!(outcome.result["status"], "running");
    assert!(!cx.deadline.remaining().unwrap().is_zero());
    assert!(!script.was_killed());
}

#[tokio::test]
async fn more_time_than_is_allowed_is_not_given_and_said() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces::default()));
    script.end(0);
    let outcome = run(
        &tools,
        &cx,
        json!({"command": "x", "timeout_seconds": 999_999}),
    )
    .await;
    assert_eq!(
        script.spawned.lock().unwrap()[0].timeout,
        Duration::from_secs(1800)
    );
    assert_eq!(
        outcome.result["notices"],
        json!(["timeout_seconds is 1800, the most that is allowed"])
    );
}

#[tokio::test]
async fn a_model_sees_no_escapes_and_a_watcher_sees_them_all() {
    let raw: &[u8] = b"\x1b[31mred\x1b[0m\n10%\r100%\n\x1b]0;title\x07";
    let (tools, cx, script, screen) = set_up(Script::new(Pieces(vec![(OUT, raw)])));
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(outcome.result["stdout"], "red\n100%\n");
    assert_eq!(screen.text().as_bytes(), raw);
}

#[tokio::test]
async fn characters_split_over_chunks_stay_whole() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, "你好🦀".as_bytes())])));
    let feeder = async {
        for up_to in 1..10 {
            script.print(up_to);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        script.end(0);
    };
    let (outcome, ()) = tokio::join!(run(&tools, &cx, json!({"command": "x"})), feeder);
    assert_eq!(outcome.result["stdout"], "你好🦀");
}

#[tokio::test]
async fn a_backend_without_ranges_is_followed_by_its_tail() {
    let pieces = Pieces(vec![(OUT, b"one\n"), (ERR, b"oops\n"), (OUT, b"two\n")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces).without_ranges());
    script.print(4);
    let outcome = run(&tools, &cx, json!({"command": "x", "block_until_ms": 0})).await;
    assert_eq!(outcome.result["tail"], "one\n");
    let ender = async {
        script.print(9);
        screen.until("oops\n").await;
        script.end(0);
    };
    let wait = tools.call("await_shell", &cx, json!({"task_id": "job_1"}));
    let (outcome, ()) = tokio::join!(wait, ender);
    let result = outcome.unwrap().result;
    assert_eq!(result["stdout"], "one\ntwo\n");
    assert_eq!(result["stderr"], "oops\n");
    assert_eq!(result["notices"], json!(null), "the end is all of it");
    assert_eq!(screen.text(), "one\noops\ntwo\n");
}

#[tokio::test]
async fn a_cancelled_call_on_a_backend_without_ranges_ends_too() {
    let (tools, cx, script, screen) =
        set_up(Script::new(Pieces(vec![(OUT, b"a"), (OUT, b"b")])).without_ranges());
    script.print(1);
    let canceller = async {
        screen.until("a").await;
        cx.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run(&tools, &cx, json!({"command": "x"})), canceller);
    assert_eq!(outcome.result["status"], "cancelled");
    assert_eq!(outcome.result["stdout"], "a");
}

#[tokio::test]
async fn what_cannot_be_started_is_pointed_at() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces::default()));
    for (args, at) in [
        (json!({"command": "a\u{0}b"}), "/command"),
        (json!({"command": "  "}), "/command"),
        (json!({"command": "x", "workdir": "a\u{0}"}), "/workdir"),
        (json!({"command": "x", "env": {"A=B": "1"}}), "/env/A=B"),
        (json!({"command": "x", "env": {"": "1"}}), "/env/"),
        (
            json!({"command": "x", "env": {"A/B": "\u{0}"}}),
            "/env/A~1B",
        ),
    ] {
        let error = tools
            .call("execute_shell_command", &cx, args)
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
        assert_eq!(error.info().path.as_deref(), Some(at));
    }
    assert!(script.spawned.lock().unwrap().is_empty());
    for args in [
        json!({"command": "x", "env": "{\"A\":\"1\"}"}),
        json!({"command": "x", "env": {"A": 1}}),
        json!({"command": "x", "approval_id": "1"}),
        json!({}),
    ] {
        assert!(!tools.fits("execute_shell_command", &args), "{args}");
    }
}

#[tokio::test]
async fn without_a_sandbox_nothing_runs() {
    let tools = Tools::new(&BuiltinOptions::default());
    let cx = ToolContext::detached();
    let error = tools
        .call("execute_shell_command", &cx, json!({"command": "id"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
}
