//! What a command prints that a result has no room for: what is shown of it, and where all of it is
//! kept.

use std::sync::Arc;

use bytes::Bytes;
use outfitter_builtin::{BuiltinOptions, ShellOptions};
use outfitter_core::{Exit, Stream};
use serde_json::json;

use crate::shell::{ERR, OUT, run, set_up, set_up_with};
use crate::support::{Pieces, Print, Script, Shelf};

/// `yes`, as long as it takes.
struct Yes(u64);

impl Print for Yes {
    fn len(&self) -> u64 {
        self.0
    }
    fn range(&self, from: u64, to: u64) -> Vec<(Stream, Bytes)> {
        let bytes: Vec<u8> = (from..to)
            .map(|at| if at % 2 == 0 { b'y' } else { b'\n' })
            .collect();
        vec![(OUT, bytes.into())]
    }
}

#[tokio::test]
async fn endless_output_is_kept_whole_and_shown_by_head_and_tail() {
    const BYTES: u64 = 20 << 20;
    let (tools, mut cx, script, _) = set_up(Script::new(Yes(BYTES)));
    let shelf = Arc::new(Shelf::default());
    cx.artifacts = shelf.clone();
    cx.progress = outfitter_core::Progress::nowhere();
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "yes | head"})).await;
    let text = outcome.result["stdout"].as_str().unwrap();
    assert!(text.chars().count() <= 8000);
    assert!(text.starts_with("y\ny\n") && text.ends_with("y\ny\n"));
    assert!(
        text.contains("left out; the whole is artifact art_1"),
        "{text}"
    );
    assert_eq!(outcome.result["artifact"], "art_1");
    assert_eq!(outcome.artifacts[0].as_str(), "art_1");
    let kept = shelf.kept.lock().unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].size, BYTES);
    assert!(kept[0].largest_append <= 1 << 20);
    assert!(kept[0].start.starts_with(b"y\ny\n"));
    assert_eq!(kept[0].new.mime, "text/plain");
    assert_eq!(kept[0].new.name, "output of yes | head");
}

#[tokio::test]
async fn the_secrets_of_a_command_were_in_the_name_of_its_artifact() {
    let (tools, mut cx, script, _) = set_up(Script::new(Yes(1 << 20)));
    let shelf = Arc::new(Shelf::default());
    cx.artifacts = shelf.clone();
    script.end(0);
    let command = "yes; : http://bob:PW@h.example/?api_key=KEY99";
    run(&tools, &cx, json!({"command": command})).await;
    let kept = shelf.kept.lock().unwrap();
    assert_eq!(
        kept[0].new.name,
        "output of yes; : http://bob:[redacted]@h.example/?api_key=[redacted]"
    );
}

#[tokio::test]
async fn what_an_artifact_cannot_take_is_said() {
    let (tools, mut cx, script, _) = set_up(Script::new(Yes(3 << 20)));
    cx.artifacts = Arc::new(Shelf {
        limit: Some(2 << 20),
        ..Shelf::default()
    });
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "yes"})).await;
    let notices = outcome.result["notices"].to_string();
    assert!(
        notices.contains("only the first 2097152 bytes"),
        "{notices}"
    );
    let text = outcome.result["stdout"].as_str().unwrap();
    assert!(
        text.contains("art_1 has only a part") && !text.contains("the whole"),
        "{text}"
    );

    let (tools, cx, script, _) = set_up(Script::new(Yes(3 << 20)));
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "yes"})).await;
    assert_eq!(outcome.result.get("artifact"), None);
    assert!(
        outcome.result["stdout"]
            .as_str()
            .unwrap()
            .contains("left out and not kept")
    );
    assert!(
        outcome.result["notices"]
            .to_string()
            .contains("the whole output is not kept")
    );
}

/// The marker named an artifact as the whole of an output that had lost its end.
#[tokio::test]
async fn an_artifact_of_output_that_lost_its_end_is_not_called_the_whole() {
    let (tools, mut cx, script, _) = set_up(Script::new(Yes(3 << 20)));
    cx.artifacts = Arc::new(Shelf::default());
    script.exit(
        3 << 20,
        Exit {
            code: Some(0),
            dropped_bytes: 131,
            ..Exit::default()
        },
    );
    let outcome = run(&tools, &cx, json!({"command": "yes"})).await;
    assert_eq!(outcome.result["artifact"], "art_1");
    let text = outcome.result["stdout"].as_str().unwrap();
    assert!(
        text.contains("art_1 has only a part") && !text.contains("the whole"),
        "{text}"
    );
    let notices = outcome.result["notices"].to_string();
    assert!(notices.contains("131 bytes of the output"), "{notices}");
}

#[tokio::test]
async fn the_limit_of_each_stream_is_the_configured_one() {
    let options = BuiltinOptions {
        shell: ShellOptions {
            max_output_chars: 500,
            ..ShellOptions::default()
        },
        ..BuiltinOptions::default()
    };
    let (tools, cx, script, _) = set_up_with(Script::new(Yes(4000)), &options);
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "yes"})).await;
    assert!(outcome.result["stdout"].as_str().unwrap().chars().count() <= 500);
}

#[tokio::test]
async fn output_that_is_no_text_is_named_and_kept() {
    let pieces = Pieces(vec![(OUT, b"\0\x01\x02\xff\xfe\0\0"), (ERR, b"caf\xe9\n")]);
    let (tools, mut cx, script, _) = set_up(Script::new(pieces));
    let shelf = Arc::new(Shelf::default());
    cx.artifacts = shelf.clone();
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(
        outcome.result["stdout"],
        "binary, 7 bytes, application/octet-stream"
    );
    assert_eq!(outcome.result["stderr"], "caf\u{e9}\n");
    assert_eq!(outcome.result["exit_code"], 0);
    let kept = shelf.kept.lock().unwrap();
    assert_eq!(kept[0].start, b"\0\x01\x02\xff\xfe\0\0caf\xe9\n");
    assert_eq!(kept[0].new.mime, "application/octet-stream");
}
