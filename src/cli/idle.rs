//! What of the configuration means nothing, told when something begins to work with it.

use outfitter_agent::{Input, Note, RunRequest};
use outfitter_core::WarningCode;

use super::Invocation;
use crate::outfit::Outfitter;

/// Tells people on stderr, and gives the same for programs.
pub(super) fn warned(at: &Invocation<'_>, whole: &Outfitter) -> Vec<String> {
    let idle = whole.idle_keys().idle;
    let warnings: Vec<String> = idle.iter().map(ToString::to_string).collect();
    for warning in &warnings {
        at.out.tell_line(&format!("warning: {warning}"));
    }
    warnings
}

/// A run that begins with these warnings.
pub(super) fn noted(whole: &Outfitter, input: Input) -> RunRequest {
    RunRequest {
        notes: notes(whole),
        ..input.into()
    }
}

/// The same as warnings of a run.
pub(super) fn notes(whole: &Outfitter) -> Vec<Note> {
    let idle = whole.idle_keys().idle.into_iter();
    let note = |message: String| Note {
        code: WarningCode::UnknownName,
        message,
    };
    idle.map(|idle| note(idle.to_string())).collect()
}
