//! The mcp crate from outside: real processes behind real pipes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests may fail the test, and a test that cannot run says why"
)]

mod calls;
mod floods;
mod gateway;
mod gateway_changes;
mod gateway_client;
mod gateway_gone;
mod gateway_older;
mod hosted;
mod http;
mod lazy;
mod lists;
mod lives;
mod peers;
mod pipeline;
mod refusals;
mod secrets;
mod support;
