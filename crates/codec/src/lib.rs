//! What programs read of Outfitter: NDJSON event lines, AG-UI events, result documents, what a
//! renderer draws of a result, and the JSON Schemas of all. Pure: values in, bytes out.
//!
//! The pages of `docs/protocols/` are the protocols; the code here follows them, and tests hold the
//! two together.

pub mod agui;
mod approval;
mod document;
mod error;
mod json;
mod ndjson;
mod order;
mod schema;
pub mod ui;
mod wire;

pub use approval::answer_words;
pub use document::{
    encode_error, encode_listing, encode_messages, encode_sessions, encode_tool_output,
};
pub use error::EncodeError;
pub use ndjson::encode_event;
pub use order::{EventOrder, OrderFault, OrderFaultKind, Watched, check_lines};
pub use schema::{SchemaFile, document_schema, schema_files};
pub use wire::{ApprovalList, AuditStatus, JobLine, VERSION};
