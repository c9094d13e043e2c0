//! Redact, bound and offload: what is recorded and read is made of what came back.
//!
//! The projection, which is all a model reads, is made once here. Where the result is longer than
//! the model may read, the whole of it becomes an artifact, and what stands in its place, in the
//! projection and in the output alike, is the text of its head, a marker with the artifact's id, and
//! its tail. So no row of the log and no event ever carries more than a model reads.

use outfitter_core::{
    ErrorInfo, Outcome, OutcomeState, Part, Status, ToolName, ToolOutput, canonical,
};
use outfitter_text::head_tail::{Budget, Whole, bound as head_tail};
use serde_json::Value;

use super::{Head, PipelineOptions, fit};
use crate::RunHandle;

/// The longest message, hint or value of an error in bytes. Errors are written to be read whole.
const MAX_ERROR_BYTES: usize = 8192;

/// A call that is over, as it will be recorded.
pub(crate) struct Bounded {
    pub(crate) output: ToolOutput,
    pub(crate) parts: Vec<Part>,
    pub(crate) activate: Vec<ToolName>,
}

pub(crate) async fn bound(
    head: Head,
    args: Value,
    outcome: Outcome,
    options: &PipelineOptions,
    run: &RunHandle,
) -> Bounded {
    let Outcome {
        mut result,
        mut text,
        parts: more,
        ui,
        mut failed,
        activate,
        state,
        artifacts,
    } = outcome;
    options.redactor.clean(&mut result);
    text.iter_mut()
        .for_each(|text| options.redactor.clean_text(text));
    if let Some(error) = &mut failed {
        options.redactor.clean_error(error);
        bound_error(error);
    }

    let status = match (&failed, state) {
        (Some(error), _) => Status::of(error.code),
        (None, OutcomeState::Complete) => Status::Success,
        (None, OutcomeState::Partial) => Status::Partial,
        (None, OutcomeState::Running) => Status::Running,
    };
    let mut output = ToolOutput {
        tool_name: head.name,
        tool_call_id: head.id,
        tool_call_args: args,
        status,
        result: None,
        error: failed,
        ui_hints: ui,
        artifacts,
        truncated: None,
    };
    let text = fit::project(result, text, &mut output, options.max_result_tokens, run).await;
    let mut parts = vec![Part::Text { text }];
    parts.extend(more);
    Bounded {
        output,
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
