//! The planner as people and agents use it: a real process each time.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation ends a test"
)]

mod by_hand;
mod contacts;
mod owners;
mod project_cli;
mod support;
