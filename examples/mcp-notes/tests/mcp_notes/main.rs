//! The server as its clients meet it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod source;
mod wire;
