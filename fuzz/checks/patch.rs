//! What holds of every patch on every text: before a line of `====` stands the patch, after it the
//! text.

use outfitter_text::patch::{Change, Hunk, apply, parse};

/// Panics where something does not hold.
pub(crate) fn check(data: &[u8]) {
    let data = String::from_utf8_lossy(data);
    let (patch, text) = data.split_once("\n====\n").unwrap_or((&data, &data));
    let lines = patch.split('\n').count();
    let read = parse(patch);
    assert_eq!(read, parse(patch), "read once so and once otherwise");
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.what.is_empty());
            return;
        }
    };
    for file in &read.files {
        assert!(file.line <= lines, "line {} of {lines}", file.line);
        match &file.change {
            Change::Create { path, .. } => assert!(!path.is_empty()),
            Change::Delete { path, hunks } | Change::Update { path, hunks, .. } => {
                assert!(!path.is_empty());
                applies_or_says_why(text, hunks);
            }
        }
    }
}

fn applies_or_says_why(text: &str, hunks: &[Hunk]) {
    match apply(text, hunks) {
        Ok(applied) => {
            let most = |count: fn(&Hunk) -> u64| hunks.iter().map(count).sum::<u64>();
            assert!(applied.additions <= most(Hunk::additions));
            assert!(applied.deletions <= most(Hunk::deletions));
            if applied.additions == 0 && applied.deletions == 0 {
                assert_eq!(applied.text, text, "nothing was changed, and something was");
            }
            let again = apply(text, hunks);
            assert_eq!(again.as_ref(), Ok(&applied), "once so and once otherwise");
        }
        Err(misfit) => assert!(!misfit.to_string().is_empty()),
    }
}
