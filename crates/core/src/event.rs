//! What happens, as it is told to clients: ordered and numbered in a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CallId, ErrorInfo, EventSeq, Interrupt, InterruptId, Message, MessageId, Mode, RunId,
    SessionId, Stream, UnixMs,
};

/// The parent of a sub-agent's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentRef {
    /// Which agent.
    pub agent: String,
    /// The run that delegated.
    pub parent_run: RunId,
    /// The call that delegated.
    pub parent_call: CallId,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Rises by one in a run, without gaps while it is live.
    pub seq: EventSeq,
    /// When.
    pub at: UnixMs,
    /// In which session.
    pub session: SessionId,
    /// In which run.
    pub run: RunId,
    /// On whose behalf, where a sub-agent does it.
    pub via: Option<SubagentRef>,
    /// What.
    pub body: EventBody,
}

/// Whether an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Shown to who is there, never stored, never fed to a model; may be merged or dropped.
    Ephemeral,
    /// Stored before it is shown; never dropped.
    Durable,
}

/// What a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    /// The text of the message.
    Text,
    /// What the model thinks.
    Reasoning,
    /// The arguments of a call.
    ToolArguments,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// With an answer.
    Success,
    /// With an error.
    Failed,
    /// Stopped by a person.
    Cancelled,
    /// Calls wait; an answer starts a run that continues.
    Waiting,
    /// Turns, tokens or cost used up.
    Limit,
}

impl RunOutcome {
    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Waiting => "waiting",
            Self::Limit => "limit",
        }
    }
}

/// The sandbox of a run, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSummary {
    /// Which backend.
    pub backend: String,
    /// The level it reached: `full`, `partial` or `none`.
    pub level: String,
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run whose turn this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<RunId>,
    /// `provider/name` of the model; left out for a direct call, which has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode of the run: how much of what is granted it may use.
    pub mode: Mode,
    /// The names shown to the model. Every run of a session has them, so they are shared.
    pub tools: Arc<[String]>,
    /// The skills in use.
    pub skills: Vec<String>,
    /// Where commands run.
    pub sandbox: SandboxSummary,
    /// The workflow in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The id that a client gave the run, so that a request which is sent once more is known, also
    /// by a server that began since. It is for the log; what is told of the run leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_run: Option<String>,
}

/// What might be done next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedAction {
    /// What a button says.
    pub label: String,
    /// What it sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutput {
    /// The word of the outcome.
    pub status: RunOutcome,
    /// The model's last words; empty when there are none.
    pub answer: String,
    /// At most five.
    pub suggested_actions: Vec<SuggestedAction>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}

/// Where a count of tokens comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider said so.
    #[default]
    Reported,
    /// We counted.
    Estimated,
}

/// The tokens of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the request that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Tokens of the request that went into the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Tokens of the reply that the model only thought.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Where the counts come from.
    pub source: UsageSource,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a warning is about. Closed, so that programs can tell warnings apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// A name in a request that is no tool of this session, which was dropped; or one in the
    /// configuration that means nothing.
    UnknownName,
    /// The provider sent two calls with one id, or one without; it was given ours.
    RepairedCallId,
    /// The reply stopped early: a length limit or a broken stream.
    Truncated,
    /// A request was tried again before anything of the reply was shown.
    Retried,
    /// A continued turn does not see what it saw before; says what changed.
    ViewChanged,
    /// A crash left this behind; says what was done about it.
    Recovered,
    /// The sandbox has less than its full level; says what is missing.
    SandboxLevel,
    /// The provider refused to answer.
    Refused,
    /// The model was asked to choose something for us and did not; says what was taken instead.
    Fallback,
    /// A yes for longer than the session could not be kept; it holds for its call alone.
    NotKept,
    /// Something that is configured has not answered yet; its tools join once it does.
    NotReady,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A run began. The first event of a run.
    RunStarted(RunStarted),
    /// A piece of a message being written.
    Delta {
        /// Which message.
        message_id: MessageId,
        /// What it adds to.
        kind: DeltaKind,
        /// The piece: whole UTF-8, never empty.
        text: String,
        /// The call whose arguments it adds to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<CallId>,
    },
    /// A message is whole.
    Message(Arc<Message>),
    /// A call begins.
    ToolCall {
        /// The call.
        tool_call_id: CallId,
        /// The name as the model wrote it.
        tool_name: String,
        /// The arguments, or their text when they are malformed; redacted.
        #[serde(deserialize_with = "crate::any_value::value")]
        arguments: Value,
    },
    /// A piece of what a running tool prints.
    ToolProgress {
        /// The call.
        tool_call_id: CallId,
        /// The piece: whole UTF-8; empty on the closing one.
        text: String,
        /// Where it was printed.
        stream: Stream,
        /// Whether the call prints nothing more.
        closed: bool,
        /// Bytes lost since the previous event of this call and stream.
        #[serde(default, skip_serializing_if = "is_zero")]
        dropped_bytes: u64,
    },
    /// A call waits: for an answer, an approval, time, or something elsewhere.
    Interrupt(Box<Interrupt>),
    /// A call does not wait any more.
    Answered {
        /// Which interrupt.
        interrupt: InterruptId,
    },
    /// Something a person should know.
    Warning {
        /// What it is about.
        code: WarningCode,
        /// One sentence.
        message: String,
    },
    /// The tokens of one model call.
    Usage(TokenUsage),
    /// The run is over. The last event of a run; there is exactly one.
    RunFinished {
        /// How.
        outcome: RunOutcome,
        /// What it gives.
        output: Arc<RunOutput>,
    },
}

impl EventBody {
    /// Whether the event is kept.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self {
            Self::Delta { .. } | Self::ToolProgress { .. } => Durability::Ephemeral,
            Self::RunStarted(_)
            | Self::Message(_)
            | Self::ToolCall { .. }
            | Self::Interrupt(_)
            | Self::Answered { .. }
            | Self::Warning { .. }
            | Self::Usage(_)
            | Self::RunFinished { .. } => Durability::Durable,
        }
    }
}
