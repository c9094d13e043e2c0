//! What changed, for a reader.

use std::time::Duration;

use outfitter_text::head_tail::{Budget, Whole, bound};
use similar::TextDiff;

use super::super::charset::shown;

/// How long a diff may be.
const MAX_DIFF_CHARS: usize = 8000;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// After this the comparison gets coarser instead of longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A unified diff, bounded.
pub(super) fn unified(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let text = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    bound(&shown(&text), Budget::Chars(MAX_DIFF_CHARS), Whole::NotKept).to_string()
}
