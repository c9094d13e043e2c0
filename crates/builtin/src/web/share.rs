//! How much of each page fits a result that all of them are in.

use outfitter_core::canonical;
use outfitter_text::tokens::{Fit, fits};
use serde_json::Value;

/// A token is hardly ever more characters than this.
const MOST_CHARS_PER_TOKEN: usize = 16;

/// The most characters of each page with which the result is no longer than `limit` tokens, and no
/// more than `wanted`. Short pages take what they need; what they leave is the others'.
pub(super) fn fair(wanted: usize, limit: usize, result: impl Fn(usize) -> Value) -> usize {
    let within = |chars: usize| fits(&canonical(&result(chars)), limit) == Fit::Within;
    let wanted = wanted.min(limit.saturating_mul(MOST_CHARS_PER_TOKEN));
    if within(wanted) {
        return wanted;
    }
    let (mut least, mut most) = (0, wanted);
    while most - least > 1 {
        let middle = least.midpoint(most);
        if within(middle) {
            least = middle;
        } else {
            most = middle;
        }
    }
    least
}
