//! MCP, both ways.
//!
//! * [`McpSource`]: a server that runs as a child of ours, as a source of tools. Its process is
//!   started, watched, restarted and ended by `outfitter-process`; what it says is read leniently,
//!   so that one odd tool or one odd block costs that tool or that block and nothing else.
//! * [`McpService`]: the other direction. What a caller may use anyway, served to MCP clients over
//!   streamable HTTP, in the session-based and in the stateless era of the protocol.
//!
//! Protocol rules come from the specification's revisions 2024-11-05 to 2026-07-28. "Legacy" are
//! those with an `initialize` handshake (up to 2025-11-25), "modern" those without.

mod client;
mod gateway;

pub use client::{
    Enabled, Era, Host, InvalidServer, McpSource, ServerState, ServerStatus, Start, StdioServer,
    Transport,
};
pub use gateway::{GatewayOptions, McpService};
