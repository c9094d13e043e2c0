//! The example from outside: its tools in a test's own context, and its program.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod program;
mod tools;
