//! What the crate shows to the outside, as a visible diff.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]

mod public_api;
mod render;
