//! Documents: what a command prints, or an endpoint answers, beside event lines. One line each.

use std::sync::Arc;

use outfitter_core::{
    ErrorInfo, Interrupt, Listing, Message, SessionId, SessionSummary, ToolOutput,
};

use crate::EncodeError;
use crate::json::append_line;
use crate::wire::{self, AuditStatus, JobLine};

/// Appends the document of one call's result: `tools call --json`.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_tool_output(output: &ToolOutput, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let document = wire::Versioned::of(wire::ToolOutput::from(output));
    append_line("a tool's output", &document, out)
}

/// Appends the document of a list of tools: `tools list --json`.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_listing(tools: &[Listing], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let document: Vec<_> = tools
        .iter()
        .map(|tool| wire::Versioned::of(wire::Listing::from(tool)))
        .collect();
    append_line("a list of tools", &document, out)
}

/// Appends the document of a list of sessions: `sessions list --json`.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_sessions(
    sessions: &[(SessionSummary, Vec<Arc<Interrupt>>)],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let sessions = sessions.iter();
    let sessions = sessions.map(|(session, waiting)| wire::Session::of(session, waiting));
    let sessions = sessions.collect();
    let document = wire::Versioned::of(wire::SessionList { sessions });
    append_line("a list of sessions", &document, out)
}

/// Appends the document of a session's messages: `sessions show --json`.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_messages(
    session: &SessionId,
    messages: &[Arc<Message>],
    audit_status: AuditStatus<'_>,
    waiting: &[Arc<Interrupt>],
    jobs: &[JobLine],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let document = wire::Versioned::of(wire::SessionMessages {
        session_id: session.as_str(),
        messages: messages.iter().map(|message| (&**message).into()).collect(),
        audit_status,
        waiting: waiting
            .iter()
            .map(|asked| wire::Awaited::of(asked))
            .collect(),
        jobs,
    });
    append_line("the messages of a session", &document, out)
}

/// Appends the document of an error that ends a command under `--json`.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode_error(error: &ErrorInfo, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let error = wire::ErrorInfo::from(error);
    let document = wire::Versioned::of(wire::ErrorDocument { error });
    append_line("an error", &document, out)
}
