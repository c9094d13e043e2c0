//! What decoders say when a reply is none.

use outfitter_core::{ModelError, StopReason};
use serde_json::Value;

use crate::http::error_words;

/// The provider's words about what went wrong.
pub(crate) fn reported(message: String) -> ModelError {
    ModelError::Provider { message }
}

/// The words of an error in `data`, if it is one.
pub(crate) fn words_in(data: &str) -> Option<String> {
    let value: Value = serde_json::from_str(data).ok()?;
    error_words(&value)
}

/// What `data` is where a piece of a reply was expected: the provider's error, or not `what`.
pub(crate) fn not_a(what: &str, data: &str) -> ModelError {
    match words_in(data) {
        Some(said) => reported(said),
        None => ModelError::Protocol {
            message: format!("it is not {what}: {data}"),
        },
    }
}

/// What does not read as `what`.
pub(crate) fn unreadable(what: &str, error: &serde_json::Error) -> ModelError {
    ModelError::Protocol {
        message: format!("it is not {what}: {error}"),
    }
}

/// Why a reply stopped where nobody said.
pub(crate) fn unsaid(called: bool) -> StopReason {
    if called {
        StopReason::ToolCalls
    } else {
        StopReason::End
    }
}

/// How many bytes a text adds to what is kept.
pub(crate) fn size(text: &str) -> u64 {
    text.len() as u64
}
