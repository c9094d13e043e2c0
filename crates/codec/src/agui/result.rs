//! What clients are told beside what AG-UI has room for: `metadata.outfitter`.

use outfitter_core::{ArtifactId, ErrorInfo, RunStarted, ToolOutput, canonical};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ui::{self, UiSchema};
use crate::wire;

/// Bytes of arguments, and of an error, that are told once more with the result.
const SIDE_BYTES: usize = 64 * 1024;

/// Bytes of the text of one result; clients refuse an event above 10 MiB.
const CONTENT_BYTES: usize = 4 * 1024 * 1024;

/// Our place in AG-UI's open metadata.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}InMetadata")]
pub struct Outfitter<T> {
    /// What we tell.
    pub outfitter: T,
}

/// Of the result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallMetadata {
    /// The tool, as it was called.
    pub tool_name: String,
    /// Its arguments, with what is sensitive taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_args: Option<Value>,
    /// How the call ended.
    #[schemars(with = "wire::Status")]
    pub status: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "wire::ErrorInfo<'static>")]
    pub error: Option<Value>,
    /// What a renderer draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui_schema: Option<UiSchema>,
    /// The artifact that has the whole result, where `content` is only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_ref: Option<String>,
    /// More artifacts of the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub artifacts: Vec<String>,
    /// What is too large to be told here: `tool_call_args`, `error.got`, `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub omitted: Vec<&'static str>,
}

/// Of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunMetadata {
    /// Our own id of the run, which the other routes know it by.
    pub run_id: String,
    /// The run whose turn this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// `provider/name` of the model; left out for a direct call, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode of the agent.
    pub mode: String,
    /// The names shown to the model.
    pub tools: Vec<String>,
    /// The skills in use.
    pub skills: Vec<String>,
    /// The backend of the sandbox, and the level it reached.
    pub sandbox: SandboxMetadata,
    /// The workflow in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
}

/// Where commands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxMetadata {
    /// Which backend.
    pub backend: String,
    /// The level it reached: `full`, `partial` or `none`.
    pub level: String,
}

/// Of an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AskMetadata {
    /// The answer should not be shown while it is typed.
    pub sensitive: bool,
}

/// Of a run's error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorMetadata {
    /// Whether the same may succeed later.
    pub retryable: bool,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<&ErrorInfo> for Outfitter<ErrorMetadata> {
    fn from(error: &ErrorInfo) -> Self {
        Self {
            outfitter: ErrorMetadata {
                retryable: error.retryable,
                hint: error.hint.clone(),
            },
        }
    }
}

impl RunMetadata {
    pub(super) fn new(run: &str, started: &RunStarted) -> Self {
        Self {
            run_id: run.to_owned(),
            resumes: started.resumes.as_ref().map(ToString::to_string),
            model: started.model.clone(),
            mode: started.mode.to_string(),
            tools: started.tools.to_vec(),
            skills: started.skills.clone(),
            sandbox: SandboxMetadata {
                backend: started.sandbox.backend.clone(),
                level: started.sandbox.level.clone(),
            },
            workflow: started.workflow.clone(),
        }
    }
}

/// The text of a result and what is told beside it.
pub(super) fn told(output: &ToolOutput, content: String) -> (String, Box<Outfitter<CallMetadata>>) {
    let mut omitted = Vec::new();
    let args = fits(&output.tool_call_args).then(|| output.tool_call_args.clone());
    if args.is_none() {
        omitted.push("tool_call_args");
    }
    let error = output.error.as_ref().map(|error| {
        let told = serde_json::to_value(wire::ErrorInfo::from(error)).unwrap_or(Value::Null);
        if fits(&told) {
            return told;
        }
        omitted.push("error.got");
        let less = ErrorInfo {
            got: None,
            expected: None,
            ..error.clone()
        };
        serde_json::to_value(wire::ErrorInfo::from(&less)).unwrap_or(Value::Null)
    });
    let whole = output
        .truncated
        .as_ref()
        .map(|truncated| &truncated.artifact);
    let content = if content.len() > CONTENT_BYTES {
        omitted.push("content");
        format!(
            "[the result has {} bytes, which is too much for one event]",
            content.len()
        )
    } else {
        content
    };
    let metadata = CallMetadata {
        tool_name: output.tool_name.clone(),
        tool_call_args: args,
        status: output.status.as_str(),
        error,
        ui_schema: ui::compile(output),
        result_ref: whole.map(ToString::to_string),
        artifacts: others(&output.artifacts, whole),
        omitted,
    };
    let metadata = Outfitter {
        outfitter: metadata,
    };
    (content, Box::new(metadata))
}

fn fits(value: &Value) -> bool {
    canonical(value).len() <= SIDE_BYTES
}

fn others(all: &[ArtifactId], whole: Option<&ArtifactId>) -> Vec<String> {
    all.iter()
        .filter(|artifact| Some(*artifact) != whole)
        .map(ToString::to_string)
        .collect()
}
