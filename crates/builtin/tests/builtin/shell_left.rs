//! What a command leaves behind, as the result tells it.

use outfitter_core::Exit;
use serde_json::json;

use crate::shell::{run, set_up};
use crate::support::{Pieces, Script};

#[tokio::test]
async fn what_was_left_behind_is_told() {
    let (tools, cx, script, _) = set_up(Script::new(Pieces::default()));
    script.exit(
        0,
        Exit {
            code: Some(0),
            killed_children: 2,
            dropped_bytes: 7,
            notices: vec!["the directory is gone; it ran in the workspace".to_owned()],
            ..Exit::default()
        },
    );
    let outcome = run(&tools, &cx, json!({"command": "sleep 9 & sleep 9 &"})).await;
    assert_eq!(outcome.result["killed_children"], 2);
    let notices = outcome.result["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 3, "{notices:?}");
}

/// A process that no signal reaches was told as killed.
#[tokio::test]
async fn what_outlives_a_kill_was_told_as_killed() {
    for (timed_out, message) in [
        (false, None),
        (
            true,
            Some("the command ran out of time, and not all of it could be killed"),
        ),
    ] {
        let (tools, cx, script, _) = set_up(Script::new(Pieces::default()));
        script.exit(
            0,
            Exit {
                code: (!timed_out).then_some(0),
                timed_out,
                survivors: vec![7, 12],
                ..Exit::default()
            },
        );
        let outcome = run(&tools, &cx, json!({"command": "cat /mnt/gone"})).await;
        let notices = outcome.result["notices"].as_array().unwrap();
        let mut said = notices.iter().filter_map(|notice| notice.as_str());
        let said = said.find(|notice| notice.starts_with("survivors: "));
        assert!(
            said.is_some_and(|said| said.contains("7, 12;")),
            "{notices:?}"
        );
        let stopped = outcome.failed.as_ref().map(|error| error.message.as_str());
        assert_eq!(stopped, message);
    }
}
