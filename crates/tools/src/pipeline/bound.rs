//! Redact, bound and offload: what is recorded and read is made of what came back.
//!
//! The projection, which is all a model reads, is made once here. Where the result is longer than
//! the model may read, the whole of it becomes an artifact, and what stands in its place, in the
//! projection and in the output alike, is the text of its head, a marker with the artifact's id, and
//! its tail. So no row of the log and no event ever carries more than a model reads.

use std::sync::Arc;

use outfitter_core::{
    ErrorInfo, Outcome, OutcomeState, Part, Projection, Status, ToolName, ToolOutput, canonical,
};
use outfitter_text::head_tail::{Budget, Whole, bound as head_tail};
use serde_json::Value;

use super::{Head, PipelineOptions, accompanying, offload, preset};
use crate::{Redactor, RunHandle};

/// The longest message, hint or value of an error in bytes. Errors are written to be read whole.
const MAX_ERROR_BYTES: usize = 8192;

/// What the projection is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// The result, and the error where there is one.
    Result,
    /// A text of the tool's that says the same.
    Text,
}

/// A call that is over, as it will be recorded.
pub(crate) struct Bounded {
    /// Where it stays: it is large, and handed on from stage to stage.
    pub(crate) output: Arc<ToolOutput>,
    /// All that a model reads.
    pub(crate) text: String,
    pub(super) says: Says,
    pub(crate) parts: Vec<Part>,
    pub(crate) activate: Vec<ToolName>,
}

pub(crate) async fn bound(
    head: Head,
    args: Value,
    outcome: Box<Outcome>,
    redactor: &Redactor,
    options: &PipelineOptions,
    run: &RunHandle,
) -> Bounded {
    let limit = options.max_result_tokens;
    let mut bounded = assemble(head, args, outcome, redactor, limit);
    if offload::is_over(&bounded, limit) {
        // Rare and large: most calls do not carry its state.
        Box::pin(offload::shorten(&mut bounded, limit, run)).await;
    }
    bounded
}

/// The output and its projection, clean and whole.
fn assemble(
    head: Head,
    args: Value,
    outcome: Box<Outcome>,
    redactor: &Redactor,
    limit: usize,
) -> Bounded {
    let Outcome {
        mut result,
        mut text,
        mut parts,
        ui,
        mut failed,
        activate,
        state,
        artifacts,
    } = *outcome;
    redactor.clean(&mut result);
    text.iter_mut().for_each(|text| redactor.clean_text(text));
    let ui = ui.and_then(|ui| accompanying::ui(ui, &head.name, redactor));
    accompanying::parts(&mut parts, redactor, limit);
    if let Some(error) = &mut failed {
        preset::not_to_blame(error, &head);
        redactor.clean_error(error);
        bound_error(error);
    }
    let status = match (&failed, state) {
        (Some(error), _) => Status::of(error.code),
        (None, OutcomeState::Complete) => Status::Success,
        (None, OutcomeState::Partial) => Status::Partial,
        (None, OutcomeState::Running) => Status::Running,
    };
    let (text, says) = match (text, &failed) {
        (Some(text), None) => (text, Says::Text),
        // A tool without a result still has something to read: `null`.
        (None, None) => (Projection::of(Some(&result), None).0, Says::Result),
        (_, Some(error)) => {
            let shown = (!result.is_null()).then_some(&result);
            (Projection::of(shown, Some(error)).0, Says::Result)
        }
    };
    Bounded {
        output: Arc::new(ToolOutput {
            tool_name: head.name,
            resolved: head.resolved,
            tool_call_id: head.id,
            tool_call_args: args,
            status,
            result: (!result.is_null()).then_some(result),
            error: failed,
            ui_hints: ui,
            artifacts,
            truncated: None,
        }),
        text,
        says,
        parts,
        activate,
    }
}

fn bound_error(error: &mut ErrorInfo) {
    let shorten = |text: &mut String| {
        if text.len() > MAX_ERROR_BYTES {
            *text = head_tail(text, Budget::Bytes(MAX_ERROR_BYTES), Whole::NotKept).to_string();
        }
    };
    shorten(&mut error.message);
    error.hint.iter_mut().for_each(shorten);
    for value in error.expected.iter_mut().chain(&mut error.got) {
        let mut text = canonical(value);
        if text.len() > MAX_ERROR_BYTES {
            shorten(&mut text);
            *value = Value::String(text);
        }
    }
}
