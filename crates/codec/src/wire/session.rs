//! Sessions in a list, and the messages of one.

use std::sync::Arc;

use outfitter_core as core;
use schemars::JsonSchema;
use serde::Serialize;

use super::Message;

/// The sessions of the caller, the last changed first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionList")]
pub(crate) struct SessionList<'a> {
    /// The sessions.
    pub(crate) sessions: Vec<Session<'a>>,
}

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Session<'a> {
    /// Its id.
    id: &'a str,
    /// When its first entry was written, in Unix milliseconds.
    created: u64,
    /// When its last entry was written, in Unix milliseconds.
    updated: u64,
    /// How many entries its log has.
    entries: u64,
    /// What it waits for; left out where it waits for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Awaited<'a>>,
}

impl<'a> Session<'a> {
    pub(crate) fn of(
        session: &'a core::SessionSummary,
        waiting: &'a [Arc<core::Interrupt>],
    ) -> Self {
        Self {
            id: session.id.as_str(),
            created: session.created.0,
            updated: session.updated.0,
            entries: session.entries,
            waiting: waiting.iter().map(|asked| Awaited::of(asked)).collect(),
        }
    }
}

/// What a session waits for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Awaited<'a> {
    /// The id that an answer names.
    id: &'a str,
    /// What is waited for: `question`, `approval`, `delay` or `remote`.
    kind: &'static str,
    /// The question, or why a call needs a yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Until when, in Unix milliseconds.
    expires: u64,
    /// The command that answers; left out where nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

impl<'a> Awaited<'a> {
    pub(crate) fn of(asked: &'a core::Interrupt) -> Self {
        let (kind, text) = match &asked.kind {
            core::InterruptKind::Question { question, .. } => ("question", Some(question.as_str())),
            core::InterruptKind::Approval { reason } => ("approval", Some(reason.as_str())),
            core::InterruptKind::Delay => ("delay", None),
            core::InterruptKind::Remote { what } => ("remote", Some(what.as_str())),
        };
        let value = crate::approval::answer_words(asked);
        Self {
            id: asked.id.as_str(),
            kind,
            text,
            expires: asked.expires.0,
            answer: value.map(|value| format!("outfitter sessions answer {} {value}", asked.id)),
        }
    }
}

/// The messages of a session, in order.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionMessages")]
pub(crate) struct SessionMessages<'a> {
    /// The session.
    pub(crate) session_id: &'a str,
    /// Its messages.
    pub(crate) messages: Vec<Message<'a>>,
    /// Which tools are before the model.
    pub(crate) audit_status: AuditStatus<'a>,
    /// What it waits for; left out where it waits for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting: Vec<Awaited<'a>>,
    /// Its commands, the last started first; left out where there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) jobs: &'a [JobLine],
}

/// A command of a session that was not ended with its call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JobLine {
    /// The id that await_shell and kill_shell take.
    pub task_id: String,
    /// The command, for people; of a long one the beginning.
    pub command: String,
    /// When it started, in Unix milliseconds.
    pub started: u64,
    /// How it stands: `running`, `ended`, or `lost` where it was ended with the program that ran it.
    pub status: &'static str,
    /// How it ended; left out where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// Which tools are before the model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AuditStatus<'a> {
    /// The names that the last request showed, those that were found to fit since, and those that
    /// were asked for, sorted.
    pub suggested_tools: Vec<&'a str>,
    /// Whether tools were asked for that are not shown by themselves.
    pub tools_expanded: bool,
}
