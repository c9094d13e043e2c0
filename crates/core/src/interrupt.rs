//! A call that waits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, Hash, InterruptId, Questionnaire, Role, Subject, Tenant, UnixMs};

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InterruptKind {
    /// An answer to a question.
    Question {
        /// The question as a person reads it.
        question: String,
        /// The answers to choose from; empty for free text.
        choices: Vec<String>,
        /// Whether the answer should not be shown while it is typed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sensitive: bool,
        /// The questions, where there are several; the answer is then an object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        questionnaire: Option<Box<Questionnaire>>,
    },
    /// A yes or no to the call itself.
    Approval {
        /// Why it is asked.
        reason: String,
    },
    /// Time to pass.
    Delay,
    /// Something elsewhere to end.
    Remote {
        /// What it is, for people.
        what: String,
    },
}

/// Who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    /// Of this tenant only.
    pub tenant: Tenant,
    /// This subject only.
    pub subject: Subject,
    /// With this role at least.
    pub min_role: Role,
}

/// What happens when nobody answers in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "then", rename_all = "snake_case")]
pub enum OnExpiry {
    /// The call ends as cancelled.
    Cancel,
    /// The call goes on without an answer.
    Continue,
    /// The call goes on with this answer.
    Default {
        /// The answer.
        #[serde(deserialize_with = "crate::any_value::value")]
        answer: Value,
    },
    /// The call ends as denied.
    Deny,
}

/// A call that waits: written to the log, then the run ends and holds nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// Its id; an answer names it.
    pub id: InterruptId,
    /// The call that waits.
    pub call: CallId,
    /// What it waits for.
    pub kind: InterruptKind,
    /// What an answer must look like, as a JSON Schema.
    #[serde(
        default,
        deserialize_with = "crate::any_value::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub schema: Option<Value>,
    /// Who may answer.
    pub audience: Audience,
    /// Until when.
    pub expires: UnixMs,
    /// What happens then.
    pub on_expiry: OnExpiry,
    /// The hash of the arguments, so that an answer cannot land on another call.
    pub args_hash: Hash,
    /// What the tool wants to see again.
    #[serde(deserialize_with = "crate::any_value::value")]
    pub state: Value,
}

/// An answer that was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Which question.
    pub interrupt: InterruptId,
    /// How it came.
    pub by: AnswerKind,
    /// The answer; `null` where there is none.
    #[serde(deserialize_with = "crate::any_value::value")]
    pub value: Value,
    /// When.
    pub at: UnixMs,
}

/// How an answer came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AnswerKind {
    /// A person or program of the audience gave it.
    Subject {
        /// Who.
        subject: Subject,
    },
    /// Nobody answered in time.
    Expired,
    /// The wait was called off.
    Cancelled,
}
