//! The `tools` crate.
