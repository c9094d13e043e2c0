//! Programs as one tool, from the description to the one output of a call: through the registry and
//! the pipeline, with real processes.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation ends a test"
)]

mod answers;
mod arguments;
mod credentials;
mod describing;
mod descriptions;
mod lazy;
mod misbehaving;
mod support;
