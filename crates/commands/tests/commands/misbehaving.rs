//! Programs that hang, flood, fork and die. None of them ends a run, and nothing is left of them.

use std::time::Duration;

use outfitter_core::{Code, Status};
use serde_json::json;

use crate::support::{LIVENESS, World, alive, description, entry, there};

const OK: &str = r#"echo '{"v":1,"status":"success","result":{}}'"#;

/// A number that is in no other command line.
fn mark(test: u32) -> String {
    format!("{}{test}", std::process::id())
}

#[tokio::test]
async fn a_program_that_hangs_is_stopped_with_its_tree() {
    let world = World::new();
    let mark = mark(7001);
    let script = format!("trap '' TERM; (setsid sleep {mark} &); echo '{{' ; sleep {mark}");
    let mut program = world.program("probe", &description(json!([entry()])), &script);
    let session = {
        program.timeout = Duration::from_secs(10);
        world.session([program]).await
    };
    let output = tokio::time::timeout(LIVENESS, session.run(json!({})))
        .await
        .unwrap();
    assert_eq!(output.status, Status::Timeout, "{output:?}");
    let error = output.error.unwrap();
    assert_eq!(
        error.message,
        "probe was stopped: its time was up (10 s at most)"
    );
    assert!(error.retryable);
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_cancelled_call_takes_the_tree_down() {
    let world = World::new();
    let mark = mark(7002);
    let script = format!("touch \"$OUT/up\"; (sleep {mark} &) ; sleep {mark}");
    let session = world.probe(&script).await;
    let up = world.path("up");
    let (output, ()) = tokio::join!(session.run(json!({})), async {
        there(&up).await;
        session.cancel.cancel();
    });
    assert_eq!(output.status, Status::Cancelled, "{output:?}");
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_holds_nobody_up() {
    let world = World::new();
    let mark = mark(7003);
    let session = world.probe(&format!("{OK}; (setsid sleep {mark} &)")).await;
    let output = tokio::time::timeout(LIVENESS, session.run(json!({})))
        .await
        .unwrap();
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_closes_its_streams_and_works_on_is_waited_for() {
    let world = World::new();
    let script = format!("{OK}; exec >&- 2>&-; sleep 0.3; touch \"$OUT/done\"");
    let output = world.probe(&script).await.run(json!({})).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert!(world.path("done").exists());
}

#[tokio::test]
async fn more_output_than_there_may_be_is_cut_and_kept() {
    let world = World::new();
    let mut program = world.program("probe", &description(json!([entry()])), "yes");
    program.max_output_bytes = 100_000;
    let session = world.session([program]).await;
    let output = tokio::time::timeout(LIVENESS, session.run(json!({})))
        .await
        .unwrap();
    let error = output.error.unwrap();
    assert_eq!(error.code, Code::ProtocolError);
    assert!(
        error.message.ends_with("it printed more than 100000 bytes"),
        "{error:?}"
    );
    assert_eq!(session.artifacts.only(), "y\n".repeat(50_000).as_bytes());
}

#[tokio::test]
async fn one_byte_more_in_the_last_moment_is_too_much_too() {
    let world = World::new();
    let description = description(json!([entry()]));
    let document = json!({
        "v": 1, "status": "success", "result": { "filler": "x".repeat(description.len()) },
    })
    .to_string();
    std::fs::write(world.path("document"), &document).unwrap();
    for (room, good) in [(document.len(), true), (document.len() - 1, false)] {
        let mut program = world.program("probe", &description, "cat \"$OUT/document\"");
        program.max_output_bytes = room;
        let output = world.session([program]).await.run(json!({})).await;
        assert_eq!(output.status == Status::Success, good, "{output:?}");
    }
}

#[tokio::test]
async fn a_flood_of_log_holds_nothing_up() {
    let world = World::new();
    let session = world
        .probe(&format!("seq 1 400000 >&2; {OK}; seq 1 400000 >&2"))
        .await;
    let output = tokio::time::timeout(LIVENESS, session.run(json!({})))
        .await
        .unwrap();
    assert_eq!(output.status, Status::Success, "{output:?}");
    let shown = session.recorder.shown();
    assert!(shown.starts_with("1\n2\n3\n"));
    assert!(shown.ends_with("… more of its log is not shown\n"));
    assert!(shown.len() < 300_000);
}

#[tokio::test]
async fn a_program_that_reads_nothing_is_not_waited_for() {
    let world = World::new();
    let session = world.probe(OK).await;
    let output = session.run(json!({ "text": "x".repeat(1_000_000) })).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
}

#[tokio::test]
async fn a_program_that_is_killed_broke_its_protocol() {
    let world = World::new();
    let session = world.probe(&format!("{OK}; kill -SEGV $$")).await;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.code, Code::ProtocolError);
    assert!(
        error.message.ends_with("it was ended by signal 11"),
        "{error:?}"
    );
    assert_eq!(output.result.unwrap()["signal"], 11);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_as_they_are() {
    let world = World::new();
    let session = world.probe(r"printf '\377\376{}'").await;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert!(error.message.contains("no UTF-8"), "{error:?}");
    assert_eq!(session.artifacts.only(), b"\xff\xfe{}");
}

#[tokio::test]
async fn a_program_that_has_gone_since_is_unavailable() {
    let world = World::new();
    let program = world.program("probe", &description(json!([entry()])), OK);
    let shell = world.path("shell");
    std::os::unix::fs::symlink("/bin/sh", &shell).unwrap();
    let mut program = program;
    program.program = shell.clone();
    let session = world.session([program]).await;
    std::fs::remove_file(&shell).unwrap();
    let error = session.run(json!({})).await.error.unwrap();
    assert_eq!(error.code, Code::Unavailable);
    assert_eq!(error.message, "failed to start the program probe");
    assert!(error.retryable);
}

#[tokio::test]
async fn calls_at_once_do_not_meet() {
    let world = World::new();
    let script = r#"echo $PPID > own; sleep 0.2; [ "$(cat own)" = $PPID ] && echo '{"v":1,"status":"success","result":{}}'"#;
    let session = world.probe(script).await;
    let calls = (0..8).map(|_| session.run(json!({})));
    for output in futures_util::future::join_all(calls).await {
        assert_eq!(output.status, Status::Success, "{output:?}");
    }
}
