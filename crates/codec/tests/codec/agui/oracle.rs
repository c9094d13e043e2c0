//! What others make of our streams: `ag-ui-validate`, where it is installed.
//!
//! `crates/codec/tests/tools/ag-ui-validate.sh` installs it into the target directory.

use std::path::PathBuf;

#[expect(
    clippy::disallowed_types,
    reason = "a test runs another program on its own output"
)]
use std::process::Command;

use outfitter_codec::agui::{ClientEra, Transcript};
use outfitter_core::RunOutcome;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::story::{run, steps};
use super::{encoded, frame, frames};

fn target() -> PathBuf {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap().to_path_buf()
}

#[test]
fn ag_ui_validate_finds_nothing_wrong() {
    let program = target().join("ag-ui-validate/bin/ag-ui-validate");
    if !program.exists() {
        println!(
            "SKIPPED(ag-ui-validate): run crates/codec/tests/tools/ag-ui-validate.sh to install it"
        );
        return;
    }
    let mut streams = vec![crate::samples::run(), crate::samples::waiting_run()];
    let mut runner = TestRunner::deterministic();
    let outcomes = [
        RunOutcome::Success,
        RunOutcome::Failed,
        RunOutcome::Cancelled,
        RunOutcome::Limit,
    ];
    for outcome in outcomes.iter().cycle().take(12) {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        streams.push(run(1, &steps, *outcome));
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ag-ui");
    std::fs::create_dir_all(&folder).unwrap();
    for (at, events) in streams.iter().enumerate() {
        for era in [ClientEra::One, ClientEra::Before] {
            let stream = frames(&encoded(frame("r", era), Transcript::new(), events));
            let file = folder.join(format!("{at}-{era:?}.sse"));
            std::fs::write(&file, &stream).unwrap();
            #[expect(clippy::disallowed_types, reason = "see above")]
            let said = Command::new(&program)
                .arg(&file)
                .args(["--max-warnings", "0", "--no-color"])
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&said.stdout);
            assert!(said.status.success(), "{text}\n{stream}");
        }
    }
}
