//! The forms on the wire. Each borrows from a core type, is written by serde, and gives its JSON
//! Schema; the comments here are the descriptions in the published schemas.
//!
//! Core types are stored and may change with the store; these change only with the protocol.

mod approvals;
mod event;
mod form;
mod line;
mod listing;
mod message;
mod output;
mod session;
mod words;

pub use approvals::ApprovalList;
pub(crate) use event::{
    Answered, Approval, Audience, Delta, Question, RunFinished, RunOutput, RunStarted,
    ToolCallLine, ToolProgress, Usage, WaitReason, Waiting, Warning,
};
pub(crate) use form::Form;
pub use line::VERSION;
pub(crate) use line::{Body, Line, Seconds, Tag, Versioned};
pub(crate) use listing::Listing;
pub(crate) use message::{Message, MessageLine};
pub(crate) use output::{ErrorDocument, ErrorInfo, ToolOutput};
pub use session::{AuditStatus, JobLine};
pub(crate) use session::{Awaited, Session, SessionList, SessionMessages};
pub(crate) use words::{Status, WarningCode};
