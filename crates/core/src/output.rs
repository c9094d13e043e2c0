//! The one result of a call, and what a model reads of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ArtifactId, CallId, Code, ErrorInfo, ToolName, UiHints, canonical};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did its work.
    Success,
    /// It did some of it.
    Partial,
    /// It goes on.
    Running,
    /// It failed.
    Error,
    /// It was not allowed.
    Denied,
    /// A person stopped it.
    Cancelled,
    /// Its deadline passed.
    Timeout,
    /// It was found half done after a crash.
    Interrupted,
}

impl Status {
    /// The status of a call that ended with this code.
    #[must_use]
    pub fn of(code: Code) -> Self {
        match code {
            Code::NotPermitted | Code::NeedsApproval | Code::Denied => Self::Denied,
            Code::Timeout => Self::Timeout,
            Code::Cancelled => Self::Cancelled,
            Code::Interrupted => Self::Interrupted,
            Code::UnknownTool
            | Code::NotFound
            | Code::NotPresented
            | Code::InvalidArguments
            | Code::Usage
            | Code::Unauthenticated
            | Code::Conflict
            | Code::Busy
            | Code::RateLimited
            | Code::Unavailable
            | Code::TooLarge
            | Code::ProtocolError
            | Code::Failed
            | Code::Limit
            | Code::Internal => Self::Error,
        }
    }

    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Running => "running",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What the model was spared, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncated {
    /// The size of the whole projection in bytes.
    pub total_bytes: u64,
    /// How many of them the model does not see.
    pub omitted_bytes: u64,
    /// The artifact that has all of it.
    pub artifact: ArtifactId,
}

/// The one result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The tool, as it was called.
    pub tool_name: String,
    /// The tool's own name, where it was called by an alias of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ToolName>,
    /// The call.
    pub tool_call_id: CallId,
    /// Its arguments, with what is sensitive taken out.
    #[serde(deserialize_with = "crate::any_value::value")]
    pub tool_call_args: Value,
    /// How it ended.
    pub status: Status,
    /// The structured truth; left out when there is none.
    #[serde(
        default,
        deserialize_with = "crate::any_value::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// What the result means to a reader.
    #[serde(
        default,
        deserialize_with = "crate::any_value::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub ui_hints: Option<UiHints>,
    /// Where more of it is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactId>,
    /// Said when the model reads less than all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

/// The stable text of a result: all of it that a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection(pub String);

impl Projection {
    /// The text for a model: the result when there is no error, `{"error":…}` when there is no
    /// result, both when there are both. A result that is text stands for itself.
    #[must_use]
    pub fn of(result: Option<&Value>, error: Option<&ErrorInfo>) -> Self {
        let Some(error) = error else {
            return Self(match result {
                Some(Value::String(text)) => text.clone(),
                Some(value) => canonical(value),
                None => String::new(),
            });
        };
        let mut map = serde_json::Map::new();
        map.insert(
            "error".to_owned(),
            serde_json::to_value(error).unwrap_or(Value::Null),
        );
        if let Some(result) = result {
            map.insert("result".to_owned(), result.clone());
        }
        Self(canonical(&Value::Object(map)))
    }
}

impl ToolOutput {
    /// A call that failed without a result.
    #[must_use]
    pub fn failed(name: &str, call: CallId, args: Value, error: ErrorInfo) -> Self {
        Self {
            tool_name: name.to_owned(),
            resolved: None,
            tool_call_id: call,
            tool_call_args: args,
            status: Status::of(error.code),
            result: None,
            error: Some(error),
            ui_hints: None,
            artifacts: Vec::new(),
            truncated: None,
        }
    }

    /// The text a model reads of it, before any bound is put to it.
    #[must_use]
    pub fn projection(&self) -> Projection {
        Projection::of(self.result.as_ref(), self.error.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_reads_result_or_error_or_both() {
        let error = ErrorInfo::new(Code::Failed, "the disk is full");
        let result = json!({"b": 1, "a": 2});
        let texts = [
            Projection::of(Some(&result), None).0,
            Projection::of(Some(&json!("plain text")), None).0,
            Projection::of(None, Some(&error)).0,
            Projection::of(Some(&result), Some(&error)).0,
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
