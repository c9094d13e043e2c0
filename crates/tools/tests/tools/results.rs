//! What is recorded and read of a result.

use std::sync::Arc;

use outfitter_core::{
    Code, ErrorInfo, Outcome, OutcomeState, Part, PartSource, RefusingArtifacts, Status,
    ToolOutput, UiHints, canonical,
};
use outfitter_text::tokens::{Fit, fits};
use outfitter_tools::{PipelineOptions, Redactor};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Probe, World};

const LIMIT: usize = 400;

fn world(outcome: Outcome) -> World {
    World::new([Probe::new("gives").gives(move || Ok(outcome.clone().into()))]).options(
        PipelineOptions {
            max_result_tokens: LIMIT,
            ..PipelineOptions::default()
        },
    )
}

/// A result of many numbered lines.
fn lines() -> String {
    (1..=2000).map(|n| format!("line {n}\n")).collect()
}

fn records() -> Value {
    (1..=500)
        .map(|n| json!({"n": n, "name": format!("record {n}")}))
        .collect()
}

/// Whatever came back, what stands for it is bounded, marked and found again whole.
fn assert_set_aside(world: &World, output: &ToolOutput, whole: &str) {
    let read = world.read_by_model();
    assert_eq!(fits(&read, LIMIT), Fit::Within, "{read}");
    let truncated = output.truncated.as_ref().unwrap();
    assert_eq!(output.artifacts, std::slice::from_ref(&truncated.artifact));
    assert_eq!(world.artifacts.text(&truncated.artifact), whole);
    assert_eq!(truncated.total_bytes, whole.len() as u64);
    assert!(truncated.omitted_bytes > 0 && truncated.omitted_bytes < truncated.total_bytes);
    assert!(read.contains(truncated.artifact.as_str()));
    assert!(read.contains(&format!("{} bytes", truncated.omitted_bytes)));
    let row = canonical(output.result.as_ref().unwrap());
    assert!(
        row.len() < whole.len() / 2,
        "{} bytes in the row",
        row.len()
    );
}

#[tokio::test]
async fn a_long_text_becomes_an_artifact_and_its_two_ends() {
    let world = world(Outcome::text(lines()));
    let output = world.output("gives", "").await;
    assert_set_aside(&world, &output, &lines());
    assert_eq!(output.status, Status::Success);
    assert_eq!(output.result, Some(Value::String(world.read_by_model())));
    insta::assert_snapshot!(world.read_by_model());
}

#[tokio::test]
async fn a_long_json_result_is_never_passed_off_as_json() {
    let world = world(Outcome::json(records()));
    let output = world.output("gives", "").await;
    assert_set_aside(&world, &output, &canonical(&records()));
    let read = world.read_by_model();
    assert!(read.starts_with("[excerpt of "), "{read}");
    assert!(serde_json::from_str::<Value>(&read).is_err());
}

#[rstest]
#[case(records())]
#[case(Value::String(lines()))]
#[tokio::test]
async fn beside_an_error_a_long_result_is_an_excerpt_inside_whole_json(#[case] result: Value) {
    let failed = ErrorInfo::new(Code::Failed, "the last step failed");
    let world = world(Outcome::json(result.clone()).failing(failed));
    let output = world.output("gives", "").await;
    let whole = match &result {
        Value::String(text) => text.clone(),
        other => canonical(other),
    };
    assert_set_aside(&world, &output, &whole);
    let read: Value = serde_json::from_str(&world.read_by_model()).unwrap();
    assert_eq!(read["error"]["message"], "the last step failed");
    assert_eq!(Some(&read["result"]), output.result.as_ref());
}

#[tokio::test]
async fn a_text_of_the_tools_own_is_read_and_the_result_stays_the_truth() {
    let outcome = |text: &str, result: Value| Outcome {
        text: Some(text.to_owned()),
        ..Outcome::json(result)
    };
    let short = world(outcome("short", json!({"n": 1})));
    let output = short.output("gives", "").await;
    assert_eq!(short.read_by_model(), "short");
    assert_eq!(output.result, Some(json!({"n": 1})));

    let long_text = world(outcome(&lines(), json!({"n": 1})));
    let output = long_text.output("gives", "").await;
    assert_eq!(output.result, Some(json!({"n": 1})));
    let artifact = &output.truncated.as_ref().unwrap().artifact;
    assert_eq!(long_text.artifacts.text(artifact), lines());

    let long_result = world(outcome("short", records()));
    let output = long_result.output("gives", "").await;
    assert_eq!(long_result.read_by_model(), "short");
    assert_eq!(
        long_result.artifacts.text(&output.artifacts[0]),
        canonical(&records())
    );
}

#[tokio::test]
async fn where_nothing_can_be_kept_the_marker_says_so() {
    let mut world = world(Outcome::text(lines()));
    world.run.artifacts = Arc::new(RefusingArtifacts);
    let output = world.output("gives", "").await;
    assert_eq!((&output.truncated, output.artifacts.len()), (&None, 0));
    assert!(world.read_by_model().contains("left out and not kept"));
}

#[tokio::test]
async fn a_result_at_the_limit_stays_whole() {
    let world = world(Outcome::text("x".repeat(LIMIT)));
    let output = world.output("gives", "").await;
    assert_eq!(output.result, Some(json!("x".repeat(LIMIT))));
    assert_eq!(output.truncated, None);
}

/// One line more than fits costs little more than that line: of a result just over the bound nearly
/// all is read, not a part of it.
#[tokio::test]
async fn a_result_just_over_the_limit_was_cut_to_half() {
    let text = |lines: usize| -> String { (0..lines).map(|n| format!("line {n}\n")).collect() };
    let most = (1..LIMIT)
        .take_while(|lines| fits(&text(*lines), LIMIT) == Fit::Within)
        .last()
        .unwrap();
    let whole = world(Outcome::text(text(most)));
    assert_eq!(whole.output("gives", "").await.truncated, None);
    assert_eq!(whole.read_by_model(), text(most));
    let cut = world(Outcome::text(text(most + 1)));
    let output = cut.output("gives", "").await;
    let left_out = output.truncated.as_ref().unwrap().omitted_bytes as usize;
    let read = cut.read_by_model();
    assert!(
        left_out < text(most).len() / 3,
        "{left_out} of {} bytes are left out: {read}",
        text(most + 1).len()
    );
    let last = format!("line {most}\n");
    assert!(
        read.starts_with("line 0\n") || read.contains("\nline 0\n"),
        "{read}"
    );
    assert!(read.trim_end().ends_with(last.trim_end()), "{read}");
}

#[tokio::test]
async fn an_error_is_bounded_too() {
    let mut error =
        ErrorInfo::new(Code::Unavailable, "m".repeat(100_000)).with_hint("h".repeat(100_000));
    error.got = Some(json!(["g".repeat(100_000)]));
    let world = World::new([Probe::new("errs").gives(move || Err(error.clone().into()))]);
    world.output("errs", "").await;
    let read = world.read_by_model();
    assert!(read.len() < 30_000, "{} bytes", read.len());
    assert!(read.contains("left out and not kept"));
}

#[rstest]
#[case(OutcomeState::Complete, Status::Success)]
#[case(OutcomeState::Partial, Status::Partial)]
#[case(OutcomeState::Running, Status::Running)]
#[tokio::test]
async fn how_far_the_work_got_is_the_status(#[case] state: OutcomeState, #[case] status: Status) {
    let world = world(Outcome {
        state,
        ..Outcome::json(json!({"exit_code": 3}))
    });
    assert_eq!(world.output("gives", "").await.status, status);
}

#[tokio::test]
async fn parts_follow_the_projection() {
    let picture = Part::Image {
        mime: "image/png".to_owned(),
        source: PartSource::Base64 {
            data: "AAAA".to_owned(),
        },
    };
    let world = world(Outcome {
        parts: vec![picture.clone()],
        ..Outcome::json(json!({"width": 1}))
    });
    world.output("gives", "").await;
    let text = Part::Text {
        text: r#"{"width":1}"#.to_owned(),
    };
    assert_eq!(world.journal.messages()[0].parts, [text, picture]);
}

#[tokio::test]
async fn a_picture_too_large_for_the_log_leaves_a_note_and_not_its_bytes() {
    let picture = |bytes: usize| Part::Image {
        mime: "image/png".to_owned(),
        source: PartSource::Base64 {
            data: "A".repeat(bytes),
        },
    };
    let world = world(Outcome {
        parts: vec![picture(9 << 20), picture(8)],
        ui: Some(UiHints(json!("x".repeat(2 << 20)))),
        ..Outcome::json(json!({"width": 1}))
    });
    let output = world.output("gives", "").await;
    let parts = world.journal.messages()[0].parts.clone();
    let note = Part::Text {
        text: "[left out: image/png of 9437184 bytes, too large]".to_owned(),
    };
    assert_eq!(parts[1..], [note, picture(8)]);
    assert_eq!(output.ui_hints, None);
}

#[tokio::test]
async fn a_known_secret_is_nowhere_in_what_is_recorded() {
    let options = PipelineOptions {
        redactor: Redactor::new(["s3cr3t-value".to_owned().into()]),
        max_result_tokens: LIMIT,
        ..PipelineOptions::default()
    };
    let world = World::new([
        Probe::new("echo"),
        Probe::new("errs").gives(|| {
            let mut error = ErrorInfo::new(Code::Failed, "401 for s3cr3t-value");
            error.got = Some(json!("s3cr3t-value"));
            Err(error.into())
        }),
        Probe::new("means").gives(|| {
            let mut outcome = Outcome::json(json!("ok"));
            outcome.ui = Some(UiHints(json!({"title": "s3cr3t-value"})));
            outcome.parts = vec![Part::Text {
                text: "a s3cr3t-value".to_owned(),
            }];
            Ok(outcome.into())
        }),
        Probe::new("long").gives(|| Ok(Outcome::text(format!("s3cr3t-value {}", lines())).into())),
    ])
    .options(options);
    let raw = r#"{"url":"https://u:s3cr3t-value@h","password":"other"}"#;
    for (name, raw) in [
        ("echo", raw),
        ("errs", ""),
        ("means", ""),
        ("long", ""),
        ("nope", raw),
        ("echo", r#"{"s3cr3t-value"#),
    ] {
        let output = world.output(name, raw).await;
        for artifact in &output.artifacts {
            assert!(!world.artifacts.text(artifact).contains("s3cr3t"), "{name}");
        }
    }
    let recorded = format!("{:?}", world.journal.seen());
    assert!(!recorded.contains("s3cr3t"), "{recorded}");
    assert!(recorded.contains("[redacted]"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_result_is_ever_read_over_the_limit_or_silently_cut(
        text in "(\\PC{0,40}\n?){0,60}", json in any::<bool>(), fails in any::<bool>(),
    ) {
        let result = if json { json!({"text": text, "more": [text.len()]}) } else { json!(text) };
        let mut outcome = Outcome::json(result.clone());
        if fails {
            outcome = outcome.stopped(Code::Failed, "no");
        }
        let world = world(outcome);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let output = runtime.block_on(world.output("gives", ""));
        let read = world.read_by_model();
        prop_assert_eq!(fits(&read, LIMIT), Fit::Within);
        match &output.truncated {
            Some(truncated) => prop_assert!(read.contains(truncated.artifact.as_str())),
            None => prop_assert_eq!(output.result.as_ref(), Some(&result)),
        }
    }
}
