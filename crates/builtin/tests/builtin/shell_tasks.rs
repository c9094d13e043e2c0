//! Tasks that are lost, and those that are none.

use outfitter_core::{Code, Exit};
use serde_json::json;

use crate::shell::{OUT, set_up};
use crate::support::{Pieces, Script};

/// A task of an earlier program: what it printed is read, and that nobody saw its end is the error.
#[tokio::test]
async fn a_task_that_was_interrupted_is_lost_with_its_output() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces(vec![(OUT, b"so far\n")])));
    script.exit(
        7,
        Exit {
            interrupted: true,
            notices: vec!["the program ended".to_owned()],
            ..Exit::default()
        },
    );
    let args = json!({"task_id": "job_1", "pattern": "so far"});
    let outcome = tools.call("await_shell", &cx, args).await.unwrap();
    let expected = json!({
        "status": "lost", "task_id": "job_1", "stdout": "so far\n", "stderr": "",
        "stdout_bytes": 7, "stderr_bytes": 0, "matched": true, "notices": ["the program ended"],
    });
    assert_eq!(outcome.result, expected);
    assert_eq!(outcome.failed.unwrap().code, Code::Interrupted);
}

#[tokio::test]
async fn who_asks_for_a_task_that_is_none_is_told_those_that_are() {
    let (tools, cx, _, _) = set_up(Script::new(Pieces::default()));
    for tool in ["await_shell", "kill_shell"] {
        let error = tools.call(tool, &cx, json!({"task_id": "job_other"})).await;
        let info = error.unwrap_err().into_info();
        assert_eq!(info.code, Code::NotFound);
        let hint = info.hint.unwrap();
        let named = "job_1 (running)";
        assert!(hint.contains(named), "{tool}: {hint}");
    }
}
