//! A caller's own tools, served to MCP clients over streamable HTTP.
//!
//! - [`service`]: what the HTTP layer mounts; who calls, and whose session it is
//! - [`handler`]: listing and calling, as the library asks for them
//! - [`queues`]: one call of a session after the other; [`guard`]: an answer also after a panic
//! - [`progress`], [`results`]: what happens meanwhile, and what came of it
//! - [`problem`]: how a request is refused
//!
//! The gateway decides nothing: every listing and every call goes to the
//! [`CallHost`](outfitter_core::CallHost), which takes the principal from the transport and sends
//! the call down the one pipeline.

mod guard;
mod handler;
mod problem;
mod progress;
mod queues;
mod results;
mod service;

pub use service::{GatewayOptions, McpService};
