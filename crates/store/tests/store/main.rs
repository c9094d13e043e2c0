//! What the stores hold, from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod any_entry;
mod approvals;
mod artifacts;
mod conformance;
mod opening;
mod processes;
mod rig;
mod roundtrip;
mod sqlite_file;
mod sqlite_writes;
