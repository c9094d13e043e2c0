//! A caller's own tools, served to MCP clients over streamable HTTP.
//!
//! - [`service`]: what the HTTP layer mounts; who calls, and whose session it is
//! - [`handler`]: listing and calling, as the library asks for them
//! - [`plain`]: calls that want nothing but their answer, read here; [`late`]: their answers;
//!   [`sessions`]: whose session is whose, and which calls are under way
//! - [`queues`]: one call of a session after the other; [`guard`]: an answer also after a panic
//! - [`progress`], [`results`]: what happens meanwhile, and what came of it
//! - [`problem`]: how a request is refused; [`answering`]: what is answered before the end;
//!   [`priming`]: events that older clients cannot read
//!
//! The gateway decides nothing: every listing and every call goes to the
//! [`CallHost`](outfitter_core::CallHost), which takes the principal from the transport and sends
//! the call down the one pipeline.

mod answering;
mod guard;
mod handler;
mod late;
mod notices;
mod plain;
mod priming;
mod problem;
mod progress;
mod queues;
mod results;
mod service;
mod sessions;
mod shape;

pub use service::{GatewayOptions, McpService};
