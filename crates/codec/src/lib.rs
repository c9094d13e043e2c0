//! What programs read of Outfitter: NDJSON event lines, result documents, and the JSON Schemas of
//! both. Pure: values in, bytes out.
//!
//! `docs/protocols/events.md` and `docs/protocols/tool-output.md` are the protocols; the code here
//! follows them, and tests hold the two together.

mod document;
mod error;
mod json;
mod ndjson;
mod order;
mod schema;
mod wire;

pub use document::{encode_error, encode_listing, encode_tool_output};
pub use error::EncodeError;
pub use ndjson::encode_event;
pub use order::{EventOrder, OrderFault, OrderFaultKind, Watched, check_lines};
pub use schema::{SchemaFile, schema_files};
pub use wire::VERSION;
