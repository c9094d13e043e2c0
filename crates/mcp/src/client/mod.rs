//! Servers as sources of tools.
//!
//! - [`source`], [`shared`], [`alive`]: the source, what is known of its server, and its task;
//!   [`attempt`]: one life of a server's process
//! - [`handshake`], [`listing`]: what is said before a server is ready; [`cache`]: what was, kept for
//!   servers that are started at their first call
//! - [`connection`], [`hearing`], [`outbox`], [`lines`], [`wire`]: requests and replies over a child's
//!   pipes
//! - [`link`], [`tool`], [`content`], [`keep`]: one call, and what came of it
//! - [`server`], [`status`], [`stderr`]: what the operator says and reads
//!
//! The JSON-RPC layer is ours and not the library's: the library decodes into types, and a single
//! value that does not fit costs the whole list, the whole result or a call that never ends.

mod alive;
mod attempt;
mod cache;
mod connection;
mod content;
mod handshake;
mod hearing;
mod keep;
mod lines;
mod link;
mod listing;
mod outbox;
mod server;
mod shared;
mod source;
mod status;
mod stderr;
mod tool;
mod wire;

pub use handshake::Era;
pub use server::{Enabled, Host, InvalidServer, Start, StdioServer};
pub use source::McpSource;
pub use status::{ServerState, ServerStatus, Transport};
