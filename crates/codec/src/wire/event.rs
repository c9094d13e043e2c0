//! The bodies of the lines, but for messages.

use outfitter_core as core;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::form::Form;
use super::line::{Body, Seconds, Version};
use super::output::ErrorInfo;
use super::words::{DeltaKind, Role, RunOutcome, Stream, UsageSource, WarningCode};

macro_rules! bodies {
    ($($name:ident = $type:literal),+ $(,)?) => {
        $(impl Body for $name<'_> { const TYPE: &'static str = $type; })+
    };
}

bodies! {
    RunStarted = "run_started",
    Delta = "delta",
    ToolCallLine = "tool_call",
    ToolProgress = "tool_progress",
    Question = "question",
    Approval = "approval",
    Waiting = "waiting",
    Answered = "answered",
    Warning = "warning",
    RunFinished = "run_finished",
}

impl Body for Usage {
    const TYPE: &'static str = "usage";
}

/// A run begins. The first line of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunStarted<'a> {
    /// The version of the protocol, for all lines of the run.
    v: Version,
    /// The run whose turn this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes: Option<&'a str>,
    /// `provider/name` of the model; left out for a direct call, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    /// The mode of the agent.
    mode: &'a str,
    /// The names shown to the model.
    tools: &'a [String],
    /// The skills in use.
    skills: &'a [String],
    /// Where commands run.
    sandbox: Sandbox<'a>,
    /// The workflow in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<&'a str>,
}

impl<'a> From<&'a core::RunStarted> for RunStarted<'a> {
    fn from(started: &'a core::RunStarted) -> Self {
        Self {
            v: Version,
            resumes: started.resumes.as_ref().map(core::RunId::as_str),
            model: started.model.as_deref(),
            mode: started.mode.as_str(),
            tools: &started.tools,
            skills: &started.skills,
            sandbox: Sandbox {
                backend: &started.sandbox.backend,
                level: &started.sandbox.level,
            },
            workflow: started.workflow.as_deref(),
        }
    }
}

/// Where commands run.
#[derive(Debug, Serialize, JsonSchema)]
struct Sandbox<'a> {
    /// Which backend.
    backend: &'a str,
    /// The level it reached: `full`, `partial` or `none`.
    level: &'a str,
}

/// A piece of a message being written. Ephemeral: a replay does not have it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Delta<'a> {
    /// Which message.
    pub(crate) message_id: &'a str,
    /// What it adds to.
    pub(crate) kind: DeltaKind,
    /// The piece: whole characters, never empty.
    #[schemars(length(min = 1))]
    pub(crate) text: &'a str,
    /// The call whose arguments it adds to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<&'a str>,
}

/// A call begins.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ToolCall")]
pub(crate) struct ToolCallLine<'a> {
    /// The call.
    pub(crate) tool_call_id: &'a str,
    /// The name as the model wrote it, which may be no tool's.
    pub(crate) tool_name: &'a str,
    /// The arguments, or their text where it is malformed; what is sensitive is taken out.
    pub(crate) arguments: &'a Value,
}

/// A piece of what a running tool prints. Ephemeral: a replay does not have it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolProgress<'a> {
    /// The call.
    pub(crate) tool_call_id: &'a str,
    /// The piece: whole characters; empty on the closing one.
    pub(crate) text: &'a str,
    /// Where it was printed.
    pub(crate) stream: Stream,
    /// Whether the call prints nothing more.
    pub(crate) closed: bool,
    /// Bytes lost since the previous event of this call and stream; left out when none were.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 1))]
    pub(crate) dropped_bytes: u64,
}

/// A call waits for an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Question<'a> {
    /// Which question; an answer names it.
    pub(crate) question_id: &'a str,
    /// The call that waits.
    pub(crate) tool_call_id: &'a str,
    /// The question as a person reads it.
    pub(crate) question: &'a str,
    /// What an answer must look like, as a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<&'a Value>,
    /// The answers to choose from; left out for free text.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) choices: &'a [String],
    /// The questions, where there are several that are answered together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) questionnaire: Option<Form<'a>>,
    /// Who may answer.
    pub(crate) audience: Audience<'a>,
    /// Until when, in Unix seconds.
    pub(crate) expires_at: Seconds,
}

/// Who may answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Audience<'a> {
    /// Of this tenant only.
    tenant: &'a str,
    /// This subject only.
    subject: &'a str,
    /// With this role at least.
    min_role: Role,
}

impl<'a> From<&'a core::Audience> for Audience<'a> {
    fn from(audience: &'a core::Audience) -> Self {
        Self {
            tenant: audience.tenant.as_str(),
            subject: audience.subject.as_str(),
            min_role: audience.min_role.into(),
        }
    }
}

/// A call waits for a yes or no to the call itself.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Approval<'a> {
    /// Which approval; an answer names it.
    pub(crate) approval_id: &'a str,
    /// The call that waits.
    pub(crate) tool_call_id: &'a str,
    /// Why it is asked.
    pub(crate) reason: &'a str,
    /// For how long a yes can hold: `once`, `session`, `always`.
    pub(crate) scopes: &'a [&'a str],
    /// Until when, in Unix seconds.
    pub(crate) expires_at: Seconds,
}

/// What a call waits for that nobody here answers: time to pass, or something elsewhere to end.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WaitReason {
    Delay,
    Remote,
}

/// A call waits for something that nobody here answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Waiting<'a> {
    /// Which wait.
    pub(crate) interrupt_id: &'a str,
    /// The call that waits.
    pub(crate) tool_call_id: &'a str,
    /// What it waits for.
    pub(crate) reason: WaitReason,
    /// What ends elsewhere, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) what: Option<&'a str>,
    /// Until when, in Unix seconds.
    pub(crate) expires_at: Seconds,
}

/// A question, an approval or a wait is over: it was answered, it expired, or it was called off.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answered<'a> {
    /// Its id: the `question_id`, `approval_id` or `interrupt_id` of before.
    pub(crate) interrupt_id: &'a str,
}

/// Something a person should know.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Warning<'a> {
    /// What it is about.
    pub(crate) code: WarningCode,
    /// One sentence.
    pub(crate) message: &'a str,
}

/// The tokens of one model call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// Tokens of the request, cached ones included.
    input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    output_tokens: u64,
    /// Tokens of the request that came from the provider's cache; left out when none did.
    #[serde(skip_serializing_if = "is_zero")]
    cache_read_tokens: u64,
    /// Tokens of the request that went into the provider's cache; left out when none did.
    #[serde(skip_serializing_if = "is_zero")]
    cache_write_tokens: u64,
    /// Tokens of the reply that the model only thought; left out when there are none.
    #[serde(skip_serializing_if = "is_zero")]
    reasoning_tokens: u64,
    /// Where the counts come from.
    source: UsageSource,
}

impl From<core::TokenUsage> for Usage {
    fn from(usage: core::TokenUsage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            source: usage.source.into(),
        }
    }
}

/// The run is over. The last line of a run; there is exactly one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunFinished<'a> {
    /// How it ended.
    pub(crate) outcome: RunOutcome,
    /// What it gives.
    pub(crate) output: RunOutput<'a>,
}

/// What a run gives: these four fields and no others.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(crate) struct RunOutput<'a> {
    /// The word of the outcome.
    status: RunOutcome,
    /// The model's last words; empty when there are none.
    answer: &'a str,
    /// What might be done next; empty unless it was asked for.
    #[schemars(length(max = 5))]
    suggested_actions: Vec<SuggestedAction<'a>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorInfo<'a>>,
}

impl<'a> From<&'a core::RunOutput> for RunOutput<'a> {
    fn from(output: &'a core::RunOutput) -> Self {
        Self {
            status: output.status.into(),
            answer: &output.answer,
            suggested_actions: output
                .suggested_actions
                .iter()
                .map(|action| SuggestedAction {
                    label: &action.label,
                    prompt: action.prompt.as_deref(),
                    command: action.command.as_deref(),
                })
                .collect(),
            error: output.error.as_ref().map(ErrorInfo::from),
        }
    }
}

/// What might be done next: a prompt to send or a command to run.
#[derive(Debug, Serialize, JsonSchema)]
struct SuggestedAction<'a> {
    /// What a button says.
    label: &'a str,
    /// What it sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// What it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
