//! The house stands as `ARCHITECTURE.md` says: floors, dependencies, sources and papers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod dependencies;
mod floors;
mod licence;
mod manifests;
mod papers;
mod sources;
mod words;
mod workspace;
