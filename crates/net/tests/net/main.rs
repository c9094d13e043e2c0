//! What the one HTTP client promises, on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod address;
mod client;
mod follow;
mod guard;
mod redaction;
mod server;
mod spellings;
mod tls;
