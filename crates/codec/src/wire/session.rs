//! Sessions in a list, and the messages of one.

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
}

impl<'a> From<&'a core::SessionSummary> for Session<'a> {
    fn from(session: &'a core::SessionSummary) -> Self {
        Self {
            id: session.id.as_str(),
            created: session.created.0,
            updated: session.updated.0,
            entries: session.entries,
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
