//! What comes beside a result: its pictures and what it means to a reader. They are kept in the log
//! with it, so they are clean and bounded like it.

use outfitter_core::{Part, PartSource, UiHints, canonical};
use outfitter_text::head_tail::{Budget, Whole, bound as head_tail};

use crate::Redactor;

/// The most that all parts of one outcome may hold, in bytes as they are recorded. A picture that
/// providers take is smaller.
const MAX_PARTS_BYTES: usize = 8 * 1024 * 1024;

/// The most that a result may mean, in bytes of JSON: far more than anybody draws.
const MAX_UI_BYTES: usize = 1024 * 1024;

/// The hints without known secrets, or none where they are too many: the result stands without.
pub(super) fn ui(mut ui: UiHints, tool: &str, redactor: &Redactor) -> Option<UiHints> {
    redactor.clean(&mut ui.0);
    let bytes = canonical(&ui.0).len();
    if bytes > MAX_UI_BYTES {
        tracing::warn!(%tool, bytes, "what a result means is too long to be kept; it is left out");
        return None;
    }
    Some(ui)
}

/// Takes known secrets out of texts, shortens them to what a model may read, and puts a note in the
/// place of every part that does not fit.
pub(super) fn parts(parts: &mut [Part], redactor: &Redactor, limit: usize) {
    let mut left = MAX_PARTS_BYTES;
    for part in parts {
        if let Some(text) = text_of(part) {
            redactor.clean_text(text);
            let budget = Budget::Tokens(limit);
            *text = head_tail(text, budget, Whole::NotKept).to_string();
        }
        let bytes = size(part);
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => {
                let text = format!("[left out: {} of {bytes} bytes, too large]", kind(part));
                *part = Part::Text { text };
            }
        }
    }
}

fn text_of(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } | Part::Refusal { text } => Some(text),
        Part::ToolCall(_) | Part::Image { .. } | Part::File { .. } | Part::Provider { .. } => None,
    }
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } | Part::Refusal { text } => text.len(),
        Part::ToolCall(call) => call.arguments.len(),
        Part::Image { source, .. } | Part::File { source, .. } => match source {
            PartSource::Base64 { data } => data.len(),
            PartSource::Artifact { id } => id.as_str().len(),
            PartSource::Url { url } => url.len(),
        },
        Part::Provider { data, .. } => canonical(data).len(),
    }
}

fn kind(part: &Part) -> &str {
    match part {
        Part::Text { .. } => "a text",
        Part::Reasoning { .. } => "a thought",
        Part::Refusal { .. } => "a refusal",
        Part::ToolCall(_) => "a call",
        Part::Image { mime, .. } | Part::File { mime, .. } => mime,
        Part::Provider { .. } => "a part of a provider's",
    }
}
