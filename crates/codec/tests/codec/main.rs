//! The protocols, from outside the crate.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod agui;
mod docs;
mod documents;
mod lines;
mod order;
mod samples;
mod schemas;
mod ui;
