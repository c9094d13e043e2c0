//! What a tool gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

use crate::{ArtifactId, Code, ErrorInfo, InterruptKind, OnExpiry, Part, ToolName};

/// What a result means to a reader: a template name and its data, compiled to a `ui_schema` before
/// a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UiHints(#[serde(deserialize_with = "crate::any_value::value")] pub Value);

/// How far the work of a call got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutcomeState {
    /// All of it.
    #[default]
    Complete,
    /// Some of it; the result says what is missing.
    Partial,
    /// It goes on; the result says how to ask for more.
    Running,
}

/// The end of a call that did not wait.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The structured truth.
    pub result: Value,
    /// The same as plain text, where it is text; the model then reads this instead of JSON.
    pub text: Option<String>,
    /// Pictures and other parts a model may be able to see.
    pub parts: Vec<Part>,
    /// What the result means to a reader.
    pub ui: Option<UiHints>,
    /// Why the work itself says no, beside what it still has to show.
    pub failed: Option<ErrorInfo>,
    /// Tools that are presented from now on.
    pub activate: Vec<ToolName>,
    /// How far the work got.
    pub state: OutcomeState,
    /// Where more of the result is kept.
    pub artifacts: Vec<ArtifactId>,
}

impl Outcome {
    /// A structured result.
    #[must_use]
    pub fn json(result: Value) -> Self {
        Self {
            result,
            ..Self::default()
        }
    }

    /// A result that is text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::json(Value::String(text.into()))
    }

    /// Adds why the work says no.
    #[must_use]
    pub fn failing(mut self, error: ErrorInfo) -> Self {
        self.failed = Some(error);
        self
    }

    /// What the tool has to show after its deadline passed or it was cancelled. Only a result that
    /// says so itself is kept then; any other late result is dropped.
    #[must_use]
    pub fn stopped(self, code: Code, message: impl Into<String>) -> Self {
        self.failing(ErrorInfo::new(code, message))
    }

    /// Says that the work goes on.
    #[must_use]
    pub fn running(mut self) -> Self {
        self.state = OutcomeState::Running;
        self
    }

    /// Says where more of the result is kept.
    #[must_use]
    pub fn with_artifact(mut self, artifact: ArtifactId) -> Self {
        self.artifacts.push(artifact);
        self
    }
}

/// A call that must wait, as the tool asks for it. The pipeline makes the interrupt of it: a tool
/// cannot forge its id, audience or hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What it waits for.
    pub kind: InterruptKind,
    /// What an answer must look like, as a JSON Schema.
    pub schema: Option<Value>,
    /// For how long.
    pub expires_in: Duration,
    /// What happens then.
    pub on_expiry: OnExpiry,
    /// What the tool wants to see again when it is resumed.
    pub state: Value,
}

/// What a call gives back.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The call is over.
    Done(Box<Outcome>),
    /// The call waits for an answer.
    Wait(Box<Ask>),
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}
