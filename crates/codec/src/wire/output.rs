//! Results and errors on the wire.

use outfitter_core as core;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::words::{Code, Status};

/// The one result of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolOutput<'a> {
    /// The tool, as it was called.
    tool_name: &'a str,
    /// The call.
    tool_call_id: &'a str,
    /// Its arguments, with what is sensitive taken out.
    tool_call_args: &'a Value,
    /// How it ended.
    status: Status,
    /// The structured truth: JSON of any type. Left out when there is none; `null` is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorInfo<'a>>,
    /// What the result means to a reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_hints: Option<&'a Value>,
    /// The ids of where more of it is kept; left out when there are none.
    #[serde(skip_serializing_if = "<[core::ArtifactId]>::is_empty")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    artifacts: &'a [core::ArtifactId],
    /// Said when a model reads less than all.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated<'a>>,
}

impl<'a> From<&'a core::ToolOutput> for ToolOutput<'a> {
    fn from(output: &'a core::ToolOutput) -> Self {
        Self {
            tool_name: &output.tool_name,
            tool_call_id: output.tool_call_id.as_str(),
            tool_call_args: &output.tool_call_args,
            status: output.status.into(),
            result: output.result.as_ref(),
            error: output.error.as_ref().map(ErrorInfo::from),
            ui_hints: output.ui_hints.as_ref().map(|hints| &hints.0),
            artifacts: &output.artifacts,
            truncated: output.truncated.as_ref().map(|truncated| Truncated {
                total_bytes: truncated.total_bytes,
                omitted_bytes: truncated.omitted_bytes,
                artifact: truncated.artifact.as_str(),
            }),
        }
    }
}

/// What a model was spared, and where it is.
#[derive(Debug, Serialize, JsonSchema)]
struct Truncated<'a> {
    /// The size of the whole text in bytes.
    total_bytes: u64,
    /// How many of them the model does not see.
    omitted_bytes: u64,
    /// The artifact that has all of it.
    artifact: &'a str,
}

/// An error as models and clients read it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorInfo<'a> {
    /// The word of the closed table.
    code: Code,
    /// One lowercase fragment.
    message: &'a str,
    /// Whether the same call may succeed later without being changed.
    retryable: bool,
    /// Where in the arguments, as a JSON Pointer (RFC 6901); empty for the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    /// What was expected there: JSON of any type.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a Value>,
    /// What was found there: JSON of any type. Left out when it is not known or sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<&'a Value>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> From<&'a core::ErrorInfo> for ErrorInfo<'a> {
    fn from(error: &'a core::ErrorInfo) -> Self {
        Self {
            code: Code(error.code),
            message: &error.message,
            retryable: error.retryable,
            path: error.path.as_deref(),
            expected: error.expected.as_ref(),
            got: error.got.as_ref(),
            hint: error.hint.as_deref(),
        }
    }
}

/// An error that ends a command under `--json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorDocument<'a> {
    /// The error.
    pub(crate) error: ErrorInfo<'a>,
}
