//! What the sandbox crate promises, from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod browser;
mod commands;
mod files;
mod ssh;
