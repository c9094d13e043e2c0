//! The events that we send, of the 31 that AG-UI 1.0 knows. Optional fields are left out, never
//! null: clients refuse a run for one null.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::message::AguiMessage;
use super::result::{AskMetadata, CallMetadata, ErrorMetadata, Outfitter, RunMetadata};
use crate::wire;

/// The version of AG-UI that is spoken.
pub const AGUI_VERSION: &str = "1.0";

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AguiEvent {
    /// What happened.
    #[serde(flatten)]
    pub body: AguiBody,
    /// When, in Unix milliseconds: an integer.
    pub timestamp: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum AguiBody {
    /// A run begins.
    RunStarted {
        /// The session.
        thread_id: String,
        /// The run, by the client's own id.
        run_id: String,
        /// `1.0`; left out for clients of before.
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol_version: Option<&'static str>,
        /// The run that the client named as its parent.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
        /// What else is known of the run.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Outfitter<RunMetadata>>,
    },
    /// A run ended as it should.
    RunFinished {
        /// The session.
        thread_id: String,
        /// The run, by the client's own id.
        run_id: String,
        /// What it gives: `status`, `answer`, `suggested_actions`.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        /// How it ended.
        outcome: AguiOutcome,
        /// The tokens of the whole run.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<AguiUsage>,
    },
    /// A run ended otherwise.
    RunError {
        /// One lowercase fragment, fit for the client.
        message: String,
        /// The word of the closed table.
        code: String,
        /// The tokens of the whole run.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<AguiUsage>,
        /// What to do about it.
        metadata: Outfitter<ErrorMetadata>,
    },
    /// A message begins.
    TextMessageStart {
        /// The message.
        message_id: String,
        /// Always `assistant`.
        role: &'static str,
    },
    /// A message goes on.
    TextMessageContent {
        /// The message.
        message_id: String,
        /// The piece; never empty.
        delta: String,
    },
    /// A message is whole.
    TextMessageEnd {
        /// The message.
        message_id: String,
    },
    /// A stretch of thought begins.
    ReasoningStart {
        /// The stretch.
        message_id: String,
    },
    /// The thought begins.
    ReasoningMessageStart {
        /// The stretch.
        message_id: String,
        /// Always `reasoning`.
        role: &'static str,
    },
    /// The thought goes on.
    ReasoningMessageContent {
        /// The stretch.
        message_id: String,
        /// The piece; never empty.
        delta: String,
    },
    /// The thought ends.
    ReasoningMessageEnd {
        /// The stretch.
        message_id: String,
    },
    /// A stretch of thought ends.
    ReasoningEnd {
        /// The stretch.
        message_id: String,
    },
    /// A call begins.
    ToolCallStart {
        /// The call.
        tool_call_id: String,
        /// The tool, as it was called.
        tool_call_name: String,
        /// The message that asks for it; left out for a direct call.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
    },
    /// A piece of its arguments. All pieces together are JSON.
    ToolCallArgs {
        /// The call.
        tool_call_id: String,
        /// The piece.
        delta: String,
    },
    /// The arguments are whole; the call is being made.
    ToolCallEnd {
        /// The call.
        tool_call_id: String,
    },
    /// A call has its result.
    ToolCallResult {
        /// The message of the result.
        message_id: String,
        /// The call.
        tool_call_id: String,
        /// All that a model reads of the result.
        content: String,
        /// Always `tool`.
        role: &'static str,
        /// What clients show and models do not read.
        metadata: Box<Outfitter<CallMetadata>>,
    },
    /// The state of the client, as it sent it.
    StateSnapshot {
        /// The state.
        snapshot: Value,
    },
    /// The conversation as it stands.
    MessagesSnapshot {
        /// The messages, in order.
        messages: Vec<AguiMessage>,
    },
    /// A call prints: the first of it.
    ActivitySnapshot {
        /// `progress:` and the id of the call.
        message_id: String,
        /// Always `outfitter.tool_progress`.
        activity_type: &'static str,
        /// What it has printed.
        content: ProgressContent,
    },
    /// A call prints: what came since.
    ActivityDelta {
        /// `progress:` and the id of the call.
        message_id: String,
        /// Always `outfitter.tool_progress`.
        activity_type: &'static str,
        /// The change, as RFC 6902 says it.
        patch: Vec<PatchOp>,
    },
    /// Something that AG-UI has no word for.
    Custom {
        /// `outfitter.warning`, `outfitter.usage`, `outfitter.answered` or
        /// `outfitter.snapshot_cut`.
        name: &'static str,
        /// What it says.
        value: CustomValue,
    },
}

impl From<CustomValue> for AguiBody {
    fn from(value: CustomValue) -> Self {
        let name = match value {
            CustomValue::Warning { .. } => "outfitter.warning",
            CustomValue::Usage(_) => "outfitter.usage",
            CustomValue::Answered { .. } => "outfitter.answered",
            CustomValue::SnapshotCut { .. } => "outfitter.snapshot_cut",
        };
        Self::Custom { name, value }
    }
}

/// What a custom event says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CustomValue {
    /// Something a person should know.
    Warning {
        /// What it is about.
        #[schemars(with = "wire::WarningCode")]
        code: Value,
        /// One sentence.
        message: String,
    },
    /// The tokens of one model call.
    Usage(AguiUsage),
    /// A question, an approval or a wait is over.
    Answered {
        /// Which.
        interrupt_id: String,
    },
    /// The snapshot that follows begins late: it would be too large.
    SnapshotCut {
        /// How many messages it does not have.
        omitted_messages: u64,
    },
}

/// How a run ended that has no error.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum AguiOutcome {
    /// With an answer.
    Success,
    /// It waits. A run with `resume` for each interrupt goes on.
    Interrupt {
        /// What it waits for.
        #[schemars(length(min = 1))]
        interrupts: Vec<AguiInterrupt>,
    },
    /// Stopped by a person. Clients of before get a `RUN_ERROR` instead.
    Cancelled,
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AguiInterrupt {
    /// Its id; `resume` names it.
    pub id: String,
    /// `input_required`, `tool_call` (an approval), `outfitter:delay` or `outfitter:remote`.
    pub reason: &'static str,
    /// What a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The call that waits.
    pub tool_call_id: String,
    /// What the payload of an answer must look like, as a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub response_schema: Option<Value>,
    /// Until when, as RFC 3339 says it, in UTC.
    pub expires_at: String,
    /// How it is asked; left out where there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Outfitter<AskMetadata>>,
}

/// Tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AguiUsage {
    /// Who serves the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the requests, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the replies, reasoning included.
    pub output_tokens: u64,
    /// Both together.
    pub total_tokens: u64,
    /// Tokens that the model only thought; left out when there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Tokens that came from the provider's cache; left out when none did.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// Tokens that went into the provider's cache; left out when none did.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_input_tokens: u64,
}

/// What a running call has printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProgressContent {
    /// The call.
    pub tool_call_id: String,
    /// The tool, as it was called.
    pub tool_name: String,
    /// The last of what it printed, in order.
    pub pieces: Vec<ProgressPiece>,
    /// How many bytes came before the pieces or between them.
    pub omitted_bytes: u64,
    /// Whether it prints nothing more.
    pub closed: bool,
}

/// A piece of what a call prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProgressPiece {
    /// `stdout`, `stderr` or `info`.
    pub stream: &'static str,
    /// The piece: whole characters.
    pub text: String,
}

/// One step of a JSON Patch (RFC 6902).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum PatchOp {
    /// Puts a value in.
    Add {
        /// Where, as a JSON Pointer.
        path: String,
        /// What.
        value: ProgressPiece,
    },
    /// Takes a value out.
    Remove {
        /// Where, as a JSON Pointer.
        path: String,
    },
    /// Puts a value in the place of another.
    Replace {
        /// Where, as a JSON Pointer.
        path: String,
        /// What.
        value: Value,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
